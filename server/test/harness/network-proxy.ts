import { once } from 'node:events'
import {
  type AddressInfo,
  connect,
  createServer,
  type NetConnectOpts,
  type Server,
  type Socket,
} from 'node:net'

/**
 * What becomes of the bytes: `delay` holds them up, `truncate` lets some through and then resets, `swallow` takes them
 * and says nothing, neither data nor an end, as a network does that drops packets.
 */
export type Trouble = 'none' | 'reset' | 'delay' | 'truncate' | 'swallow'

type Side = 'request' | 'reply'

/** A TCP proxy with trouble to order. */
export class NetworkProxy {
  readonly port: number
  delayMs = 200
  /** how many bytes a truncated connection still carries */
  truncateAfter = 200
  /** Looks at everything that passes, before it does; each connection has an object of its own. */
  watch: (piece: Buffer, side: Side, connection: object) => void = () => {}
  #trouble: Trouble = 'none'
  #target: NetConnectOpts
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  static async before(target: NetConnectOpts): Promise<NetworkProxy> {
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new NetworkProxy(server, target)
  }

  private constructor(server: Server, target: NetConnectOpts) {
    this.#server = server
    this.#target = target
    this.port = (server.address() as AddressInfo).port
    server.on('connection', (client) => this.#carry(client))
  }

  get trouble(): Trouble {
    return this.#trouble
  }

  /** Whatever was swallowed stays lost: connections from that time never come back to life. */
  set trouble(trouble: Trouble) {
    this.#trouble = trouble
    if (trouble === 'reset') for (const socket of this.#sockets) reset(socket)
  }

  /** Where connections lead from now on; those that stand are reset, as if the other end had failed. */
  lead(target: NetConnectOpts): void {
    this.#target = target
    for (const socket of this.#sockets) reset(socket)
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #carry(client: Socket): void {
    if (this.#trouble === 'reset') {
      client.on('error', () => {}).resetAndDestroy()
      return
    }
    const pair: Pair = { carried: 0, silent: this.#trouble === 'swallow' }
    const upstream = pair.silent ? null : connect(this.#target)
    this.#join(pair, client, upstream, 'request')
    if (upstream) this.#join(pair, upstream, client, 'reply')
  }

  #join(pair: Pair, from: Socket, to: Socket | null, side: Side): void {
    this.#sockets.add(from)
    from.setNoDelay(true)
    from.on('error', () => {})
    from.on('close', () => {
      this.#sockets.delete(from)
      // Who is cut off from the other side does not hear that it ended.
      if (!pair.silent && this.#trouble !== 'swallow') to?.destroy()
    })
    from.on('data', (piece) => {
      if (!pair.silent) this.watch(piece, side, pair)
      this.#pass(pair, piece, from, to)
    })
  }

  #pass(pair: Pair, piece: Buffer, from: Socket, to: Socket | null): void {
    if (this.#trouble === 'swallow') pair.silent = true
    if (pair.silent || !to) return
    if (this.#trouble === 'delay') {
      setTimeout(() => {
        if (!pair.silent && !to.destroyed) to.write(piece)
      }, this.delayMs)
      return
    }
    if (this.#trouble === 'truncate') {
      const room = Math.max(0, this.truncateAfter - pair.carried)
      pair.carried += piece.length
      if (piece.length > room) {
        to.write(piece.subarray(0, room), () => {
          reset(from)
          reset(to)
        })
        return
      }
    }
    to.write(piece)
  }
}

/** A unix socket knows no reset; its other end notices the end as fast. */
function reset(socket: Socket): void {
  if (socket.remoteAddress === undefined) socket.destroy()
  else socket.resetAndDestroy()
}

/** The two ends of one connection through the proxy. */
interface Pair {
  carried: number
  /** cut off for good */
  silent: boolean
}

/** A proxy before a database, and the database's URL by way of it. */
export async function proxyBefore(databaseUrl: string): Promise<{ proxy: NetworkProxy; url: string }> {
  const url = new URL(databaseUrl)
  const { searchParams: query } = url
  const host = query.get('host') ?? url.hostname
  const port = Number(query.get('port') ?? (url.port || 5432))
  const proxy = await NetworkProxy.before(
    host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port },
  )
  query.delete('host')
  query.delete('port')
  url.hostname = '127.0.0.1'
  url.port = String(proxy.port)
  return { proxy, url: url.href }
}
