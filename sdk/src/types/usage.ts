/** How to record usage. ADD adds `delta` to the usage, SET sets the usage to `delta`. */
export type UsageAction = 'ADD' | 'SET'

/** Machine-readable reason for the result of a check. The first four grant access, the others deny it. */
export type ReasonCode =
  | 'GRANTED'
  | 'WITHIN_BUDGET'
  | 'OVERAGE'
  | 'UNLIMITED'
  | 'USER_NOT_FOUND'
  | 'FEATURE_NOT_FOUND'
  | 'NO_SUBSCRIPTION'
  | 'NOT_IN_PACKAGE'
  | 'DENIED'
  | 'LIMIT_EXCEEDED'

/** Usage and budget of a feature in one period. */
export interface Consumption {
  /** Allowance for the period; null if unlimited. */
  budget: number | null
  /** Usage in the period. */
  used: number
  /** Whether usage above the budget is allowed. */
  overageEnabled: boolean
  /** Most units above the budget; null if there is no such limit. Only with `includeSources`. */
  overageCap?: number | null
  /** Units held by live reservations, in all sources. Only with `includeSources`. */
  reserved?: number
  /** Units left in all sources and under all caps, without overage; null if unlimited. Only with `includeSources`. */
  remaining?: number | null
}

/** A balance that pays for usage of a feature. */
export interface UsageSource {
  /** Whether it is the plan or a credit. */
  kind: 'PLAN' | 'CREDIT'
  /** ID of the credit; null for the plan. */
  id: string | null
  /** Pool that the source belongs to; null for a source of the feature itself. */
  poolId: string | null
  /** Units of the source for one unit of the feature; 1 for a source of the feature itself. */
  cost: number
  /** Units left, without those that are reserved; null if unlimited. Those of a pool are units of the pool. */
  left: number | null
  /** Expiry of the credit or end of the plan's period (ISO 8601, UTC); null if there is none. */
  expiresAt: string | null
}

/** Result of a check. */
export interface CanUseFeatureData {
  /** ID of the feature. */
  featureId: string
  /** Whether the user can use the feature. */
  access: boolean
  /** Human-readable explanation of the result. */
  reason: string
  /** Machine-readable reason for the result. `FALLBACK` means that the service was unreachable. */
  reasonCode: ReasonCode | 'FALLBACK'
  /** Usage and budget; null for a binary feature and for a feature the user is not granted. */
  consumption: Consumption | null
  /** Sources with units left, in the order in which they are used. Only with `includeSources`. */
  sources?: UsageSource[]
  /**
   * Limit that denied the check: `PLAN`, or a cap such as `CAP DAY` or `CAP HOUR agent:42`; null if access is granted, or
   * denied for another reason. Only with `includeSources`.
   */
  deniedBy?: string | null
}

/** Result of a check by `Tollgate`. */
export interface Check extends CanUseFeatureData {
  /** Origin of the result: the service, the client's cache, or the configured fallback. */
  source: 'service' | 'cache' | 'fallback'
}

/** Usage in one period. */
export interface UsagePeriod {
  /** Start of the period (ISO 8601, UTC). */
  periodStart: string
  /** End of the period, exclusive (ISO 8601, UTC); null if the period does not end. */
  periodEnd: string | null
  /** Usage and budget. */
  consumption: Consumption
}

/** Length of one point of a usage series, in UTC. */
export type UsageBucket = 'HOUR' | 'DAY' | 'MONTH'

/** Recorded usage of a feature over time. */
export interface UsageSeries {
  /** Sum of all points. */
  total: number
  /** Usage before this time is incomplete (ISO 8601, UTC); null if all usage is included. */
  completeFrom: string | null
  /** One point per bucket, in order. `used` is negative if more was reverted than recorded. */
  points: { at: string; used: number }[]
}

/** Result of recording usage. */
export interface RecordedUsage {
  /** Whether the usage was recorded. */
  recorded: boolean
  /** Human-readable reason why the usage was not recorded; null if it was recorded. */
  reason: string | null
  /** Usage and budget after the call. */
  consumption: Consumption | null
}

/** Result of recording usage with `Tollgate`. */
export interface Recorded extends RecordedUsage {
  /** Whether the usage was queued because the service is unreachable. `recorded` is then false. */
  queued: boolean
}

/** Input of `revertUsage`. */
export interface RevertUsageInput {
  /** ID of the user. */
  userId: string
  /** ID of the feature. */
  featureId: string
  /** `idempotencyKey` of the event, or ID of a reservation that has ended. */
  revertOf: string
}

/** Input of `recordUsage`. */
export interface CreateUsageEventInput {
  /** ID of the user. */
  userId: string
  /** ID of the feature. */
  featureId: string
  /** Amount of usage. A negative value reverts usage. */
  delta: number
  /** Whether to add `delta` to the usage or set the usage to `delta`. @default 'ADD' */
  action?: UsageAction | undefined
  /** Key that identifies the event. Events with the same key are counted once. @default a new key for each call */
  idempotencyKey?: string | undefined
  /** Entities whose caps count the usage, as `type:id`, at most 4. @default none */
  entities?: string[] | undefined
}
