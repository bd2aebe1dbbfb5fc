import type {
  ChangeTime,
  CreditState,
  EventType,
  IfOver,
  PackageStatus,
  ReservationInput,
  ReservationState,
  ResetPeriod,
  UsageBucket,
  WebhookDeliveryState,
} from './types.ts'

/** Identifies one object. */
export interface ById {
  /** ID of the object. */
  id: string
}

/** Pagination of a list. Without it, the whole list is returned. */
export interface Paging {
  /** Maximum number of items. @default all */
  first?: number | undefined
  /** Return items after this ID. @default from the start */
  after?: string | undefined
}

/** Arguments of `exportUser`. */
export interface ExportUserArguments extends ById {
  /** The `next` value of the previous page. @default the first page */
  after?: string | undefined
}

/** Arguments of `events`. */
export interface EventsArguments {
  /** The `next` value of the previous page. @default from the oldest event that is kept */
  after?: string | undefined
  /** Types of the events. @default all */
  types?: EventType[] | undefined
  /** ID of the user whose events are returned. @default all users */
  userId?: string | undefined
  /** Maximum number of events. @default 100 */
  first?: number | undefined
}

/** Identifies a user. */
export interface ByUser {
  /** ID of the user. */
  userId: string
}

/** Identifies a user and a feature. */
export interface ByUserAndFeature extends ByUser {
  /** ID of the feature. */
  featureId: string
}

/** Arguments of `usageSeries`. */
export interface UsageSeriesArguments {
  /** ID of the feature. */
  featureId: string
  /** ID of the user whose usage is returned. @default all users */
  userId?: string | undefined
  /** Start of the range (ISO 8601), rounded down to the start of a bucket in UTC. */
  from: string
  /** End of the range (ISO 8601), rounded up to the end of a bucket in UTC. */
  to: string
  /** Length of one bucket. */
  bucket: UsageBucket
}

/** Arguments of `canUseFeature`. */
export interface CanUseFeatureArguments extends ByUserAndFeature {
  /** Number of units to check for. @default 1 */
  delta?: number | undefined
  /** Entities whose caps count the usage, as `type:id`, at most 4. @default none */
  entities?: readonly string[] | undefined
  /** Whether to include `sources`, `deniedBy` and all figures of `consumption`. @default false */
  includeSources?: boolean | undefined
}

/** Arguments of `canUseFeatures`. */
export interface CanUseFeaturesArguments extends ByUser {
  /** IDs of the features, at most 100. */
  featureIds: readonly string[]
}

/** Option to include the features of packages. */
export interface IncludeFeatures {
  /** Whether to include `features`. @default false */
  includeFeatures?: boolean | undefined
}

/** Filter for packages. */
export interface PackagesArguments extends IncludeFeatures {
  /** Only packages with this status. @default 'PUBLISHED' */
  status?: PackageStatus | undefined
}

/** Filter for subscriptions. */
export interface SubscriptionsArguments {
  /** Only subscriptions of this user. @default all */
  userId?: string | undefined
}

/** Arguments of `subscribe`. */
export interface SubscribeArguments extends ByUser {
  /** IDs of the packages: at most one base plan, and any number of add-ons. */
  packageIds: readonly string[]
  /** Quantity of each package, in the order of `packageIds`. Limits are multiplied by it. @default 1 for each */
  quantities?: readonly number[] | undefined
}

/** Arguments of `changeSubscription`. */
export interface ChangeArguments extends ByUser {
  /** ID of the new base plan. */
  packageId: string
  /** When to change. @default 'BEST' */
  when?: ChangeTime | undefined
  /** New quantity. @default the current quantity */
  quantity?: number | undefined
  /** Whether to return the result without changing anything. @default false */
  dryRun?: boolean | undefined
}

/** Arguments of `startTrial`. Exactly one of `days` and `until` is required. */
export interface TrialArguments extends ByUser {
  /** ID of the package. */
  packageId: string
  /** Length of the trial in days of 24 hours. @default set by `until` */
  days?: number | undefined
  /** End of the trial (ISO 8601). @default set by `days` */
  until?: string | undefined
  /** ID of the package that follows the trial. @default none */
  then?: string | undefined
  /** Whether to allow another trial of a package the user has tried before. @default false */
  again?: boolean | undefined
}

/** Arguments of `extendTrial`. */
export interface ExtendTrialArguments extends ById {
  /** New end of the trial (ISO 8601), later than the current one. */
  until: string
}

/** Arguments of `cancelSubscription`. */
export interface CancelArguments extends ById {
  /** Whether the subscription stays active until the end of its period. @default true */
  atPeriodEnd?: boolean | undefined
}

/** Arguments of `migrateSubscriptions`. */
export interface MigrateArguments {
  /** ID of the package. */
  packageId: string
  /** Version of the subscriptions to move. */
  fromVersion: number
  /** Version to move the subscriptions to. */
  toVersion: number
  /** When to move the subscriptions. BEST is treated as NOW. @default 'NOW' */
  when?: ChangeTime | undefined
  /** Whether to return the counts without moving anything. @default false */
  dryRun?: boolean | undefined
}

/** Identifies a webhook endpoint. */
export interface ByEndpoint {
  /** ID of the webhook endpoint. */
  endpointId: string
}

/** Arguments of `webhookDeliveries`. */
export interface DeliveriesArguments extends ByEndpoint {
  /** Only deliveries in this state. @default all */
  state?: WebhookDeliveryState | undefined
  /** Maximum number of items, at most 100. @default 50 */
  first?: number | undefined
  /** The `next` value of the previous page. @default the first page */
  after?: string | undefined
}

/** Arguments of `resendEvents`. */
export interface ResendArguments extends ByEndpoint {
  /** IDs of the events, at most 100. */
  eventIds: readonly string[]
}

/** Arguments of `resendFailedEvents`. */
export interface ResendFailedArguments extends ByEndpoint {
  /** Only deliveries created at this time (ISO 8601) or later. @default all */
  from?: string | undefined
  /** Only deliveries created before this time (ISO 8601). @default all */
  to?: string | undefined
}

/** Arguments of an update. */
export interface Update<Input> extends ById {
  /** Fields to change. */
  input: Input
}

/** Filter for credits. */
export interface CreditsArguments extends ByUser, Paging {
  /** Only credits of this feature. @default all */
  featureId?: string | undefined
  /** Only credits in this state. @default all */
  state?: CreditState | undefined
}

/** Arguments of `voidCredit`. */
export interface VoidCreditArguments extends ById {
  /** Internal note. @default unchanged */
  reason?: string | undefined
}

/** Arguments of `generateCreditLink`. */
export interface GenerateCreditLinkArguments extends ByUser {
  /** ID of a price of credits, created in the dashboard. */
  priceId: string
  /** How many times to sell the price at once. @default 1 */
  quantity?: number | undefined
  /** Where the payer is sent after the payment. */
  successUrl: string
  /** Where the payer is sent after cancelling. */
  cancelUrl: string
  /** Whether the provider saves the card for later charges, as automatic recharges need. @default false */
  saveCard?: boolean | undefined
}

/** Filter for automatic recharges. */
export interface AutoRechargesArguments extends ByUser {
  /** Only the one of this feature. @default all */
  featureId?: string | undefined
}

/** Arguments of `removeAutoRecharge`. */
export interface RemoveAutoRechargeArguments extends ByUserAndFeature {}

/** Filter for caps. */
export interface CapsArguments extends ByUser {
  /** Only caps of this feature. @default all */
  featureId?: string | undefined
}

/** Arguments of `removeCap`. */
export interface RemoveCapArguments extends ByUserAndFeature {
  /** Entity of the cap. @default the cap of all usage of the user */
  entity?: string | undefined
  /** Length of its windows. */
  period: ResetPeriod
}

/** Filter for reservations. */
export interface ReservationsArguments extends ByUser, Paging {
  /** Only reservations of this feature. @default all */
  featureId?: string | undefined
  /** Only reservations in this state. @default all */
  state?: ReservationState | undefined
}

/** Arguments of `extendReservation`. */
export interface ExtendReservationArguments extends ById {
  /** Seconds from now until the new expiry. An earlier expiry than the current one has no effect. @default unchanged */
  ttlSeconds?: number | undefined
  /** Units to add. @default none */
  add?: number | undefined
}

/** Arguments of `settleReservation`. */
export interface SettleReservationArguments extends ById {
  /** Units that were used. */
  amount: number
  /** Whether the rest is returned. @default true */
  final?: boolean | undefined
  /** Treatment of units beyond the reservation. @default 'RECORD' */
  ifOver?: IfOver | undefined
}

/** Arguments of `withReservation`: `amount` is the slice that is reserved first, and added whenever it runs out. */
export interface WithReservationArguments extends ReservationInput {
  /**
   * Treatment of units counted beyond the reservation. RECORD: record them anyway. CAP: record as many as are left.
   * @default 'RECORD'
   */
  ifOver?: 'RECORD' | 'CAP' | undefined
  /** Maximum milliseconds to retry each call for while the service is unreachable. @default 30_000 */
  retryFor?: number | undefined
}
