import type { CallError } from './errors.ts'

/** The result of every call, which never throws. If there is an `error`, its `code` says which. */
export type Result<T> = { data: T; error: null } | { data: null; error: CallError }

/** A free-form object of up to 16 KiB. */
export type JsonObject = { [key: string]: unknown }

/** BINARY: access or none. CONSUMABLE: a budget that is used up. */
export type FeatureType = 'BINARY' | 'CONSUMABLE'
/** A user can only be subscribed to a PUBLISHED package. */
export type PackageStatus = 'DRAFT' | 'PUBLISHED'
/** A subscription that was CANCELLED is never revived. */
export type SubscriptionStatus = 'ACTIVE' | 'CANCELLED'
/** BEST: now, or at the end of the period if the new plan is cheaper. */
export type ChangeTime = 'NOW' | 'PERIOD_END' | 'BEST'
/** How often a budget resets. */
export type ResetPeriod = 'HOUR' | 'DAY' | 'WEEK' | 'MONTH' | 'YEAR' | 'NEVER'
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

/**
 * REPLACE: this limit instead of the packages' one. ADD: this much more. UNLIMITED: no limit. GRANT: the feature,
 * without a limit. DENY: no access. Only GRANT and DENY are for binary features.
 */
export type OverrideMode = 'REPLACE' | 'ADD' | 'UNLIMITED' | 'GRANT' | 'DENY'

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
  /** Whether it can be added to no other package; those who have it keep it. */
  archived: boolean
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
  /** Such as `month`; null: a one-off price. */
  interval: string | null
}

/** A set of features with an allowance for each, and prices. */
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
  /** Whether it takes no new subscribers; those who have it keep it. */
  archived: boolean
}

/** A package requested with `includeFeatures: true`. */
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

/** Links a user to a package. */
export interface PackageSubscription {
  /** Its id, chosen by the service. */
  id: string
  /** The user's id. */
  userId: string
  /** ACTIVE until it ends. */
  status: SubscriptionStatus
  /** What they are subscribed to. */
  package: Package
  /** Whatever is kept with it. */
  metadata: JsonObject
  /** When it started; ISO 8601, UTC. */
  startedAt: string
  /** It ends then, and is ACTIVE until then. */
  cancelAt: string | null
  /** When it ended; null: it has not. */
  cancelledAt: string | null
  /** It is a trial until then; null: it is none. */
  trialEndsAt: string | null
  /** Multiplies the limits of the package. */
  quantity: number
  /** The version of the package that applies now. */
  packageVersion: number
  /** What it is to be changed to, and when. */
  scheduled: ScheduledChange | null
  /** The payments for it that were refunded or disputed, newest first. In answers of `subscription` and `subscriptions`. */
  reversals?: Payment[]
}

/** A payment for a subscription, in minor units. */
export interface Payment {
  /** Its id at the billing provider. */
  paymentRef: string
  /** What was paid. */
  amount: number
  /** What was refunded of it. */
  refunded: number
  /** ISO 4217, in lower case. */
  currency: string
  /** When it was paid; ISO 8601, UTC. */
  paidAt: string
  /** The start of what it paid for; null: a one-off purchase. */
  periodStart: string | null
  /** The end of what it paid for; null: a one-off purchase. */
  periodEnd: string | null
  /** When it was last refunded; null: nothing was. */
  refundedAt: string | null
  /** The newest dispute; null: there is none. */
  dispute: Dispute | null
}

/** A payer's objection to a payment, at their bank. */
export interface Dispute {
  /** INQUIRY: the bank only asks. OPEN: the bank has the money. CLOSED: over without a dispute. */
  state: 'INQUIRY' | 'OPEN' | 'WON' | 'LOST' | 'CLOSED'
  /** In the provider's terms. */
  reason: string | null
  /** ISO 8601, UTC. */
  openedAt: string
}

/** A move of those who have one version of a package to another. */
export interface Migration {
  /** Its id, chosen by the service; null: a dry run. */
  id: string | null
  /** The package's id. */
  packageId: string
  /** Those who had this version are moved. */
  fromVersion: number
  /** The version they get. */
  toVersion: number
  /** NOW, or each at the end of their period. */
  when: ChangeTime
  /** When it was decided; ISO 8601, UTC. */
  at: string
  /** SCHEDULED while some are still to be moved. */
  status: 'DRY_RUN' | 'SCHEDULED' | 'DONE' | 'UNDONE'
  /** How many live subscriptions it moves in all. */
  subscriptions: number
  /** How many of them have been moved so far. */
  moved: number
  /** How many of them gain access to at least one feature. */
  gains: number
  /** How many of them lose access to at least one feature. */
  loses: number
  /** How many of them go into overage, or further into it, with at least one feature. */
  moreOverage: number
  /** How many of them come out of overage, or have less of it, with at least one feature. */
  lessOverage: number
  /** The same for each feature that differs between the two versions. */
  features: MigratedFeature[]
  /** When it was undone; null: it was not. */
  undoneAt: string | null
}

/** What a migration does to one feature. */
export interface MigratedFeature {
  /** The feature's id. */
  featureId: string
  /** How many subscribers gain access to it. */
  gains: number
  /** How many subscribers lose access to it. */
  loses: number
  /** How many subscribers go into overage with it, or further into it. */
  moreOverage: number
  /** How many subscribers come out of overage with it, or have less of it. */
  lessOverage: number
}

/** A change that is to come. */
export interface ScheduledChange {
  /** The package that takes over. */
  packageId: string
  /** When it does; ISO 8601, UTC. */
  at: string
}

/** An exception for one user and feature, which wins over their packages. */
export interface Override {
  /** The user's id. */
  userId: string
  /** The feature's id. */
  featureId: string
  /** What it does. */
  mode: OverrideMode
  /** For REPLACE and ADD. */
  limit: number | null
  /** Whether more than the limit may be used; null: as the packages say. */
  overageEnabled: boolean | null
  /** How often the usage resets where no package of the user says. */
  resetPeriod: ResetPeriod
  /** Periods are counted from here while the user has no subscription. ISO 8601, UTC. */
  startedAt: string
  /** It ends then, by itself; null: no end. ISO 8601, UTC. */
  expiresAt: string | null
  /** A note for your own people; users never see it. */
  reason: string | null
}

/** What a change does to one more use of a feature. */
export interface FeatureChange {
  /** The feature's id. */
  featureId: string
  /** What people call it. */
  name: string
  /** What a check says before it. */
  before: CanUseFeatureData
  /** What a check says after it. */
  after: CanUseFeatureData
}

/** What a change of plan does, or would do. */
export interface SubscriptionChange {
  /** When it takes effect; ISO 8601, UTC. */
  at: string
  /** Whether that is now. */
  now: boolean
  /** The plan that ends. */
  from: Package
  /** The plan that takes its place. */
  to: Package
  /** What can be used after it and not before. */
  gains: FeatureChange[]
  /** What can be used before it and not after. */
  loses: FeatureChange[]
  /** What goes into overage by it, or further into it. */
  moreOverage: FeatureChange[]
  /** What comes out of overage by it, or has less of it. */
  lessOverage: FeatureChange[]
  /** Minor units given back; null: the plans have no prices to compare. */
  credit: number | null
  /** Minor units charged. */
  charge: number | null
  /** Their currency. */
  currency: string | null
  /** The provider that charges it; `tollgate`: worked out from the prices, and charged by nobody. */
  quotedBy: string
  /** How credit and charge were worked out. */
  formula: string
  /** The user's base plan after the call; null for a dry run. */
  subscription: PackageSubscription | null
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

/** A user who no longer exists. */
export interface DeletedUser {
  /** The id, which is free again. */
  id: string
}

/** All that is stored about a user, or a part of it. */
export interface UserExport extends JsonObject {
  /** Not null: there is more, to be asked for with this as `after`. */
  next: string | null
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

/** Changes to a feature; absent fields stay as they are. */
export interface UpdateFeatureInput {
  /** What people call it. @default unchanged */
  name?: string | undefined
  /** What one unit is called. @default unchanged */
  unitLabel?: string | null | undefined
  /** What several units are called. @default unchanged */
  unitLabelPlural?: string | null | undefined
  /** Replaced as a whole. @default unchanged */
  metadata?: JsonObject | null | undefined
}

/** How much of a feature a package grants. */
export interface Entitlement {
  /** The allowance. @default unlimited */
  limit?: number | null | undefined
  /** How often the usage resets to 0. @default 'MONTH' */
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

/** Changes to a package; everything else is changed in the dashboard. */
export interface UpdatePackageInput {
  /** Replaced as a whole. @default unchanged */
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

/** Changes to a user; absent fields stay as they are. */
export interface UpdateUserInput {
  /** The user's new id. @default unchanged */
  id?: string | undefined
  /** Their id at the billing provider; refused while it is being charged. @default unchanged */
  billingId?: string | null | undefined
  /** Their name. @default unchanged */
  name?: string | null | undefined
  /** Their email address. @default unchanged */
  email?: string | null | undefined
  /** Replaced as a whole. @default unchanged */
  metadata?: JsonObject | null | undefined
}

/** An exception to make. */
export interface OverrideInput {
  /** For whom. */
  userId: string
  /** For which feature. */
  featureId: string
  /** What it does. */
  mode: OverrideMode
  /** For REPLACE and ADD, which need it. @default null */
  limit?: number | null | undefined
  /** For REPLACE and ADD: whether more than the limit may be used. @default as the packages say */
  overageEnabled?: boolean | null | undefined
  /** How often the usage resets where no package of the user says. @default as before, or 'MONTH' */
  resetPeriod?: ResetPeriod | null | undefined
  /** When it ends; ISO 8601, in the future. @default no end */
  expiresAt?: string | null | undefined
  /** A note for your own people; users never see it. @default null */
  reason?: string | null | undefined
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
