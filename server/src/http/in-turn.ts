import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { MAX_PIPELINED_REQUESTS } from '../domain/limits.ts'

/** Requests of one connection waiting until those before them are answered. */
interface Line {
  busy: boolean
  waiting: (() => void)[]
  /** bytes read from the connection when its last request was answered */
  bytesRead: number
}

/** Reading stops while this many wait. */
const ENOUGH = 16

type Handle = (request: IncomingMessage, response: ServerResponse) => void

/**
 * Handles the requests of a connection one after the other, each once the previous answer has been sent. node:http
 * hands over everything that came in one packet at once, and would keep all the answers for a client that does not
 * read.
 */
export class Turns {
  readonly #lines = new WeakMap<Socket, Line>()

  inTurn(handle: Handle): Handle {
    return (request, response) => {
      const { socket } = request
      // It arrived after the connection was closed: there is no way to answer it.
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

  /** Whether nothing has arrived since the last answer. */
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
