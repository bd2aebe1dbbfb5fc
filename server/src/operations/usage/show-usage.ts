import { type Consumption, consumptionOf } from '../../domain/access.ts'
import { MAX_PAST_PERIODS } from '../../domain/limits.ts'
import { type Period, pastPeriods } from '../../domain/period.ts'
import { consumptionFrom } from '../../domain/spending-calls.ts'
import { usageSince } from '../../store/usage/usage.ts'
import { type Call, momentOf } from '../call/call.ts'
import { requireFeature, requireUser } from '../call/require.ts'

export interface UsagePeriod {
  periodStart: number
  periodEnd: number | null
  consumption: Consumption
}

export interface ShowUsage {
  /** null: the feature is not counted for this user */
  current: UsagePeriod | null
  past: UsagePeriod[]
}

export async function showUsage(call: Call, userId: string, featureId: string): Promise<ShowUsage> {
  const { service, appId } = call
  const { app } = await momentOf(call)
  const user = await requireUser(service.pool, appId, userId)
  requireFeature(app.catalogue, featureId)
  const found = await service.usage.read({ caller: call, userId, featureId })
  const { purse } = found
  if (purse && found.entitlement.kind !== 'metered') {
    const { start, end } = purse.period
    const current = { periodStart: start, periodEnd: end, consumption: consumptionFrom(purse, found.now) }
    return { current, past: [] }
  }
  if (found.entitlement.kind !== 'metered') return { current: null, past: [] }

  const { allowance, anchor, period } = found.entitlement
  const past = pastPeriods(allowance.resetPeriod, anchor, found.now, MAX_PAST_PERIODS)
  const oldest = past.at(-1) ?? period
  const used = await usageSince(service.pool, appId, user, featureId, allowance.resetPeriod, oldest.start)
  const show = ({ start, end }: Period, count: number): UsagePeriod => ({
    periodStart: start,
    periodEnd: end,
    consumption: consumptionOf(allowance, count),
  })
  const current = show(period, found.used)
  if (purse) current.consumption = consumptionFrom(purse, found.now)
  return { current, past: past.map((p) => show(p, used.get(p.start) ?? 0)) }
}
