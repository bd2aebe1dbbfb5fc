import type { FeatureCalls } from '../../store/usage/feature-activity.ts'
import * as store from '../../store/usage/feature-activity.ts'
import type { Call } from '../call/call.ts'
import { catalogueOf, dashboardFeature } from '../catalogue/catalogue.ts'
import { intervalsBetween } from './intervals.ts'

/** Calls are counted by the hour. */
export const FEATURE_INTERVALS = ['HOUR', 'DAY'] as const

const NOTHING: FeatureCalls = { checks: 0, denied: 0, records: 0, units: 0, refused: 0 }

/** Calls for the feature per interval, including empty ones. */
export async function featureActivity(
  call: Call,
  id: string,
  from: string,
  to: string,
  interval: (typeof FEATURE_INTERVALS)[number],
): Promise<(FeatureCalls & { at: number })[]> {
  const { pool, activity } = call.service
  await dashboardFeature(call, id)
  const { starts, end } = intervalsBetween(from, to, interval)
  await activity.flush(pool)
  const unit = interval === 'HOUR' ? 'hour' : 'day'
  const counted = await store.featureActivityBetween(pool, call.appId, id, unit, starts[0] ?? end, end)
  return starts.map((at) => ({ at, ...(counted.get(at) ?? NOTHING) }))
}

/** At most 168 rows of each feature. */
const TOTAL_DAYS = 7

/** Calls for every feature of the app in the last seven days; features without calls are left out. */
export async function featureTotals(call: Call): Promise<(FeatureCalls & { featureId: string })[]> {
  const { pool, activity } = call.service
  const { features } = await catalogueOf(call)
  await activity.flush(pool)
  return store.featureTotals(pool, call.appId, [...features.keys()], TOTAL_DAYS)
}
