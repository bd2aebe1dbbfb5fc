import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { MAX_PIPELINED_REQUESTS } from '../domain/limits.ts'

/** The requests of one connection that wait until those before them are answered. */
interface Line {
  busy: boolean
  waiting: (() => void)[]
}

/** No more is read while so many wait. */
const ENOUGH = 16

type Handle = (request: IncomingMessage, response: ServerResponse) => void

/**
 * Handles the requests of a connection one after the other, each when the answer before it has gone out. node:http
 * hands over all that came in one packet at once, and would keep all their answers for a client that does not read.
 */
export function inTurn(handle: Handle): Handle {
  const lines = new WeakMap<Socket, Line>()

  return (request, response) => {
    const { socket } = request
    const line = lines.get(socket) ?? { busy: false, waiting: [] }
    lines.set(socket, line)
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

  function next(socket: Socket, line: Line): void {
    if (socket.destroyed) line.waiting.length = 0
    const start = line.waiting.shift()
    if (line.waiting.length === 0 && socket.isPaused()) socket.resume()
    if (start) start()
    else line.busy = false
  }
}
