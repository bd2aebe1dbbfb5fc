import { once } from 'node:events'
import http, { type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'

/** A request that a receiver got, with its whole body. */
export interface Received {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: string
}

/** How a receiver answers: a status, or whatever it writes itself. */
export type Answering = (received: Received, response: ServerResponse) => number | undefined

export interface Receiver {
  /** with a path at the end */
  url: string
  port: number
  received: Received[]
  /** may be replaced at any time */
  answer: Answering
  /** how many connections it has accepted */
  connections(): number
  stop(): Promise<void>
}

/** An HTTP server that keeps what it receives, on loopback. */
export async function startReceiver(
  answer: Answering = () => 200,
  tls: { key: string; cert: string } | null = null,
): Promise<Receiver> {
  let connections = 0
  const take = async (request: http.IncomingMessage, response: ServerResponse) => {
    const pieces: Buffer[] = []
    for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece)
    const { method = '', url: path = '', headers } = request
    const received = { method, path, headers, body: Buffer.concat(pieces).toString() }
    receiver.received.push(received)
    const status = receiver.answer(received, response)
    if (status !== undefined) response.writeHead(status).end(`answered ${status}`)
  }
  const listener = (request: http.IncomingMessage, response: ServerResponse) =>
    void take(request, response).catch(() => response.destroy())
  const server = tls ? https.createServer(tls, listener) : http.createServer(listener)
  server.on('connection', () => connections++)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const receiver: Receiver = {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}/hooks`,
    port,
    received: [],
    answer,
    connections: () => connections,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return receiver
}
