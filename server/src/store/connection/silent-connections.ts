import type { ClientBase, Connection } from 'pg'

const LOOK_EVERY_MS = 500
/** After this long without a response, the server may be gone. */
const DOUBT_MS = 2_000

/** Non-public parts of pg's client. */
interface Inside {
  connection: Connection
  /** false while a statement waits for its result */
  readyForQuery?: boolean
}

interface Watched {
  /** number of checks in a row that found a statement without news of it */
  silentLooks: number
  bytesRead: number
}

/**
 * Closes connections that have not responded for too long. A network that silently drops packets leaves a statement
 * waiting for as long as TCP retries, a quarter of an hour; PostgreSQL's own timeouts help only while its responses
 * arrive. This costs nothing per statement: one timer checks all connections.
 */
export class SilentConnections {
  readonly #watched = new Map<Inside, Watched>()
  readonly #silenceMs: number
  readonly #doubt: () => void
  readonly #timer: NodeJS.Timeout

  /** `doubt` is called now and then while a response is overdue. */
  constructor(silenceMs: number, doubt: () => void) {
    this.#silenceMs = silenceMs
    this.#doubt = doubt
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS)
    this.#timer.unref()
  }

  watch(client: ClientBase): void {
    const inside = client as unknown as Inside
    this.#watched.set(inside, { silentLooks: 0, bytesRead: -1 })
    inside.connection.stream.once('close', () => this.#watched.delete(inside))
  }

  #look(): void {
    for (const [client, watched] of this.#watched) {
      const { stream } = client.connection
      const { bytesRead } = stream as unknown as { bytesRead: number }
      const news = client.readyForQuery || bytesRead !== watched.bytesRead
      watched.silentLooks = news ? 0 : watched.silentLooks + 1
      watched.bytesRead = client.readyForQuery ? -1 : bytesRead
      const silentMs = watched.silentLooks * LOOK_EVERY_MS
      if (silentMs >= DOUBT_MS) this.#doubt()
      if (silentMs > this.#silenceMs) end(client, 'the database did not answer in time')
    }
  }

  /** Waits for a pool to end; connections that do not close within `graceMs` are destroyed. */
  async end(ending: Promise<void>, graceMs: number): Promise<void> {
    const cut = setTimeout(() => {
      for (const client of this.#watched.keys()) end(client, 'the service stops')
    }, graceMs)
    await ending
    clearTimeout(cut)
    clearInterval(this.#timer)
  }
}

function end({ connection }: Inside, reason: string): void {
  connection.stream.destroy(new Error(reason))
}
