import type { JsonObject } from './result.ts'

/** BINARY: access or none. CONSUMABLE: a budget that is used up. */
export type FeatureType = 'BINARY' | 'CONSUMABLE'

/** A user can only be subscribed to a PUBLISHED package. */
export type PackageStatus = 'DRAFT' | 'PUBLISHED'

/** How often a budget resets. */
export type ResetPeriod = 'HOUR' | 'DAY' | 'WEEK' | 'MONTH' | 'YEAR' | 'NEVER'

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
