import { LRUCache } from 'lru-cache'
import type { Monotonic } from '../../domain/clocks.ts'
import { MAX_REMEMBERED_SPENDING, MAX_SPENDER_RESERVATIONS } from '../../domain/limits.ts'
import type { Purse } from '../../domain/purse.ts'
import type { Reservation } from '../../domain/reservation.ts'
import type { AppCache } from '../../store/apps/app-cache.ts'
import type { FoundReservation } from '../../store/credits/reservations.ts'
import type { SpendingMove } from '../../store/usage/spending-move.ts'
import type { Basis } from '../../store/usage/usage-moves.ts'
import type { EntitlementQuestion } from '../call/hot-paths.ts'
import type { UsageState } from './counter-memory.ts'
import { sizeOfCredits } from './credit-memory.ts'
import { latest } from './spend.ts'

/** Written decisions about a user's spending, and the states that they are based on. */
export interface Written {
  userId: string
  move: SpendingMove
  /** before it, by feature */
  states: ReadonlyMap<string, UsageState>
  /** after it, by feature */
  purses: ReadonlyMap<string, Purse>
  /** live reservations after it, by feature; absent: as before */
  live?: ReadonlyMap<string, number>
}

interface Known {
  userUid: number
  /** of the spender's row */
  version: number
  basis: Basis
  /** when it was read, by the monotonic clock */
  readAt: number
  /** whose counts of the plan's caps were read */
  entities: readonly string[]
  states: Map<string, UsageState>
  /** by id, those that hold something */
  reservations: Map<string, Reservation>
}

/**
 * The users whose credits, reservations and caps this process changed last. A call about them is decided without reading:
 * the write confirms that nothing has changed, or is not made. As with counters, only what changes something can be confirmed
 * so; before a call is refused, the database is read.
 */
export class SpenderMemory {
  readonly #clock: Monotonic
  readonly #known = new LRUCache<string, Known>({
    maxSize: MAX_REMEMBERED_SPENDING,
    sizeCalculation: ({ states, reservations }) => {
      let size = 1 + reservations.size
      for (const { purse } of states.values()) size += sizeOf(purse)
      return size
    },
  })

  constructor(clock: Monotonic) {
    this.#clock = clock
  }

  now(): number {
    return this.#clock()
  }

  /** Null: it must be read. */
  recall(apps: AppCache, { caller, userId, featureId, entities }: EntitlementQuestion): UsageState | null {
    const known = this.#known.get(nameOf(caller.appId, userId))
    const state = known?.states.get(featureId)
    if (!known || !state?.spending) return null
    const app = apps.known(caller.appId)
    if (app?.version !== known.basis.version || !apps.admits(caller, app)) return null
    if (entities?.some((entity) => !known.entities.includes(entity))) return null
    const { since, until } = known.basis
    const now = app.testClock ? since : since + Math.floor(this.#clock() - known.readAt)
    if (until === null || now >= until) return null
    return { ...state, now, basis: known.basis, spending: { ...state.spending, version: known.version } }
  }

  /** A reservation that holds something; null: it must be read. */
  reservation(appId: string, userId: string, id: string): FoundReservation | null {
    const known = this.#known.get(nameOf(appId, userId))
    const row = known?.reservations.get(id)
    return known && row ? { ...row, userId, userUid: known.userUid, version: known.version } : null
  }

  /** After a move; `readAt`: when its basis was read, unless it was remembered. */
  moved(written: Written, readAt: number): void {
    const { userId, move, states, purses, live } = written
    const { appId, userUid, version } = move
    const name = nameOf(appId, userId)
    const first = states.values().next().value
    const basis = move.basis ?? earliest(states)
    if (!first || !basis) {
      this.forget(appId, userId)
      return
    }
    const entities = first.spending?.entities ?? []
    const before = this.#known.get(name)
    const known: Known =
      before?.version === version && before.userUid === userUid && isSameRead(before, { basis, entities })
        ? before
        : { userUid, version, basis, readAt, entities, states: new Map(), reservations: new Map() }
    known.version = version + 1
    for (const [featureId, state] of known.states)
      if (purses.has(featureId) || (state.pool && purses.has(state.pool.featureId)))
        known.states.delete(featureId)
    for (const [featureId, state] of states)
      known.states.set(featureId, after(state, written, live?.get(featureId)))
    let until = Math.min(known.basis.until ?? 0, basis.until ?? 0)
    for (const { row } of move.reservations) {
      if (row.state === 'HELD') known.reservations.set(row.id, row)
      else known.reservations.delete(row.id)
      until = Math.min(until, row.expiresAt)
    }
    known.basis = { ...known.basis, until }
    for (const id of known.reservations.keys()) {
      if (known.reservations.size <= MAX_SPENDER_RESERVATIONS) break
      known.reservations.delete(id)
    }
    // As another object: the size of the same one is not counted again.
    this.#known.set(name, { ...known })
  }

  forget(appId: string, userId: string): void {
    this.#known.delete(nameOf(appId, userId))
  }
}

function after(state: UsageState, { move, purses }: Written, live: number | undefined): UsageState {
  const { featureId, spending, pool } = state
  if (!state.purse) throw new Error('a remembered state has no sources')
  const purse = latest(purses, featureId, state.purse)
  const drawn = purse.pool?.purse
  const isCounted = (id: string, { allowance, period }: Purse) =>
    move.counters.has(`${allowance.resetPeriod} ${period.start} ${id}`)
  return {
    ...state,
    used: purse.used,
    counted: state.counted || isCounted(featureId, purse),
    purse,
    spending: spending && { ...spending, live: live ?? spending.live },
    pool:
      pool && drawn
        ? { ...pool, used: drawn.used, counted: pool.counted || isCounted(pool.featureId, drawn) }
        : pool,
  }
}

/** The basis of states that were read together; null: one of them cannot be remembered. */
function earliest(states: ReadonlyMap<string, UsageState>): Basis | null {
  let [first, until]: [Basis | null, number] = [null, Number.POSITIVE_INFINITY]
  for (const { basis } of states.values()) {
    if (basis?.until == null) return null
    first ??= basis
    until = Math.min(until, basis.until)
  }
  return first && { ...first, until }
}

type Read = Pick<Known, 'basis' | 'entities'>

/** Whether what was remembered still holds as of a later read. */
const isSameRead = (a: Read, b: Read): boolean =>
  (a.basis.until ?? 0) > b.basis.since &&
  a.basis.version === b.basis.version &&
  a.basis.user.tid === b.basis.user.tid &&
  a.basis.user.version === b.basis.user.version &&
  a.entities.length === b.entities.length &&
  a.entities.every((entity) => b.entities.includes(entity))

const sizeOf = (purse: Purse | null): number =>
  purse ? 1 + sizeOfCredits(purse.credits) + purse.caps.length + sizeOf(purse.pool?.purse ?? null) : 0

/** The length prefix keeps names distinct, whatever the ids contain. */
const nameOf = (appId: string, userId: string): string => `${appId.length} ${appId}${userId}`
