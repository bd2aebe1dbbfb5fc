import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A way to a database that can fall silent: packets go nowhere then, and neither end hears of it. */
export interface SilentNetwork {
  /** the database's URL by way of here */
  url: string
  /** Whatever was on its way, and every connection that was used or made meanwhile, stays lost. */
  silent: boolean
  close(): Promise<void>
}

export async function silentNetwork(databaseUrl: string): Promise<SilentNetwork> {
  const url = new URL(databaseUrl)
  const { searchParams: query } = url
  const host = query.get('host') ?? url.hostname
  const port = Number(query.get('port') ?? (url.port || 5432))
  const target = host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port }

  const sockets = new Set<Socket>()
  const network = { silent: false }
  const server = createServer((client) => {
    const upstream = network.silent ? null : connect(target)
    let lost = network.silent
    const carry = (from: Socket, to: Socket | null) => {
      sockets.add(from)
      from.on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        if (!lost && !network.silent) to?.destroy()
      })
      from.on('data', (piece) => {
        lost ||= network.silent
        if (!lost) to?.write(piece)
      })
    }
    carry(client, upstream)
    if (upstream) carry(upstream, client)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  query.delete('host')
  query.delete('port')
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  return Object.assign(network, {
    url: url.href,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  })
}
