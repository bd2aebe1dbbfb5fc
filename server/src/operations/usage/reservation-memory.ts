import { LRUCache } from 'lru-cache'
import { MAX_REMEMBERED_RESERVATIONS } from '../../domain/limits.ts'

/** The users of the reservations that this process made last, so that all calls of a user go through one lane. */
export class ReservationMemory {
  readonly #users = new LRUCache<string, string>({ max: MAX_REMEMBERED_RESERVATIONS })

  /** Null: not known. */
  userOf(appId: string, id: string): string | null {
    return this.#users.get(`${appId} ${id}`) ?? null
  }

  keep(appId: string, id: string, userId: string): void {
    this.#users.set(`${appId} ${id}`, userId)
  }
}
