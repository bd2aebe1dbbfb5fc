import { type Access, checkDelta, decideAccess } from '../../domain/access.ts'
import { badUserInput } from '../../domain/errors.ts'
import { MAX_BATCH } from '../../domain/limits.ts'
import type { AppCache } from '../../store/apps/app-cache.ts'
import type { Call } from '../call/call.ts'

export interface FeatureAccess extends Access {
  featureId: string
}

export async function canUseFeature(
  call: Call,
  userId: string,
  featureId: string,
  delta: number,
): Promise<FeatureAccess> {
  checkDelta(delta)
  const { usage, activity, apps } = call.service
  const { entitlement, used } = await usage.read({ caller: call, userId, featureId })
  const access = decideAccess(entitlement, used, delta)
  if (exists(access, apps, call.appId, featureId))
    activity.features.checked(call.appId, featureId, access.access)
  return { featureId, ...access }
}

/** An unknown user is noticed before an unknown feature. */
function exists({ reasonCode }: Access, apps: AppCache, appId: string, featureId: string): boolean {
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
