import { overageOf } from '../../domain/allowance.ts'
import { overrideAt } from '../../domain/override.ts'
import { currentPeriod, type Spending } from '../../domain/purse.ts'
import type { UserTx } from '../../store/connection/places.ts'
import { usedAfterSet, usedIn } from '../../store/usage/usage.ts'
import type { EntitlementState } from '../call/hot-paths.ts'
import { planKey } from '../usage/spend.ts'

/**
 * What a user who was not enrolled owes: the units of the last SET beyond the budget and the overage. Usage is no debt if the plan
 * or the override has changed since.
 */
export async function owedBefore(
  tx: UserTx,
  { appId, uid, now }: { appId: string; uid: number; now: number },
  { featureId, entitlement, holder }: EntitlementState,
): Promise<Spending['owed']> {
  if (entitlement.kind !== 'metered' || !holder) return null
  const { budget } = entitlement.allowance
  if (budget === null) return null
  const key = planKey(featureId, entitlement)
  const used = (await usedIn(tx, appId, uid, key)) ?? 0
  const most = budget + overageOf(entitlement.allowance)
  if (used <= most) return null
  const override = overrideAt(holder.overrides, featureId, now)
  const since = Math.max(override?.startedAt ?? 0, ...holder.live.map(({ startedAt }) => startedAt))
  const set = await usedAfterSet(tx, appId, uid, key, since)
  if (set === null || set <= most) return null
  return { amount: Math.min(used, set) - most, period: currentPeriod(entitlement) }
}
