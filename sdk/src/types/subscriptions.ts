import type { Package } from './catalogue.ts'
import type { JsonObject } from './result.ts'
import type { CanUseFeatureData } from './usage.ts'

/** A subscription that was CANCELLED is never revived. */
export type SubscriptionStatus = 'ACTIVE' | 'CANCELLED'

/** BEST: now, or at the end of the period if the new plan is cheaper. */
export type ChangeTime = 'NOW' | 'PERIOD_END' | 'BEST'

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

/** A change that is to come. */
export interface ScheduledChange {
  /** The package that takes over. */
  packageId: string
  /** When it does; ISO 8601, UTC. */
  at: string
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
  /** Minor units given back; null: neither plan has a recurring price, or they have none in the same currency. */
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
