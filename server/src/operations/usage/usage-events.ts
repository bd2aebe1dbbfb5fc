import type { Allowance } from '../../domain/allowance.ts'
import { type EventType, FORMAT_VERSION } from '../../domain/event.ts'
import type { Purse } from '../../domain/purse.ts'
import { usedInPeriod } from '../../domain/spending.ts'
import { isoOrNull } from '../../domain/time.ts'
import type { UsageAction } from '../../domain/usage.ts'
import { crossedThresholds } from '../../domain/usage-thresholds.ts'
import type { UserEntitlement } from '../../domain/user-entitlement.ts'
import type { AppCache } from '../../store/apps/app-cache.ts'
import { type PackedEvent, packedEvent } from '../../store/usage/packed-events.ts'
import type { CounterMove } from '../../store/usage/usage-moves.ts'
import type { PendingUsage } from '../call/hot-paths.ts'
import type { UsageState } from './counter-memory.ts'

interface MovedEntry {
  action: UsageAction
  delta: number
  used: number
  /** what the call recorded, if other sources paid for a part of it */
  units?: number
}

interface MovedCounter {
  move: Pick<CounterMove, 'key'> & { entries: readonly MovedEntry[] }
  state: Pick<UsageState, 'entitlement'>
  decisions: readonly { item: { event: Pick<PendingUsage['event'], 'userId'> } }[]
  allowance: Allowance
}

/** The events of a call that several sources may have paid for. Thresholds are those of the plan's counter. */
export function spendingEvents(
  apps: AppCache,
  of: { appId: string; userUid: number; userId: string; featureId: string },
  entitlement: UserEntitlement,
  { before, after }: { before: Purse; after: Purse },
  action: UsageAction,
): PackedEvent[] {
  const { appId, userUid, userId, featureId } = of
  const { allowance, period } = after
  const { resetPeriod } = allowance
  const key = { appId, userUid, featureId, resetPeriod, periodStart: period.start }
  const units = usedInPeriod(after) - usedInPeriod(before)
  const entries = [{ action, delta: after.used - before.used, used: after.used, units }]
  const decisions = [{ item: { event: { userId } } }]
  return usageEvents({ move: { key, entries }, state: { entitlement }, decisions, allowance }, apps)
}

/**
 * The events of a move of a counter: thresholds that it crosses, by each of its entries, and the entries themselves if the app
 * asks for them. Nearly always there are none.
 */
export function usageEvents(
  { move, state, decisions, allowance }: MovedCounter,
  apps: AppCache,
): PackedEvent[] {
  const { key, entries } = move
  const app = apps.known(key.appId)
  const userId = decisions[0]?.item.event.userId
  if (!app || userId === undefined) return []
  const thresholds = app.catalogue.features.get(key.featureId)?.thresholds ?? undefined
  const { budget } = allowance
  const events: PackedEvent[] = []
  const add = (type: EventType, used: number, before: number, more: Record<string, number | string> = {}) => {
    const object = {
      userId,
      featureId: key.featureId,
      ...more,
      used,
      budget,
      resetPeriod: key.resetPeriod,
      periodStart: isoOrNull(key.periodStart),
      resetsAt: state.entitlement.kind === 'metered' ? isoOrNull(state.entitlement.period.end) : null,
    }
    // Always within the size of an event, so it is not measured.
    const data = { version: FORMAT_VERSION, object, previous: { used: before } }
    events.push(packedEvent({ type, userUid: key.userUid, userId, data }))
  }
  for (const { action, delta, used, units = delta } of entries) {
    const before = used - delta
    if (app.usageEvents) add('usage.recorded', used, before, { action, delta: units })
    for (const threshold of crossedThresholds(before, used, budget, thresholds)) {
      add('usage.threshold_reached', used, before, { threshold })
      if (threshold === 100) add('usage.limit_reached', used, before)
    }
  }
  return events
}
