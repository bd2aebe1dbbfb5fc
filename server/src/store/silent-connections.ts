import type { ClientBase, Connection } from 'pg'

const LOOK_EVERY_MS = 500

/** What pg keeps of a client beside its public face. */
interface Inside {
  connection: Connection
  /** false while a statement waits for its answer */
  readyForQuery?: boolean
}

interface Watched {
  /** when the statement under way was first seen without news; null: none is under way */
  since: number | null
  bytesRead: number
}

/**
 * Ends connections that have owed an answer for too long. A network that drops packets without a word leaves a
 * statement waiting for as long as TCP retries, which is a quarter of an hour; PostgreSQL's own timeouts help only
 * while its answers arrive. Nothing is done per statement: a timer looks at all connections.
 */
export class SilentConnections {
  readonly #watched = new Map<Inside, Watched>()
  readonly #silenceMs: number
  readonly #timer: NodeJS.Timeout

  constructor(silenceMs: number) {
    this.#silenceMs = silenceMs
    this.#timer = setInterval(() => this.#look(performance.now()), LOOK_EVERY_MS)
    this.#timer.unref()
  }

  watch(client: ClientBase): void {
    const inside = client as unknown as Inside
    this.#watched.set(inside, { since: null, bytesRead: 0 })
    inside.connection.stream.once('close', () => this.#watched.delete(inside))
  }

  #look(now: number): void {
    for (const [client, watched] of this.#watched) {
      const { stream } = client.connection
      const { bytesRead } = stream as unknown as { bytesRead: number }
      if (client.readyForQuery) watched.since = null
      else if (watched.since === null || bytesRead !== watched.bytesRead) watched.since = now
      else if (now - watched.since > this.#silenceMs) end(client, 'the database did not answer in time')
      watched.bytesRead = bytesRead
    }
  }

  /** Waits for a pool that is ending; what does not end by itself within `graceMs` is cut. */
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
