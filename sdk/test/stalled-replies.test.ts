import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TollgateClient } from '../src/browser.ts'
import { Tollgate, type TollgateOptions } from '../src/node.ts'
import { type ScriptedService, scriptedService } from './support/scripted-service.ts'

// What loses the abort of a request in Node 20 and 22 is a garbage collection between its headers and the end of its
// body: without one, these would pass with a plain `fetch` too.
setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')
let attempts = 0
let collected = () => {}
const collecting: typeof fetch = async (...request) => {
  attempts++
  const response = await fetch(...request)
  setTimeout(() => {
    collectGarbage()
    collected()
  }, 5)
  return response
}

let service: ScriptedService
let connections: Socket[]
beforeEach(async () => {
  attempts = 0
  collected = () => {}
  connections = []
  service = await scriptedService((response, { socket }) => {
    connections.push(socket)
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '1000' })
    response.write('{"data":{"users":[')
  })
})
afterEach(() => service.close())

const client = (options: TollgateOptions = {}) =>
  new Tollgate({ apiKey: 'k', baseUrl: service.url, retry: () => false, fetch: collecting, ...options })

const closed = (socket: Socket | undefined): Promise<unknown> | undefined =>
  socket?.destroyed ? undefined : socket && once(socket, 'close')

describe('a reply that stalls after its headers', () => {
  it('is a NetworkError once `timeout` has passed, and its connection is released', async () => {
    const { error } = await client({ timeout: 300 }).users()
    expect(error).toMatchObject({ name: 'NetworkError', code: 'TIMEOUT', mayHaveArrived: true })
    await closed(connections[0])
  })

  it('ends with the call’s own `timeout`', async () => {
    const { error } = await client({ timeout: 3_600_000 }).users({}, { timeout: 300 })
    expect(error).toMatchObject({ code: 'TIMEOUT' })
  })

  it('is aborted with the signal, and its connection is released', async () => {
    const controller = new AbortController()
    collected = () => controller.abort()
    const answer = client({ timeout: 3_600_000 }).users({}, { signal: controller.signal })
    expect((await answer).error).toMatchObject({ code: 'ABORTED' })
    await closed(connections[0])
  })

  it('is tried again like any other NetworkError', async () => {
    const { error } = await client({ timeout: 50, retry: undefined }).users()
    expect(error).toMatchObject({ code: 'TIMEOUT' })
    expect(attempts).toBe(3)
  })

  it('does not hold up a page either', async () => {
    const page = new TollgateClient({ baseUrl: service.url, token: 'a.b.c', timeout: 300, fetch: collecting })
    expect((await page.canUse('calls')).error).toMatchObject({ code: 'TIMEOUT' })
  })
})

describe('a `fetch` that ignores its signal', () => {
  it('does not delay a call, and a late reply is dropped', async () => {
    let cancelled = () => {}
    const letGo = new Promise<void>((resolve) => {
      cancelled = resolve
    })
    let reply: (response: Response) => void = () => {}
    const deaf = () =>
      new Promise<Response>((resolve) => {
        reply = resolve
      })
    const { error } = await client({ timeout: 20, fetch: deaf }).users()
    expect(error).toMatchObject({ code: 'TIMEOUT' })
    reply(new Response(new ReadableStream({ cancel: cancelled })))
    await letGo
  })
})
