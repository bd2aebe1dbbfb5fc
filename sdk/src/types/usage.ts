/** ADD adds `delta` to the usage, SET sets it. */
export type UsageAction = 'ADD' | 'SET'

/** The reason of a check's answer: the first four allow, the others deny. */
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

/** How much of a budget is used. */
export interface Consumption {
  /** The allowance; null: unlimited. */
  budget: number | null
  /** What was used in the current period. */
  used: number
  /** True: more than the budget may be used. */
  overageEnabled: boolean
}

/** The answer of a check. */
export interface CanUseFeatureData {
  /** The feature that was asked about. */
  featureId: string
  /** Whether the user can use it. */
  access: boolean
  /** An explanation for people. */
  reason: string
  /** The same for programs. `FALLBACK`: the service was unreachable. */
  reasonCode: ReasonCode | 'FALLBACK'
  /** Null for a binary feature, and where nothing is granted. */
  consumption: Consumption | null
}

/** The answer of a check by the backend's client. */
export interface Check extends CanUseFeatureData {
  /** Who decided: the service now, the service a while ago, or the configured fallback. */
  source: 'service' | 'cache' | 'fallback'
}

/** The usage of one period. */
export interface UsagePeriod {
  /** ISO 8601, UTC. */
  periodStart: string
  /** ISO 8601, UTC, exclusive; null: it never ends. */
  periodEnd: string | null
  /** How much was used of how much. */
  consumption: Consumption
}

/** The outcome of recording usage. */
export interface RecordedUsage {
  /** False: nothing was counted. */
  recorded: boolean
  /** Null when recorded. */
  reason: string | null
  /** After the call. */
  consumption: Consumption | null
}

/** The outcome of recording usage through the backend's client. */
export interface Recorded extends RecordedUsage {
  /** True: the service is unreachable and the usage is queued; `recorded` is false. */
  queued: boolean
}

/** Usage to record. */
export interface CreateUsageEventInput {
  /** Who used it. */
  userId: string
  /** What was used. */
  featureId: string
  /** How much. Negative: reverts usage. */
  delta: number
  /** `SET`: sets the usage to `delta`. @default 'ADD' */
  action?: UsageAction | undefined
  /** The same key is counted once, in whatever request. @default one for each call */
  idempotencyKey?: string | undefined
}
