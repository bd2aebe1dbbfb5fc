import type { Socket } from 'node:net'

const LINGER_MS = 1_000

/**
 * Closes our side of a connection after what has been written, and gives the client a moment to close its own. What it
 * still sends is read and dropped: closing right away would reset the connection, and the answer would be lost.
 */
export function endPolitely(socket: Socket, last = ''): void {
  socket.resume().end(last, () => {
    const cut = setTimeout(() => socket.destroy(), LINGER_MS)
    socket.once('close', () => clearTimeout(cut))
  })
}
