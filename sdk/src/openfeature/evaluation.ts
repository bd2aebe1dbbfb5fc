import type { CanUseFeatureData, Check } from '../types.ts'

type Asked = CanUseFeatureData & Partial<Pick<Check, 'source'>>

/** OpenFeature's error codes of a failed evaluation. */
export type Problem = 'FLAG_NOT_FOUND' | 'TYPE_MISMATCH' | 'GENERAL'

export interface Evaluated<Value> {
  value: Value
  reason: string
  /** the service's reason code */
  variant: string
  flagMetadata: Record<string, string | number | boolean>
}

export type Evaluation<Value> = Evaluated<Value> | { problem: Problem; message: string }

/** A feature as a boolean flag: whether the user has access. */
export function accessOf(check: Asked): Evaluation<boolean> {
  return notFound(check) ?? { value: check.access, ...detailsOf(check) }
}

/** A feature as a number: the remaining budget, at least 0; Infinity if unlimited. */
export function remainderOf(check: Asked): Evaluation<number> {
  const missing = notFound(check)
  if (missing) return missing
  const { consumption, access, reasonCode, featureId } = check
  if (consumption === null && reasonCode === 'FALLBACK')
    return {
      problem: 'GENERAL',
      message: `The service is unreachable: the remaining budget of ${featureId} is unknown`,
    }
  if (consumption === null && access)
    return { problem: 'TYPE_MISMATCH', message: `${featureId} is a binary feature; evaluate it as a boolean` }
  return { value: consumption ? left(consumption) : 0, ...detailsOf(check) }
}

export const onlyBooleansAndNumbers = (featureId: string): { problem: Problem; message: string } => ({
  problem: 'TYPE_MISMATCH',
  message: `${featureId} can only be evaluated as a boolean or a number`,
})

const left = ({ budget, used }: { budget: number | null; used: number }): number =>
  budget === null ? Number.POSITIVE_INFINITY : Math.max(0, budget - used)

const notFound = ({ reasonCode, reason }: Asked): { problem: Problem; message: string } | null =>
  reasonCode === 'FEATURE_NOT_FOUND' ? { problem: 'FLAG_NOT_FOUND', message: reason } : null

const REASONS = { service: 'TARGETING_MATCH', cache: 'CACHED', fallback: 'STALE' }

function detailsOf({ reason, reasonCode, consumption, source = 'service' }: Asked) {
  const { budget = null, used, overageEnabled } = consumption ?? {}
  return {
    reason: REASONS[source],
    variant: reasonCode,
    flagMetadata: {
      explanation: reason,
      ...(used !== undefined && { used }),
      ...(overageEnabled !== undefined && { overageEnabled }),
      ...(budget !== null && { budget }),
    },
  }
}
