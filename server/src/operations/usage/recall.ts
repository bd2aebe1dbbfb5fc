import type { AppCache } from '../../store/apps/app-cache.ts'
import type { CounterMemory, OpenEvent, UsageState } from './counter-memory.ts'
import { questionOf, type Reading } from './read-entitlements.ts'
import { type Asked, askedOf, type Open } from './reservation-questions.ts'

// Decides which calls need no read because this process remembers their basis.

/** The states of events, by index: of counters, or of credits, reservations and caps. */
export function recallStates(
  apps: AppCache,
  open: readonly OpenEvent[],
  { memory, spenders }: Reading & { memory?: CounterMemory },
): Map<number, UsageState> {
  const recalled = memory?.recall(apps, open) ?? new Map<number, UsageState>()
  if (!spenders) return recalled
  for (const { item, index } of open) {
    const { caller, event } = item
    if (recalled.has(index) || !apps.known(caller.appId)?.catalogue.features.get(event.featureId)?.spends)
      continue
    const state = spenders.recall(apps, questionOf(item))
    if (state) recalled.set(index, state)
  }
  return recalled
}

interface Recalled extends Asked {
  state: UsageState
}

/** The calls that can be decided from memory. */
export function recallCalls(
  apps: AppCache,
  open: readonly Open[],
  { spenders, reservations }: Reading,
): Recalled[] {
  if (!spenders || !reservations) return []
  return open.flatMap((one) => {
    const { caller, reservation } = one.item
    const { appId } = caller
    // Where users are in several places, each has its own connection.
    if (apps.known(appId)?.layout) return []
    const isNew = reservation.kind === 'RESERVE'
    const userId = isNew ? reservation.userId : reservations.userOf(appId, reservation.id)
    const found = userId === null ? null : spenders.reservation(appId, userId, reservation.id)
    if (userId === null || isNew !== (found === null)) return []
    const question = { caller, ...askedOf(reservation, found, userId) }
    const state = spenders.recall(apps, question)
    return state ? [{ ...one, question, found, state }] : []
  })
}
