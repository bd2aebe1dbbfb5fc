import { type Catalogue, countedPeriodsOf } from '../../domain/catalogue.ts'
import { type EarlierBase, lastLiveAt } from '../../domain/subscription.ts'
import type { SubscriptionRow } from '../../store/subscriptions/subscriptions.ts'

/** The user's earlier base plans, whose periods may still be running. */
export function earlierBases(
  held: readonly SubscriptionRow[],
  catalogue: Catalogue,
  now: number,
): EarlierBase[] {
  return held.flatMap((s) => {
    const last = lastLiveAt(s, now)
    if (s.isAddon || last === null) return []
    return [{ anchor: s.anchor, lastLiveAt: last, resetPeriods: countedPeriodsOf(catalogue, s, last) }]
  })
}
