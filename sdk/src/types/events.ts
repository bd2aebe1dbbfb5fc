import type { Cost, EntitlementCap, FeatureType, ResetPeriod } from './catalogue.ts'
import type { CreditKind, CreditState } from './credits.ts'
import type { OverrideMode } from './overrides.ts'
import type { JsonObject } from './result.ts'

/** A user, in an event. */
export interface EventUser {
  /** ID. */
  id: string
  /** ID at the billing provider. */
  billingId: string | null
  /** Name. */
  name: string | null
  /** Email address. */
  email: string | null
  /** Metadata. */
  metadata: JsonObject
}

/** A feature, in an event. */
export interface EventFeature {
  /** ID. */
  id: string
  /** Name. */
  name: string
  /** Type of the feature. */
  type: FeatureType
  /** Unit label, singular. */
  unitLabel: string | null
  /** Unit label, plural. */
  unitLabelPlural: string | null
  /** Metadata. */
  metadata: JsonObject
  /** Percentages of the budget at which usage is reported; null for the default. */
  thresholds: number[] | null
  /** Features that draw on it as a pool. */
  costs: Cost[]
  /** Time at which it was archived (ISO 8601, UTC); null if it is not archived. */
  archivedAt: string | null
}

/** A package, in an event. */
export interface EventPackage {
  /** ID. */
  id: string
  /** Name. */
  name: string
  /** Status. */
  status: 'DRAFT' | 'PUBLISHED'
  /** Number of times the package was published. */
  version: number
  /** Time at which it was archived (ISO 8601, UTC); null if it is not archived. */
  archivedAt: string | null
  /** Whether it is an add-on. */
  isAddon?: boolean
  /** Metadata. */
  metadata?: JsonObject
  /** The grants of the package. */
  features?: {
    featureId: string
    limit: number | null
    resetPeriod: ResetPeriod
    overageEnabled: boolean
    overageCap?: number
    caps?: EntitlementCap[]
  }[]
}

/** A subscription, in an event. */
export interface EventSubscription {
  /** ID. */
  id: string
  /** ID of the user. */
  userId: string | null
  /** ID of the package. */
  packageId: string
  /** Whether it is an add-on. */
  isAddon: boolean
  /** Status. */
  status: 'ACTIVE' | 'CANCELLED' | 'SCHEDULED'
  /** Start (ISO 8601, UTC). */
  startedAt: string
  /** End of the trial (ISO 8601, UTC); null if there is none. */
  trialEndsAt: string | null
  /** Planned end (ISO 8601, UTC); null if none is planned. */
  cancelAt: string | null
  /** Time of the cancellation (ISO 8601, UTC); null if it is not cancelled. */
  cancelledAt: string | null
  /** Quantity. */
  quantity: number
  /** ID of the subscription that it replaces when it starts. */
  follows: string | null
  /** Metadata. */
  metadata: JsonObject
}

/** An override, in an event. */
export interface EventOverride {
  /** ID of the user. */
  userId: string | null
  /** ID of the feature. */
  featureId: string
  /** Effect of the override. */
  mode: OverrideMode
  /** Limit of the override, for the modes REPLACE and ADD. */
  limit: number | null
  /** Whether overage is allowed. */
  overageEnabled: boolean | null
  /** Start (ISO 8601, UTC). */
  startedAt: string
  /** Expiry (ISO 8601, UTC); null if it does not expire. */
  expiresAt: string | null
  /** Internal note. */
  reason: string | null
}

/** A payment, in an event. */
export interface EventPayment {
  /** Billing provider. */
  provider: string
  /** ID. */
  id: string
  /** The provider's ID of the subscription; null for a one-off payment. */
  subscriptionRef: string | null
  /** ID of the user. */
  userId: string | null
  /** Minor units of the currency. */
  amount: number
  /** ISO 4217 code in lower case. */
  currency: string
  /** Outcome of the payment. */
  state: 'PAID' | 'FAILED'
  /** Time of the payment (ISO 8601, UTC). */
  at: string
}

/** A payment with refunds or a dispute, in an event. */
export interface EventReversal {
  /** Billing provider. */
  provider: string
  /** ID. */
  id: string
  /** The provider's ID of the subscription; null for a one-off payment. */
  subscriptionRef: string | null
  /** ID of the user. */
  userId: string | null
  /** Amount in minor units of the currency. */
  amount: number
  /** ISO 4217 code in lower case. */
  currency: string
  /** Time of the payment (ISO 8601, UTC). */
  paidAt: string | null
  /** Refunded amount in minor units. */
  refunded: number
  /** Dispute of the payment; null if there is none. */
  dispute: JsonObject | null
}

/** A credit, in an event. */
export interface EventCredit {
  /** ID. */
  id: string
  /** ID of the user. */
  userId: string | null
  /** ID of the feature. */
  featureId: string
  /** Units of the feature. */
  amount: number
  /** Units that were used. */
  used: number
  /** Kind of the credit. */
  kind: CreditKind
  /** Credits with a lower priority are used first. */
  priority: number
  /** Start (ISO 8601, UTC). */
  effectiveAt: string
  /** Expiry (ISO 8601, UTC); null if it does not expire. */
  expiresAt: string | null
  /** State after the event. */
  state: CreditState
  /** Internal note. */
  reason: string | null
}

/** Usage of one feature in one period, in an event. */
export interface EventUsage {
  /** ID of the user. */
  userId: string
  /** ID of the feature. */
  featureId: string
  /** Usage in the period. */
  used: number
  /** Null if there is no limit. */
  budget: number | null
  /** Reset period. */
  resetPeriod: ResetPeriod
  /** Start of the period (ISO 8601, UTC). */
  periodStart: string
  /** End of the period (ISO 8601, UTC); null if it never ends. */
  resetsAt: string | null
}

/** One entitlement of a user, in an event. */
export interface EventAccess {
  /** ID of the feature. */
  featureId: string
  /** Whether the user can use one unit of the feature. */
  access: boolean
  /** Set for consumable features; null if there is no limit. */
  budget?: number | null
  /** Usage in the period. */
  used?: number
  /** Whether overage is allowed. */
  overageEnabled?: boolean
  /** Reset period. */
  resetPeriod?: ResetPeriod
  /** Start of the period (ISO 8601, UTC). */
  periodStart?: string
  /** End of the period (ISO 8601, UTC); null if it never ends. */
  resetsAt?: string | null
}

/** The `data.object` of each type of event. */
export type EventObjects = {
  'user.created': EventUser
  'user.updated': EventUser
  'user.deleted': { id: string }
  'feature.created': EventFeature
  'feature.updated': EventFeature
  'feature.archived': EventFeature
  'feature.deleted': EventFeature
  'package.published': EventPackage
  'package.archived': EventPackage
  'subscription.created': EventSubscription
  'subscription.changed': EventSubscription
  'subscription.change_scheduled': EventSubscription
  'subscription.cancelled': EventSubscription
  'subscription.ended': EventSubscription
  'trial.started': EventSubscription
  'trial.ending': EventSubscription
  'trial.ended': EventSubscription
  'override.set': EventOverride
  'override.removed': EventOverride
  'override.expired': EventOverride
  'payment.succeeded': EventPayment
  'payment.failed': EventPayment
  'payment.refunded': EventReversal
  'payment.disputed': EventReversal
  'credit.added': EventCredit
  'credit.changed': EventCredit
  'credit.spent': EventCredit
  'credit.voided': EventCredit
  'credit.expired': EventCredit
  'usage.threshold_reached': EventUsage & { threshold: number }
  'usage.limit_reached': EventUsage
  'usage.recorded': EventUsage & { action: 'ADD' | 'SET'; delta: number }
  'entitlements.changed': { userId: string; count: number; entitlements: EventAccess[] }
}

/** Type of an event. */
export type EventType = keyof EventObjects

/** Payload of an event. */
export interface EventData<Of = JsonObject> {
  /** Version of the format. */
  version: number
  /**
   * State after the event. Of a user who was deleted since, `{ erased: true }` in the event log, as for events that are
   * resent.
   */
  object: Of
  /** Earlier values of the fields that changed. */
  previous: Partial<Of> | null
  /** Set if fields were left out, because the event would be too large. */
  truncated?: true
}

interface WebhookEventOf<Type extends string, Of> {
  /** Unique ID, the same in every delivery of the event. */
  id: string
  /** The event type. Narrows `data`. */
  type: Type
  /** Time of the event (ISO 8601, UTC), by the app's clock. */
  timestamp: string
  /** ID of the app. */
  appId: string
  /** ID of the user; null if the event is about no user. */
  userId: string | null
  /** Strictly increasing: of two events about one user, the one with the higher sequence is later. 0 for a test event. */
  sequence: number
  /** Payload. */
  data: EventData<Of>
}

/**
 * A verified event, by `type`. Later versions of the service may add types, so a `switch` needs a `default`. The type
 * `sendTestEvent` sends `webhook.test`.
 */
export type WebhookEvent =
  | { [Type in EventType]: WebhookEventOf<Type, EventObjects[Type]> }[EventType]
  | WebhookEventOf<'webhook.test', { message: string }>

interface EventOf<Type extends string, Of> {
  /** Unique ID of the event. */
  id: string
  /** Type of the event. Narrows `data`. */
  type: Type
  /** Time of the event (ISO 8601), by the app's clock. */
  at: string
  /** ID of the user at that time; null if the event is about no user, or the user was deleted. */
  userId: string | null
  /** Position of the event. An event with a higher sequence was published later. */
  sequence: number
  /** Cursor of the event: pass it as `after` to continue after this event. */
  cursor: string
  /** Payload of the event. */
  data: EventData<Of>
}

/** Something that happened in the app, by `type`. Later versions of the service may add types. */
export type Event = { [Type in EventType]: EventOf<Type, EventObjects[Type]> }[EventType]

/** One page of events. */
export interface EventPage {
  /** The events, in the order of their publication. */
  nodes: Event[]
  /** Cursor to continue from, also if there are no further events yet. */
  next: string
}
