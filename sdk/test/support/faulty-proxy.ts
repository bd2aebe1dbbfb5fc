import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/** What becomes of a piece of a reply: `cut` and `half` break the connection after the server has done its work. */
export type Fate = 'pass' | 'cut' | 'half' | 'hold'

/** A TCP proxy before a server, with faults to order. */
export class FaultyProxy {
  readonly url: string
  /** replies that did not get through */
  lost = 0
  /** connections that were asked for */
  asked = 0
  /** Decides about each piece of a reply; the server's replies are one piece each. */
  fate: () => Fate = () => 'pass'
  /** where connections lead; null: nowhere, they break off at the first request */
  #target: URL | null
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  static async before(target: string): Promise<FaultyProxy> {
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new FaultyProxy(server, target)
  }

  private constructor(server: Server, target: string) {
    this.#server = server
    this.#target = new URL(target)
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    server.on('connection', (client) => this.#carry(client))
  }

  /** The service is gone: whatever is under way breaks off. */
  down(): void {
    this.#target = null
    for (const socket of this.#sockets) socket.destroy()
  }

  up(target: string): void {
    this.#target = new URL(target)
  }

  async close(): Promise<void> {
    this.down()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #carry(client: Socket): void {
    this.asked++
    if (!this.#target) {
      // Not before something came: Node's fetch can miss a connection that breaks as soon as it stands, and then
      // only the timeout ends the call.
      this.#sockets.add(client)
      client.on('error', () => {}).on('close', () => this.#sockets.delete(client))
      client.once('data', () => client.destroy())
      return
    }
    const upstream = connect(Number(this.#target.port), this.#target.hostname)
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      this.#sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        this.#sockets.delete(socket)
        other.destroy()
      })
    }
    client.pipe(upstream)
    upstream.on('data', (piece: Buffer) => this.#reply(piece, client))
  }

  #reply(piece: Buffer, client: Socket): void {
    const fate = this.fate()
    if (fate === 'pass') {
      client.write(piece)
      return
    }
    this.lost++
    if (fate === 'half') client.end(piece.subarray(0, piece.length / 2), () => client.destroy())
    if (fate === 'cut') client.destroy()
  }
}

/** Where nobody listens. */
export async function deadUrl(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return `http://127.0.0.1:${port}`
}
