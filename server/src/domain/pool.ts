import { badUserInput, quote } from './errors.ts'
import type { Cost, FeatureType } from './feature.ts'
import { MAX_COSTS, MAX_POOL_COST } from './limits.ts'

interface Listed {
  id: string
  type: FeatureType
  costs?: readonly Cost[]
}

/**
 * Rejects costs that the catalogue cannot have: a pool does not draw on a pool, and a feature draws on at most one. So there
 * are no cycles. `features` are those of the app, perhaps with an earlier version of the pool.
 */
export function checkCosts(pool: Listed, features: ReadonlyMap<string, Listed>): void {
  const { id, type, costs = [] } = pool
  if (costs.length === 0) return
  const refuse = (why: string) => badUserInput(why, 'costs')
  if (type === 'BINARY') throw refuse(`Feature ${quote(id)} is BINARY and cannot be a pool`)
  if (costs.length > MAX_COSTS) throw refuse(`costs must contain at most ${MAX_COSTS} features`)
  const others = [...features.values()].filter((feature) => feature.id !== id)
  const above = others.find((feature) => feature.costs?.some(({ featureId }) => featureId === id))
  if (above)
    throw refuse(`Feature ${quote(id)} draws on the pool ${quote(above.id)} and cannot be a pool itself`)
  const seen = new Set<string>()
  for (const { featureId, cost } of costs) {
    if (!Number.isInteger(cost) || cost < 1 || cost > MAX_POOL_COST)
      throw refuse(`cost must be an integer from 1 to ${MAX_POOL_COST}: ${quote(featureId)}`)
    if (featureId === id) throw refuse(`Feature ${quote(id)} cannot draw on itself`)
    const feature = features.get(featureId)
    if (!feature) throw refuse(`Feature not found: ${quote(featureId)}`)
    if (feature.type === 'BINARY')
      throw refuse(`Feature ${quote(featureId)} is BINARY and cannot draw on a pool`)
    if ((feature.costs ?? []).length > 0)
      throw refuse(`Feature ${quote(featureId)} is a pool and cannot draw on another`)
    const other = others.find((one) => one.costs?.some((cost) => cost.featureId === featureId))
    if (other) throw refuse(`Feature ${quote(featureId)} already draws on the pool ${quote(other.id)}`)
    if (seen.has(featureId)) throw refuse(`Feature ${quote(featureId)} is listed twice`)
    seen.add(featureId)
  }
}

/** The pool that each feature draws on. */
export function drawsOf(features: Iterable<Listed>): Map<string, Cost> {
  const draws = new Map<string, Cost>()
  for (const { id, costs = [] } of features)
    for (const { featureId, cost } of costs) draws.set(featureId, { featureId: id, cost })
  return draws
}
