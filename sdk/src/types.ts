import type { TollgateError } from './errors.ts'

/** What every call answers: it never throws. */
export type Result<T> = { data: T; error: null } | { data: null; error: TollgateError }

export type JsonObject = { [key: string]: unknown }

export type FeatureType = 'BINARY' | 'CONSUMABLE'
export type PackageStatus = 'DRAFT' | 'PUBLISHED'
export type SubscriptionStatus = 'ACTIVE' | 'CANCELLED'
export type ResetPeriod = 'HOUR' | 'DAY' | 'WEEK' | 'MONTH' | 'YEAR' | 'NEVER'
export type UsageAction = 'ADD' | 'SET'
export type ReasonCode =
  | 'GRANTED'
  | 'WITHIN_BUDGET'
  | 'OVERAGE'
  | 'UNLIMITED'
  | 'USER_NOT_FOUND'
  | 'FEATURE_NOT_FOUND'
  | 'NO_SUBSCRIPTION'
  | 'NOT_IN_PACKAGE'
  | 'LIMIT_EXCEEDED'

export interface Feature {
  id: string
  name: string
  type: FeatureType
  unitLabel: string | null
  unitLabelPlural: string | null
  metadata: JsonObject
  /** The packages that include it. */
  packages: Package[]
}

export interface Price {
  /** The price's id at the billing provider. */
  id: string
  provider: string
  /** In minor units of the currency. */
  amount: number
  /** Decimal, with two places. */
  displayAmount: string
  currency: string
  /** Null: paid once. */
  interval: string | null
}

export interface Package {
  id: string
  name: string
  status: PackageStatus
  metadata: JsonObject
  prices: Price[]
  /** False: a base plan. True: an add-on. */
  isAddon: boolean
  /** ISO 8601, UTC, with milliseconds. */
  updatedAt: string
}

/** A package asked for with `includeFeatures: true`. */
export interface PackageWithFeatures extends Package {
  features: PackageFeature[]
}

export interface PackageFeature {
  id: string
  name: string
  /** The allowance in digits; null for a binary or unlimited feature. */
  limit: string | null
  type: FeatureType
  unitLabel: string | null
  unitLabelPlural: string | null
  metadata: JsonObject
}

export interface User {
  id: string
  billingId: string | null
  name: string | null
  email: string | null
  metadata: JsonObject
}

export interface PackageSubscription {
  id: string
  userId: string
  status: SubscriptionStatus
  package: Package
  metadata: JsonObject
  startedAt: string
  /** It ends then, and is ACTIVE until then. */
  cancelAt: string | null
  cancelledAt: string | null
}

export interface Consumption {
  /** The allowance; null: unlimited. */
  budget: number | null
  used: number
  overageEnabled: boolean
}

export interface CanUseFeatureData {
  featureId: string
  access: boolean
  /** The answer explained, for people. */
  reason: string
  /** The same, for programs. `FALLBACK`: the service could not be asked. */
  reasonCode: ReasonCode | 'FALLBACK'
  /** Null for a binary feature, and where nothing is granted. */
  consumption: Consumption | null
}

export interface Check extends CanUseFeatureData {
  /** Who decided: the service now, the service a while ago, or the declared fallback. */
  source: 'service' | 'cache' | 'fallback'
}

export interface UsagePeriod {
  periodStart: string
  /** Null: it never ends. */
  periodEnd: string | null
  consumption: Consumption
}

export interface RecordedUsage {
  recorded: boolean
  /** Null when recorded. */
  reason: string | null
  /** As it stands after the call. */
  consumption: Consumption | null
}

export interface Recorded extends RecordedUsage {
  /** True: the service is unreachable, and the usage waits in the queue. `recorded` is false until then. */
  queued: boolean
}

export interface GeneratedUserToken {
  token: string
}

export interface CreateFeatureInput {
  id: string
  name: string
  type: FeatureType
  unitLabel?: string | null | undefined
  unitLabelPlural?: string | null | undefined
  /** @default {} */
  metadata?: JsonObject | null | undefined
}

export interface UpdateFeatureInput {
  name?: string | undefined
  unitLabel?: string | null | undefined
  unitLabelPlural?: string | null | undefined
  metadata?: JsonObject | null | undefined
}

export interface Entitlement {
  /** The allowance. @default unlimited */
  limit?: number | null | undefined
  /** @default 'MONTH' */
  resetPeriod?: ResetPeriod | undefined
  /** @default false */
  overageEnabled?: boolean | undefined
}

export interface CreatePackageInput {
  id: string
  name: string
  /** @default false */
  isAddon?: boolean | undefined
  /** @default {} */
  metadata?: JsonObject | null | undefined
  features?: { id: string; entitlement?: Entitlement | undefined }[] | undefined
}

export interface UpdatePackageInput {
  metadata?: JsonObject | null | undefined
}

export interface CreateUserInput {
  id: string
  billingId?: string | null | undefined
  name?: string | null | undefined
  email?: string | null | undefined
  /** @default {} */
  metadata?: JsonObject | null | undefined
}

export interface UpdateUserInput {
  /** The user's new id. */
  id?: string | undefined
  name?: string | null | undefined
  metadata?: JsonObject | null | undefined
}

export interface CreateUsageEventInput {
  userId: string
  featureId: string
  /** Negative: takes usage back. */
  delta: number
  /** `SET`: the usage becomes `delta`. @default 'ADD' */
  action?: UsageAction | undefined
  /** The same key is counted once, whichever request it comes in. @default one for each call */
  idempotencyKey?: string | undefined
}

/** Pages through a list; without them the whole list comes. */
export interface Paging {
  /** At most so many. @default all */
  first?: number | undefined
  /** Those after the one with this id. @default from the start */
  after?: string | undefined
}
