import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { MAX_PIPELINED_REQUESTS } from '../domain/limits.ts'

/** Requests of one connection that wait for earlier responses. */
interface Line {
  busy: boolean
  waiting: (() => void)[]
  /** bytes read from the connection at the time of the last response */
  bytesRead: number
}

/** Reading stops while this many wait. */
const ENOUGH = 16

type Handle = (request: IncomingMessage, response: ServerResponse) => void

/**
 * Handles the requests of a connection one after the other, each after the previous response was sent. node:http passes
 * on everything in one packet at once, and would keep all responses for a client that does not read.
 */
export class Turns {
  readonly #lines = new WeakMap<Socket, Line>()

  inTurn(handle: Handle): Handle {
    return (request, response) => {
      const { socket } = request
      // The connection was closed before: there is no way to respond.
      if (!socket.writable) return
      const line = this.#lines.get(socket) ?? { busy: false, waiting: [], bytesRead: 0 }
      this.#lines.set(socket, line)
      response.once('close', () => next(socket, line))
      if (!line.busy) {
        line.busy = true
        handle(request, response)
        return
      }
      line.waiting.push(() => handle(request, response))
      if (line.waiting.length > MAX_PIPELINED_REQUESTS) socket.destroy()
      else if (line.waiting.length >= ENOUGH) socket.pause()
    }
  }

  /** Whether nothing has arrived since the last response. */
  isIdle(socket: Socket): boolean {
    const line = this.#lines.get(socket)
    return !line?.busy && socket.bytesRead === (line?.bytesRead ?? 0)
  }
}

function next(socket: Socket, line: Line): void {
  if (socket.destroyed) line.waiting.length = 0
  const start = line.waiting.shift()
  if (line.waiting.length === 0 && socket.isPaused()) socket.resume()
  if (start) {
    start()
    return
  }
  line.busy = false
  line.bytesRead = socket.bytesRead
}
