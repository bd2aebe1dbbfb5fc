import { unavailable } from '../../domain/errors.ts'
import { CONNECTION_WAIT_MS } from '../../domain/limits.ts'
import type { ServerSlot } from '../connection/places.ts'

// A transaction on another server holds a connection to this one, for as long as that server takes to answer. The number
// of such transactions of a pool is limited, so that a server that hangs leaves connections for everybody else. Others
// wait for a slot without holding a connection.

/** That server has as many transactions as it may. */
export class ServerBusy extends Error {
  readonly waitForSlot: () => Promise<ServerSlot>

  constructor(waitForSlot: () => Promise<ServerSlot>) {
    super('the server has as many transactions as it may')
    this.waitForSlot = waitForSlot
  }
}

interface Waiting {
  schema: string
  grant: () => void
}

/** The transactions of one pool on other servers, and those that wait. */
export class ServerSlots {
  readonly #perCell: number
  readonly #inAll: number
  /** the cells of each transaction, or of an admission not given to one yet */
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

  /** A transaction begins with the slot it has waited for. */
  give(admission: ServerSlot, tx: object): void {
    const schemas = this.#taken.get(admission)
    this.#taken.delete(admission)
    if (schemas) this.#taken.set(tx, schemas)
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

  #wait(schema: string): Promise<ServerSlot> {
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(late)
        this.#waiting.delete(one)
      }
      const late = setTimeout(() => {
        end()
        reject(unavailable('User temporarily unavailable; retry.'))
      }, CONNECTION_WAIT_MS)
      const one: Waiting = {
        schema,
        grant: () => {
          end()
          const admission: ServerSlot = { release: () => this.release(admission) }
          this.#note(admission, schema)
          resolve(admission)
        },
      }
      // A slot may have become free since.
      this.#waiting.add(one)
      if (this.#hasRoom(one, schema)) one.grant()
    })
  }
}
