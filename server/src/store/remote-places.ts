import type pg from 'pg'
import { unavailable } from '../domain/errors.ts'
import { CONNECTION_WAIT_MS } from '../domain/limits.ts'

// A server that hangs keeps whoever asks it waiting, each with a connection to this one. How many transactions of a pool may
// be on other servers at once is limited, so that connections are left for everybody else. The others wait without one.

/** A place on another server that was waited for, until a transaction has it. */
export interface Place {
  giveTo(tx: object): void
  release(): void
}

/** As many transactions as may be on that server are there already. */
export class ServerBusy extends Error {
  readonly waitForPlace: () => Promise<Place>

  constructor(waitForPlace: () => Promise<Place>) {
    super('too many transactions on the remote server')
    this.waitForPlace = waitForPlace
  }
}

interface Waiting {
  schema: string
  grant: () => void
}

/** Of one pool: which transactions are on other servers, and who waits to be. */
export class RemotePlaces {
  readonly #perCell: number
  readonly #inAll: number
  /** the cells of each transaction, or of a place that is not given to one yet */
  readonly #taken = new Map<object, Set<string>>()
  readonly #waiting = new Set<Waiting>()

  constructor(connections: number) {
    this.#perCell = Math.max(1, Math.floor(connections / 2))
    this.#inAll = Math.max(1, connections - 2)
  }

  take(tx: object, schema: string): void {
    if (!this.#hasRoom(tx, schema)) throw new ServerBusy(() => this.#wait(schema))
    this.#note(tx, schema)
  }

  release(holder: object): void {
    if (!this.#taken.delete(holder)) return
    for (const one of this.#waiting) if (this.#hasRoom(one, one.schema)) one.grant()
  }

  #hasRoom(holder: object, schema: string): boolean {
    const own = this.#taken.get(holder)
    if (own?.has(schema)) return true
    const there = [...this.#taken.values()].filter((schemas) => schemas.has(schema)).length
    return there < this.#perCell && (own !== undefined || this.#taken.size < this.#inAll)
  }

  #note(holder: object, schema: string): void {
    this.#taken.set(holder, (this.#taken.get(holder) ?? new Set()).add(schema))
  }

  #wait(schema: string): Promise<Place> {
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(late)
        this.#waiting.delete(one)
      }
      const late = setTimeout(() => {
        end()
        reject(unavailable('The request timed out; retry.'))
      }, CONNECTION_WAIT_MS)
      const one: Waiting = {
        schema,
        grant: () => {
          end()
          this.#note(one, schema)
          resolve(this.#placeOf(one))
        },
      }
      // Somebody may have left since.
      this.#waiting.add(one)
      if (this.#hasRoom(one, schema)) one.grant()
    })
  }

  #placeOf(holder: object): Place {
    return {
      giveTo: (tx) => {
        const schemas = this.#taken.get(holder)
        this.#taken.delete(holder)
        if (schemas) this.#taken.set(tx, schemas)
      },
      release: () => this.release(holder),
    }
  }
}

const placesOf = new WeakMap<object, RemotePlaces>()

/** Limits the transactions of a pool. */
export function limitRemote(pool: pg.Pool): void {
  const places = new RemotePlaces(pool.options.max)
  pool.on('connect', (client) => placesOf.set(client, places))
}

/** The transactions that are tried again once there is a place for them; others are not limited. */
const limited = new WeakSet<object>()

export function beginLimited(tx: object, place: Place | null): void {
  limited.add(tx)
  place?.giveTo(tx)
}

export function takePlace(tx: object, schema: string): void {
  if (limited.has(tx)) placesOf.get(tx)?.take(tx, schema)
}

export function endLimited(tx: object): void {
  limited.delete(tx)
  placesOf.get(tx)?.release(tx)
}
