import { type Access, checkDelta, decideAccess } from '../../domain/access.ts'
import { badUserInput } from '../../domain/errors.ts'
import { MAX_BATCH } from '../../domain/limits.ts'
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
  const { standing, used } = await call.service.usage.read({ caller: call, userId, featureId })
  return { featureId, ...decideAccess(standing, used, delta) }
}

export async function canUseFeatures(
  call: Call,
  userId: string,
  featureIds: readonly string[],
): Promise<FeatureAccess[]> {
  if (featureIds.length > MAX_BATCH)
    throw badUserInput(`featureIds must name at most ${MAX_BATCH} features`, 'featureIds')
  return Promise.all(featureIds.map((featureId) => canUseFeature(call, userId, featureId, 1)))
}
