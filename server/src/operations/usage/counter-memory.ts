import { LRUCache } from 'lru-cache'
import { MAX_REMEMBERED_COUNTERS } from '../../domain/limits.ts'
import type { Purse } from '../../domain/purse.ts'
import { sourcesUntil } from '../../domain/sources.ts'
import { applyUsage } from '../../domain/usage.ts'
import { validUntil } from '../../domain/user-entitlement.ts'
import type { AppCache } from '../../store/apps/app-cache.ts'
import type { Holding } from '../../store/usage/read-holdings.ts'
import type { Basis, CounterRef } from '../../store/usage/usage-moves.ts'
import type { EntitlementState, PendingUsage } from '../call/hot-paths.ts'

/** Basis of the decision about a record: the entitlement, the counter, and where both come from. */
export interface UsageState
  extends Pick<
    EntitlementState,
    | 'featureId'
    | 'entitlement'
    | 'used'
    | 'now'
    | 'uid'
    | 'counter'
    | 'counted'
    | 'spending'
    | 'purse'
    | 'pool'
  > {
  basis: Basis | null
}

export function usageState(state: EntitlementState): UsageState {
  const { featureId, entitlement, used, now, uid, counter, counted, spending, purse, pool } = state
  const basis = basisOf(state)
  return { featureId, entitlement, used, now, uid, counter, counted, spending, purse, pool, basis }
}

function basisOf({ holder, now, ...state }: EntitlementState): Basis | null {
  if (!holder?.user) return null
  const until = untilOf({ ...state, now }, holder)
  return until === undefined ? null : { version: holder.version, user: holder.user, since: now, until }
}

/** When time alone may change a decision; null: not known; undefined: nothing is counted. */
function untilOf(
  { catalogue, entitlement, purse, pool, spending, now }: Omit<EntitlementState, 'holder'>,
  holder: Holding,
): number | null | undefined {
  const granted = (basis: Pick<Purse, 'period'>) => validUntil(catalogue, holder, basis, now)
  if (!purse) return entitlement.kind === 'metered' ? granted(entitlement) : undefined
  const [own, ofPool] = [granted(purse), pool && granted(pool.basis)]
  if (own === null || (pool && ofPool == null)) return null
  return Math.min(
    own,
    ofPool ?? own,
    sourcesUntil(purse, now),
    spending?.heldUntil ?? Number.POSITIVE_INFINITY,
    pool?.heldUntil ?? Number.POSITIVE_INFINITY,
  )
}

/** An event that is yet to be answered; `index`: its position in the batch. */
export interface OpenEvent {
  item: PendingUsage
  index: number
}

/**
 * The counters that this process moved last. An event on one of them is decided without reading: the write confirms that
 * nothing has changed, or is not made. Only what is recorded can be confirmed so; before an event is refused, the database
 * is read.
 */
export class CounterMemory {
  readonly #states = new LRUCache<string, UsageState>({ max: MAX_REMEMBERED_COUNTERS })

  /** The states of events that would be recorded, by index: for each counter all of its events, or none. */
  recall(apps: AppCache, open: readonly OpenEvent[]): Map<number, UsageState> {
    const recalled = new Map<number, UsageState>()
    const groups = new Map<string, OpenEvent[]>()
    for (const one of open) {
      const name = nameOf(one.item)
      const group = groups.get(name)
      if (group) group.push(one)
      else if (this.#states.has(name)) groups.set(name, [one])
    }
    for (const [name, events] of groups) {
      const state = this.#states.get(name)
      if (!state || !canRecord(apps, state, events)) continue
      for (const { index } of events) recalled.set(index, state)
    }
    return recalled
  }

  /** After a move; `counter` is where it is now, if that is known. */
  moved(item: PendingUsage, state: UsageState, used: number, counter: CounterRef | null): void {
    if (state.basis?.until == null || counter === null) this.forget(item)
    else this.#states.set(nameOf(item), { ...state, used, counter, counted: true })
  }

  forget(item: PendingUsage): void {
    this.#states.delete(nameOf(item))
  }
}

/** The length prefix keeps names distinct, whatever the ids contain. */
const nameOf = ({ caller: { appId }, event: { userId, featureId } }: PendingUsage): string =>
  `${appId} ${userId.length} ${userId}${featureId}`

function canRecord(apps: AppCache, state: UsageState, events: readonly OpenEvent[]): boolean {
  let { used } = state
  return events.every(({ item: { caller, event } }) => {
    const app = apps.known(caller.appId)
    if (app?.version !== state.basis?.version || !app || !apps.admits(caller, app)) return false
    const after = applyUsage(state.entitlement, used, event)
    used = after.used
    return after.recorded
  })
}
