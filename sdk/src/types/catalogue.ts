import type { JsonObject } from './result.ts'

/** Type of a feature. BINARY: access or no access. CONSUMABLE: a budget that is used up. */
export type FeatureType = 'BINARY' | 'CONSUMABLE'

/** Status of a package. Users can only be subscribed to a PUBLISHED package. */
export type PackageStatus = 'DRAFT' | 'PUBLISHED'

/** Period after which usage resets. */
export type ResetPeriod = 'HOUR' | 'DAY' | 'WEEK' | 'MONTH' | 'YEAR' | 'NEVER'

/** A feature that users can be granted. */
export interface Feature {
  /** ID set at creation. */
  id: string
  /** Display name. */
  name: string
  /** Type of the feature. */
  type: FeatureType
  /** Singular unit name. */
  unitLabel: string | null
  /** Plural unit name. */
  unitLabelPlural: string | null
  /** Custom data. */
  metadata: JsonObject
  /** Percentages of the budget at which the event `usage.threshold_reached` is published. */
  thresholds: number[]
  /** Features that draw on this one as a pool, with what a unit of each costs. */
  costs: Cost[]
  /** Packages that include the feature. */
  packages: Package[]
  /** Whether the feature can no longer be added to packages. Packages that include it are not affected. */
  archived: boolean
}

/** Price of a package at a billing provider. */
export interface Price {
  /** ID of the price at the billing provider. */
  id: string
  /** Name of the billing provider. */
  provider: string
  /** Amount in minor units of the currency. */
  amount: number
  /** Amount as a decimal with two places. */
  displayAmount: string
  /** ISO 4217 currency code in lower case. */
  currency: string
  /** Billing interval, such as `month`; null for a one-off price. */
  interval: string | null
}

/** A set of features with an allowance for each, and with prices. */
export interface Package {
  /** ID set at creation. */
  id: string
  /** Display name. */
  name: string
  /** Status of the package. */
  status: PackageStatus
  /** Custom data. */
  metadata: JsonObject
  /** Prices at the billing providers. */
  prices: Price[]
  /** Whether the package is an add-on. Otherwise it is a base plan. */
  isAddon: boolean
  /** Time of the last change (ISO 8601, UTC, with milliseconds). */
  updatedAt: string
  /** Whether the package is closed to new subscriptions. Existing subscriptions are not affected. */
  archived: boolean
}

/** A package requested with `includeFeatures: true`. */
export interface PackageWithFeatures extends Package {
  /** Features of the package, with their allowances. */
  features: PackageFeature[]
}

/** A feature of a package. */
export interface PackageFeature {
  /** ID of the feature. */
  id: string
  /** Name of the feature. */
  name: string
  /** Allowance in decimal digits; null for binary and unlimited features. */
  limit: string | null
  /** Type of the feature. */
  type: FeatureType
  /** Singular unit name. */
  unitLabel: string | null
  /** Plural unit name. */
  unitLabelPlural: string | null
  /** Custom data of the feature. */
  metadata: JsonObject
}

/** Input of `createFeature`. */
export interface CreateFeatureInput {
  /** ID of 1 to 255 characters, unique among the features of the app. */
  id: string
  /** Display name. */
  name: string
  /** Type of the feature. */
  type: FeatureType
  /** Singular unit name. @default null */
  unitLabel?: string | null | undefined
  /** Plural unit name. @default null */
  unitLabelPlural?: string | null | undefined
  /** Custom data. @default {} */
  metadata?: JsonObject | null | undefined
  /** Percentages of the budget at which the event `usage.threshold_reached` is published. @default [80, 100] */
  thresholds?: number[] | null | undefined
  /** Makes the feature a pool: when a listed feature has no units left, units of this one pay for it. @default [] */
  costs?: Cost[] | null | undefined
}

/** Changes to a feature. Omitted fields are not changed. */
export interface UpdateFeatureInput {
  /** Display name. @default unchanged */
  name?: string | undefined
  /** Singular unit name. @default unchanged */
  unitLabel?: string | null | undefined
  /** Plural unit name. @default unchanged */
  unitLabelPlural?: string | null | undefined
  /** Custom data, replaced as a whole. @default unchanged */
  metadata?: JsonObject | null | undefined
  /** Percentages of the budget at which the event `usage.threshold_reached` is published; null: 80 and 100. @default unchanged */
  thresholds?: number[] | null | undefined
  /** Features that draw on this one as a pool, replaced as a whole. @default unchanged */
  costs?: Cost[] | null | undefined
}

/** Cost of one unit of a feature in units of a pool. */
export interface Cost {
  /** Consumable feature that draws on the pool. */
  featureId: string
  /** Units of the pool; at least 1. */
  cost: number
}

/** Allowance of a feature in a package. */
export interface Entitlement {
  /** Allowance. @default unlimited */
  limit?: number | null | undefined
  /** Period after which usage resets. @default 'MONTH' */
  resetPeriod?: ResetPeriod | undefined
  /** Whether usage above the limit is allowed. @default false */
  overageEnabled?: boolean | undefined
  /** Most units above the limit, with `overageEnabled`. @default unlimited */
  overageCap?: number | null | undefined
  /** Caps of every subscriber, at most 10: one for each period and type of entity. @default none */
  caps?: EntitlementCap[] | null | undefined
}

/** Cap of every subscriber, in windows of the UTC calendar. */
export interface EntitlementCap {
  /** Length of a window. */
  period: ResetPeriod
  /** Units per window, at least 0. */
  limit: number
  /** Type of entity, such as `agent`: the cap holds for each `agent:…` by itself. @default all usage of the subscriber */
  perEntity?: string | null | undefined
}

/** Input of `createPackage`. */
export interface CreatePackageInput {
  /** ID of 1 to 255 characters, unique among the packages of the app. */
  id: string
  /** Display name. */
  name: string
  /** Whether the package is an add-on. Otherwise it is a base plan. @default false */
  isAddon?: boolean | undefined
  /** Custom data. @default {} */
  metadata?: JsonObject | null | undefined
  /** Features of the package by ID, with their allowances. @default [] */
  features?: { id: string; entitlement?: Entitlement | undefined }[] | undefined
}

/** Changes to a package. All other changes are made in the dashboard. */
export interface UpdatePackageInput {
  /** Custom data, replaced as a whole. @default unchanged */
  metadata?: JsonObject | null | undefined
}
