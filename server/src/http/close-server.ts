import type { Server } from 'node:http'
import { Server as NetServer } from 'node:net'
import { endPolitely } from './end-politely.ts'
import type { Turns } from './in-turn.ts'
import type { OpenConnections } from './open-connections.ts'
import type { PlainConnections } from './plain-connections.ts'

const IDLE_SWEEP_MS = 50

interface Parts {
  server: Server
  connections: OpenConnections
  turns: Turns
  /** null: all connections are node:http's */
  plain: PlainConnections | null
}

/** Accepts no new connections and finishes running requests. Those that take longer than `graceMs` are cut off. */
export function closeServer({ server, connections, turns, plain }: Parts, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const endIdle = () => {
      plain?.endIdle()
      for (const socket of connections.sockets()) {
        if (socket.writable && !plain?.has(socket) && turns.isIdle(socket)) endPolitely(socket)
      }
    }
    const cut = setTimeout(() => {
      for (const socket of connections.sockets()) socket.destroy()
    }, graceMs)
    // A busy connection becomes idle after its response and would be kept for the next request.
    const sweep = setInterval(endIdle, IDLE_SWEEP_MS)
    // http's own close would destroy idle connections, resetting those on which a request is just arriving.
    NetServer.prototype.close.call(server, () => {
      clearTimeout(cut)
      clearInterval(sweep)
      server.close(() => resolve())
    })
    endIdle()
  })
}
