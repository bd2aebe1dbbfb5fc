import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, expect, it } from 'vitest'
import type { Context } from '../../src/cli/context.ts'
import { jsonOf, send } from '../../src/cli/service-request.ts'
import { Terminal } from '../../src/terminal/terminal.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

let server: Server
afterEach(() => {
  server.closeAllConnections()
  server.close()
})

/** A service that sends the start of an answer. */
async function serve(after: (response: ServerResponse) => void): Promise<string> {
  server = createServer((_, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': 1_000_000 })
    response.write('{')
    after(response)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A byte at a time, so that no time limit between two bytes applies. */
const dribble = (response: ServerResponse) => {
  const timer = setInterval(() => {
    response.write(' ')
    collectGarbage()
  }, 100)
  response.on('close', () => clearInterval(timer))
}

const contextOf = (stopping = new AbortController().signal): Context => ({
  version: '0',
  env: {},
  terminal: new Terminal(process.stdout, process.stderr),
  clocks: { wall: () => 0, monotonic: () => 0 },
  questions: null,
  stopping,
  runProgram: async () => {},
})

const ask = async (context: Context, url: string, ms: number) =>
  jsonOf(url, await send(context, { url, path: '/', ms }))

it('does not wait longer than its limit for an answer that never ends', async () => {
  const url = await serve(dribble)
  await expect(ask(contextOf(), url, 1_000)).rejects.toThrow(`Tollgate at ${url} did not answer within 1 s.`)
}, 15_000)

it('stops reading at Ctrl-C', async () => {
  const stopping = new AbortController()
  const url = await serve((response) => {
    dribble(response)
    setTimeout(() => stopping.abort(), 1_000)
  })
  await expect(ask(contextOf(stopping.signal), url, 60_000)).rejects.toThrow('This operation was aborted')
}, 15_000)

it('says that an answer is incomplete', async () => {
  const url = await serve((response) => setTimeout(() => response.destroy(), 100))
  await expect(ask(contextOf(), url, 60_000)).rejects.toThrow(
    `The connection to ${url} was lost before the answer was complete.`,
  )
})
