import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Step = (response: ServerResponse, request: IncomingMessage) => void

export interface Received {
  at: number
  headers: IncomingMessage['headers']
  body: string
}

/** Stands where the service would, and answers each request by the next step of its script; the last one stays. */
export interface ScriptedService {
  url: string
  requests: Received[]
  close(): Promise<void>
}

export async function scriptedService(...script: Step[]): Promise<ScriptedService> {
  const requests: Received[] = []
  const server = createServer((request, response) => {
    const step = script[Math.min(requests.length, script.length - 1)]
    const received = { at: performance.now(), headers: request.headers, body: '' }
    requests.push(received)
    request.on('data', (chunk: Buffer) => {
      received.body += chunk.toString()
    })
    request.on('end', () => step?.(response, request))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

export const answers =
  (body: object, headers: Record<string, string> = {}): Step =>
  (response) =>
    response.writeHead(200, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body))

/** As the service refuses: 200, and what is wrong in `extensions`. */
export const refuses = (code: string, status: number, retryAfter?: number): Step =>
  answers({
    data: null,
    errors: [
      { message: code, path: ['recordUsage'], extensions: { code, type: 'Error', status, retryAfter } },
    ],
  })

/** As a proxy does: a status, and no word of the service's. */
export const proxySays =
  (status: number, headers: Record<string, string> = {}): Step =>
  (response) =>
    response.writeHead(status, headers).end('<html>busy</html>')
