import { type Access, checkDelta, decideAccess } from '../domain/access.ts'
import { badUserInput } from '../domain/errors.ts'
import { MAX_BATCH } from '../domain/limits.ts'
import type { Call } from './call.ts'
import { standings } from './standings.ts'

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
  const [found] = await standings(call.service, call.service.pool, [{ caller: call, userId, featureId }])
  if (!found) throw new Error('a question was not answered')
  return { featureId, ...decideAccess(found.standing, found.used, delta) }
}

export async function canUseFeatures(
  call: Call,
  userId: string,
  featureIds: readonly string[],
): Promise<FeatureAccess[]> {
  if (featureIds.length > MAX_BATCH) throw badUserInput(`featureIds must name at most ${MAX_BATCH} features`)
  const found = await standings(
    call.service,
    call.service.pool,
    featureIds.map((featureId) => ({ caller: call, userId, featureId })),
  )
  return found.map(({ featureId, standing, used }) => ({ featureId, ...decideAccess(standing, used, 1) }))
}
