import type { ChangeTime, PackageStatus } from './types.ts'

/** Identifies one object. */
export interface ById {
  /** Its id. */
  id: string
}

/** Pages through a list; without them the whole list is returned. */
export interface Paging {
  /** The maximum number of entries. @default all */
  first?: number | undefined
  /** Starts after the entry with this id. @default from the start */
  after?: string | undefined
}

/** The arguments of `exportUser`. */
export interface ExportUserArguments extends ById {
  /** The `next` of the part before. @default the first part */
  after?: string | undefined
}

/** Names a user. */
export interface ByUser {
  /** The user's id. */
  userId: string
}

/** Names a user and a feature. */
export interface ByUserAndFeature extends ByUser {
  /** The feature's id. */
  featureId: string
}

/** What `canUseFeature` takes. */
export interface CanUseFeatureArguments extends ByUserAndFeature {
  /** How much the user wants to use. @default 1 */
  delta?: number | undefined
}

/** What `canUseFeatures` takes. */
export interface CanUseFeaturesArguments extends ByUser {
  /** The features' ids, at most 100. */
  featureIds: readonly string[]
}

/** Whether packages come with their features. */
export interface IncludeFeatures {
  /** True: with `features`. @default false */
  includeFeatures?: boolean | undefined
}

/** Which packages. */
export interface PackagesArguments extends IncludeFeatures {
  /** Packages with this status. @default 'PUBLISHED' */
  status?: PackageStatus | undefined
}

/** Which subscriptions. */
export interface SubscriptionsArguments {
  /** Subscriptions of this user. @default all */
  userId?: string | undefined
}

/** What `subscribe` takes. */
export interface SubscribeArguments extends ByUser {
  /** At most one base plan, and any add-ons. */
  packageIds: readonly string[]
  /** How many of each of `packageIds`: what its limits are multiplied by. @default 1 each */
  quantities?: readonly number[] | undefined
}

/** The arguments of `changeSubscription`. */
export interface ChangeArguments extends ByUser {
  /** The base plan to change to. */
  packageId: string
  /** When to change. @default 'BEST' */
  when?: ChangeTime | undefined
  /** How many of it. @default as many as now */
  quantity?: number | undefined
  /** True: only say what would happen. @default false */
  dryRun?: boolean | undefined
}

/** The arguments of `startTrial`: either `days` or `until`. */
export interface TrialArguments extends ByUser {
  /** The package to try. */
  packageId: string
  /** How long, in days of 24 hours. @default `until` says it */
  days?: number | undefined
  /** Until when; ISO 8601. @default `days` says it */
  until?: string | undefined
  /** The package that follows. @default nothing */
  then?: string | undefined
  /** True: even if the user has tried it before. @default false */
  again?: boolean | undefined
}

/** The arguments of `extendTrial`. */
export interface ExtendTrialArguments extends ById {
  /** Its new end, later than the present one; ISO 8601. */
  until: string
}

/** The arguments of `cancelSubscription`. */
export interface CancelArguments extends ById {
  /** Whether it stays active until its period ends. @default true */
  atPeriodEnd?: boolean | undefined
}

/** The arguments of `migrateSubscriptions`. */
export interface MigrateArguments {
  /** The package's id. */
  packageId: string
  /** Those who have this version are moved. */
  fromVersion: number
  /** The version they get. */
  toVersion: number
  /** Whether they are moved now or each at the end of their period. BEST is NOW. @default 'NOW' */
  when?: ChangeTime | undefined
  /** Only counts who would be moved, gain and lose. @default false */
  dryRun?: boolean | undefined
}

/** The arguments of an update. */
export interface Update<Input> extends ById {
  /** What to change. */
  input: Input
}
