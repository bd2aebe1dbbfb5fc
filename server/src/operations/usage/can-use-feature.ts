import { type Access, checkDelta, decideAccess } from '../../domain/access.ts'
import { checkedEntities } from '../../domain/cap.ts'
import { badUserInput } from '../../domain/errors.ts'
import { MAX_BATCH } from '../../domain/limits.ts'
import type { Source } from '../../domain/purse.ts'
import { sourcesOf } from '../../domain/sources.ts'
import { decideSpending } from '../../domain/spending-calls.ts'
import type { AppCache } from '../../store/apps/app-cache.ts'
import type { Call } from '../call/call.ts'
import type { EntitlementState } from '../call/hot-paths.ts'

export interface FeatureAccess extends StateAccess {
  featureId: string
  /** Few callers ask for them. Absent: only the plan. */
  sources?: (() => readonly Source[]) | undefined
  /** where only the plan pays: when its period ends */
  periodEnd?: number | null
}

interface StateAccess extends Access {
  /** absent: the plan, if the limit is exceeded */
  deniedBy?: string | null | undefined
}

/** Limit that denied a check; null: access is granted, or was denied for another reason. */
export const deniedBy = ({ deniedBy, reasonCode }: StateAccess): string | null =>
  deniedBy ?? (reasonCode === 'LIMIT_EXCEEDED' ? 'PLAN' : null)

/** The answer to a check of `delta` units, by the rule that a record follows. */
export function accessOf(
  { entitlement, used, purse, now }: Pick<EntitlementState, 'entitlement' | 'used' | 'purse' | 'now'>,
  delta: number,
  entities: readonly string[] = [],
): StateAccess {
  return purse
    ? decideSpending(entitlement, purse, delta, now, entities)
    : decideAccess(entitlement, used, delta)
}

export async function canUseFeature(
  call: Call,
  userId: string,
  featureId: string,
  delta: number,
  asked: readonly string[] = [],
): Promise<FeatureAccess> {
  checkDelta(delta)
  const entities = asked.length > 0 ? checkedEntities(asked) : asked
  const { usage, activity, apps } = call.service
  const state = await usage.read({ caller: call, userId, featureId, entities })
  // Copying the whole answer would be a measurable part of a check.
  const { access, reason, reasonCode, consumption, deniedBy } = accessOf(state, delta, entities)
  if (exists(reasonCode, apps, call.appId, featureId))
    activity.features.checked(call.appId, featureId, access)
  if (!access) activity.denied({ appId: call.appId, userId, featureId, kind: 'CHECK', reason })
  const { purse, now } = state
  const sources = purse ? () => sourcesOf(purse, now) : undefined
  const periodEnd = state.entitlement.kind === 'metered' ? state.entitlement.period.end : null
  return { featureId, access, reason, reasonCode, consumption, sources, deniedBy, periodEnd }
}

/** An unknown user is noticed before an unknown feature. */
function exists(reasonCode: Access['reasonCode'], apps: AppCache, appId: string, featureId: string): boolean {
  if (reasonCode === 'USER_NOT_FOUND') return apps.known(appId)?.catalogue.features.has(featureId) ?? false
  return reasonCode !== 'FEATURE_NOT_FOUND'
}

export async function canUseFeatures(
  call: Call,
  userId: string,
  featureIds: readonly string[],
): Promise<FeatureAccess[]> {
  if (featureIds.length > MAX_BATCH)
    throw badUserInput(`featureIds must contain at most ${MAX_BATCH} features`, 'featureIds')
  return Promise.all(featureIds.map((featureId) => canUseFeature(call, userId, featureId, 1)))
}
