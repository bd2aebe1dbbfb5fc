import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { buildSchema } from 'graphql'
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { graphqlHandler } from '../../src/http/graphql-handler.ts'
import { takePlainConnections } from '../../src/http/plain-connections.ts'
import { RequestsUnderWay } from '../../src/http/requests-under-way.ts'
import { Metrics } from '../../src/operations/upkeep/metrics.ts'
import { Outages } from '../../src/operations/upkeep/outages.ts'
import { listening, openSocket, post } from '../harness/raw.ts'

const monotonic = () => performance.now()
const log = pino({ level: 'silent' })

it.each([
  ['that is not valid', '{ nothing }'],
  ['that is valid', '{ hello }'],
])('a request %s is answered once, and not run, when its caller is recognised too late', async (_, query) => {
  let recognise = () => {}
  const recognised = new Promise<void>((resolve) => {
    recognise = resolve
  })
  let ran = false
  const endpoint = {
    schema: buildSchema('type Query { hello: String }'),
    limits: { cost: 1_000 },
    authenticate: () => recognised,
    context: () => {
      ran = true
      return {}
    },
  }
  const service = {
    log,
    metrics: new Metrics(),
    monotonic,
    outages: new Outages(log, monotonic),
    requestTimeoutMs: 50,
  }
  const handle = graphqlHandler('admin', endpoint, service, new RequestsUnderWay(monotonic))
  const server = createServer()
  takePlainConnections(server, {
    handlers: new Map([['/graphql', handle]]),
    closing: () => false,
    broke: (error) => expect.fail(String(error)),
    headers: '',
    clock: () => Date.now(),
  })
  const { port } = await listening(server)
  const socket = await openSocket(`http://127.0.0.1:${port}`)
  try {
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk.toString()
    })
    socket.write(post(JSON.stringify({ query })))
    await expect.poll(() => text).toContain('UNAVAILABLE')
    recognise()
    await sleep(100)
    expect(text.split('HTTP/1.1 200 OK')).toHaveLength(2)
    expect(ran).toBe(false)
  } finally {
    socket.destroy()
    server.close()
  }
})
