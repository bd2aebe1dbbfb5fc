import type { CallError } from './errors.ts'

/** What every call answers: it never throws. Where there is an `error`, its `code` says which. */
export type Result<T> = { data: T; error: null } | { data: null; error: CallError }

/** A free-form object; the service keeps up to 16 KiB of it. */
export type JsonObject = { [key: string]: unknown }

/** BINARY: access or none. CONSUMABLE: a budget that is used up. */
export type FeatureType = 'BINARY' | 'CONSUMABLE'
/** A user can be subscribed to a PUBLISHED package only. */
export type PackageStatus = 'DRAFT' | 'PUBLISHED'
/** A subscription that was CANCELLED is never revived. */
export type SubscriptionStatus = 'ACTIVE' | 'CANCELLED'
/** How often a budget starts anew. */
export type ResetPeriod = 'HOUR' | 'DAY' | 'WEEK' | 'MONTH' | 'YEAR' | 'NEVER'
/** ADD counts on, SET makes `delta` the usage. */
export type UsageAction = 'ADD' | 'SET'
/** Why a check says what it says: the first four allow, the others do not. */
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

/** Something that a user may use. */
export interface Feature {
  /** Its id, chosen when it was created. */
  id: string
  /** What people call it. */
  name: string
  /** Whether it is counted. */
  type: FeatureType
  /** What one unit is called. */
  unitLabel: string | null
  /** What several units are called. */
  unitLabelPlural: string | null
  /** Whatever you keep with it. */
  metadata: JsonObject
  /** The packages that include it. */
  packages: Package[]
}

/** What a package costs at a billing provider. */
export interface Price {
  /** The price's id at the billing provider. */
  id: string
  /** The billing provider. */
  provider: string
  /** In minor units of the currency. */
  amount: number
  /** Decimal, with two places. */
  displayAmount: string
  /** The currency's code, in lower case. */
  currency: string
  /** Such as `month`; null: paid once. */
  interval: string | null
}

/** Features with an allowance for each, and prices. */
export interface Package {
  /** Its id, chosen when it was created. */
  id: string
  /** What people call it. */
  name: string
  /** Whether users can be subscribed to it. */
  status: PackageStatus
  /** Whatever you keep with it. */
  metadata: JsonObject
  /** What it costs, at each provider. */
  prices: Price[]
  /** False: a base plan. True: an add-on. */
  isAddon: boolean
  /** ISO 8601, UTC, with milliseconds. */
  updatedAt: string
}

/** A package asked for with `includeFeatures: true`. */
export interface PackageWithFeatures extends Package {
  /** What it includes, and how much of each. */
  features: PackageFeature[]
}

/** A feature as a package includes it. */
export interface PackageFeature {
  /** The feature's id. */
  id: string
  /** The feature's name. */
  name: string
  /** The allowance in digits; null for a binary or unlimited feature. */
  limit: string | null
  /** Whether it is counted. */
  type: FeatureType
  /** What one unit is called. */
  unitLabel: string | null
  /** What several units are called. */
  unitLabelPlural: string | null
  /** Whatever you keep with the feature. */
  metadata: JsonObject
}

/** An end user of the application. */
export interface User {
  /** Their id, chosen by you. */
  id: string
  /** Their id at the billing provider. */
  billingId: string | null
  /** Their name. */
  name: string | null
  /** Their email address. */
  email: string | null
  /** Whatever you keep with them. */
  metadata: JsonObject
}

/** What ties a user to a package. */
export interface PackageSubscription {
  /** Its id, chosen by the service. */
  id: string
  /** Whose it is. */
  userId: string
  /** ACTIVE until it ends. */
  status: SubscriptionStatus
  /** What they are subscribed to. */
  package: Package
  /** Whatever is kept with it. */
  metadata: JsonObject
  /** When it began; ISO 8601, UTC. */
  startedAt: string
  /** It ends then, and is ACTIVE until then. */
  cancelAt: string | null
  /** When it ended; null: it has not. */
  cancelledAt: string | null
}

/** How much of a budget is used. */
export interface Consumption {
  /** The allowance; null: unlimited. */
  budget: number | null
  /** What was used in the current period. */
  used: number
  /** True: more than the budget may be used. */
  overageEnabled: boolean
}

/** What a check answers. */
export interface CanUseFeatureData {
  /** The feature that was asked about. */
  featureId: string
  /** Whether the user can use it. */
  access: boolean
  /** The answer explained, for people. */
  reason: string
  /** The same, for programs. `FALLBACK`: the service could not be asked. */
  reasonCode: ReasonCode | 'FALLBACK'
  /** Null for a binary feature, and where nothing is granted. */
  consumption: Consumption | null
}

/** What a check of the backend's client answers. */
export interface Check extends CanUseFeatureData {
  /** Who decided: the service now, the service a while ago, or the declared fallback. */
  source: 'service' | 'cache' | 'fallback'
}

/** The usage of one period. */
export interface UsagePeriod {
  /** ISO 8601, UTC. */
  periodStart: string
  /** ISO 8601, UTC, and not in the period any more; null: it never ends. */
  periodEnd: string | null
  /** How much was used of how much. */
  consumption: Consumption
}

/** What became of usage. */
export interface RecordedUsage {
  /** False: nothing was counted. */
  recorded: boolean
  /** Null when recorded. */
  reason: string | null
  /** As it stands after the call. */
  consumption: Consumption | null
}

/** What became of usage that was recorded through the backend's client. */
export interface Recorded extends RecordedUsage {
  /** True: the service is unreachable, and the usage waits in the queue. `recorded` is false until then. */
  queued: boolean
}

/** For the page of one user. */
export interface GeneratedUserToken {
  /** What `TollgateClient` takes as its `token`. */
  token: string
}

/** A new feature. */
export interface CreateFeatureInput {
  /** 1 to 255 characters, unique among the app's features. */
  id: string
  /** What people call it. */
  name: string
  /** Whether it is counted. */
  type: FeatureType
  /** What one unit is called. @default null */
  unitLabel?: string | null | undefined
  /** What several units are called. @default null */
  unitLabelPlural?: string | null | undefined
  /** Whatever you keep with it. @default {} */
  metadata?: JsonObject | null | undefined
}

/** What to change about a feature; the rest stays. */
export interface UpdateFeatureInput {
  /** What people call it. @default as before */
  name?: string | undefined
  /** What one unit is called. @default as before */
  unitLabel?: string | null | undefined
  /** What several units are called. @default as before */
  unitLabelPlural?: string | null | undefined
  /** Replaced whole. @default as before */
  metadata?: JsonObject | null | undefined
}

/** How much of a feature a package grants. */
export interface Entitlement {
  /** The allowance. @default unlimited */
  limit?: number | null | undefined
  /** How often the usage starts at 0 again. @default 'MONTH' */
  resetPeriod?: ResetPeriod | undefined
  /** True: more than the limit may be used. @default false */
  overageEnabled?: boolean | undefined
}

/** A new package, a draft until it is published in the dashboard. */
export interface CreatePackageInput {
  /** 1 to 255 characters, unique among the app's packages. */
  id: string
  /** What people call it. */
  name: string
  /** True: an add-on, beside a base plan. @default false */
  isAddon?: boolean | undefined
  /** Whatever you keep with it. @default {} */
  metadata?: JsonObject | null | undefined
  /** What it includes, by the features' ids, and how much of each. @default [] */
  features?: { id: string; entitlement?: Entitlement | undefined }[] | undefined
}

/** What to change about a package: everything else is changed in the dashboard. */
export interface UpdatePackageInput {
  /** Replaced whole. @default as before */
  metadata?: JsonObject | null | undefined
}

/** A new user. */
export interface CreateUserInput {
  /** 1 to 255 characters, unique among the app's users. */
  id: string
  /** Their id at the billing provider. @default null */
  billingId?: string | null | undefined
  /** Their name. @default null */
  name?: string | null | undefined
  /** Their email address. @default null */
  email?: string | null | undefined
  /** Whatever you keep with them. @default {} */
  metadata?: JsonObject | null | undefined
}

/** What to change about a user; the rest stays. */
export interface UpdateUserInput {
  /** The user's new id. @default as before */
  id?: string | undefined
  /** Their name. @default as before */
  name?: string | null | undefined
  /** Replaced whole. @default as before */
  metadata?: JsonObject | null | undefined
}

/** Usage to record. */
export interface CreateUsageEventInput {
  /** Who used it. */
  userId: string
  /** What was used. */
  featureId: string
  /** How much. Negative: takes usage back. */
  delta: number
  /** `SET`: the usage becomes `delta`. @default 'ADD' */
  action?: UsageAction | undefined
  /** The same key is counted once, whichever request it comes in. @default one for each call */
  idempotencyKey?: string | undefined
}
