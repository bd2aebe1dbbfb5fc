import { once } from 'node:events'
import type { Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { PATIENCE_MS } from './patience.ts'
import { API_KEY } from './server.ts'

/** A plain connection to the service, for what no HTTP client would send. */
export async function openSocket(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  // What is cut off in the middle of sending is an error here, and what some of the tests are about.
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

/** When the connection is gone, in whichever way. */
export const closing = (socket: Socket): Promise<void> =>
  new Promise((resolve) => socket.once('close', () => resolve()))

/** Sends these bytes, and returns all that comes back until the service closes the connection. */
export async function exchange(
  url: string,
  bytes: string | Buffer,
  { hangUp = false } = {},
): Promise<string> {
  const socket = await openSocket(url)
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
  })
  const closed = closing(socket)
  const cut = setTimeout(() => socket.destroy(new Error('the service keeps it open')), PATIENCE_MS)
  socket.write(bytes)
  if (hangUp) socket.end()
  await closed
  clearTimeout(cut)
  return text
}

/** The statuses of all answers in what came back. */
export const statusesOf = (text: string): number[] =>
  [...text.matchAll(/HTTP\/1\.[01] (\d{3}) /g)].map(([, status]) => Number(status))

/** The bytes of a request such as most clients send. */
export const post = (body: string, { headers = '', path = '/graphql', host = 'x' } = {}): string =>
  `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: ${API_KEY}\r\n${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`

/** Where it listens, on any port. */
export async function listening(server: Server): Promise<AddressInfo> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server.address() as AddressInfo
}
