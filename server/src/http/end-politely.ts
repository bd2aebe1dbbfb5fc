import type { Socket } from 'node:net'

const LINGER_MS = 1_000

/**
 * Closes our side of a connection after the pending writes, and gives the client a moment to close its own. Further
 * input is read and dropped: closing immediately would reset the connection and lose the response.
 */
export function endPolitely(socket: Socket, last = ''): void {
  socket.resume().end(last, () => {
    const cut = setTimeout(() => socket.destroy(), LINGER_MS)
    socket.once('close', () => clearTimeout(cut))
  })
}
