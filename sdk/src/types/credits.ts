import type { ResetPeriod } from './catalogue.ts'

/** Whether a credit was given or paid for. */
export type CreditKind = 'PROMOTIONAL' | 'PAID'

/**
 * SCHEDULED: not effective yet. LIVE: can be used. SPENT: used up. EXPIRED: past its expiry. VOIDED: voided by
 * `voidCredit`, or refunded in full before it was used.
 */
export type CreditState = 'SCHEDULED' | 'LIVE' | 'SPENT' | 'EXPIRED' | 'VOIDED'

/** Units of a feature that a user can use in addition to the plan. */
export interface Credit {
  /** ID of the credit. */
  id: string
  /** ID of the user. */
  userId: string
  /** ID of the feature. */
  featureId: string
  /** Number of units. */
  amount: number
  /** Units that were paid for through a payment link, before refunds; null if it was not bought this way. */
  bought: number | null
  /** Billing provider at which it was paid; null if it was not bought. */
  provider: string | null
  /** Units used. */
  used: number
  /** Units held by live reservations. */
  reserved: number
  /** Whether it was given or paid for. */
  kind: CreditKind
  /** Sources with a lower priority are used first. The plan has priority 50. */
  priority: number
  /** Start (ISO 8601, UTC). */
  effectiveAt: string
  /** Expiry (ISO 8601, UTC); null if it does not expire. */
  expiresAt: string | null
  /** Current state. */
  state: CreditState
  /** Internal note, not visible to users. */
  reason: string | null
}

/** A payment link. */
export interface CreditLink {
  /** Address of the payment page. */
  url: string
}

/** Input of `addCredit`. */
export interface CreditInput {
  /** Adding the same credit again under the same ID has no effect. @default generated */
  id?: string | null | undefined
  /** ID of the user. */
  userId: string
  /** ID of a consumable feature. */
  featureId: string
  /** Number of units, at least 1. */
  amount: number
  /** Whether it was given or paid for. @default 'PROMOTIONAL' */
  kind?: CreditKind | null | undefined
  /** From 0 to 1000. Sources with a lower priority are used first. @default 50 */
  priority?: number | null | undefined
  /** Start (ISO 8601). @default now */
  effectiveAt?: string | null | undefined
  /** Expiry (ISO 8601), in the future. @default no expiry */
  expiresAt?: string | null | undefined
  /** Internal note, not visible to users. @default null */
  reason?: string | null | undefined
}

/**
 * HELD: holds units. SETTLED: its use was recorded. RELEASED: returned, or never held. EXPIRED: not settled before its
 * expiry.
 */
export type ReservationState = 'HELD' | 'SETTLED' | 'RELEASED' | 'EXPIRED'

/**
 * Treatment of units beyond a reservation. RECORD: record them anyway. CAP: record as many as are left. REJECT: record nothing,
 * and keep the reservation.
 */
export type IfOver = 'RECORD' | 'CAP' | 'REJECT'

/** Units held for work whose use is not known yet. */
export interface Reservation {
  /** ID of the reservation. */
  id: string
  /** ID of the user. */
  userId: string
  /** ID of the feature. */
  featureId: string
  /** Units held now; 0 once the reservation is settled, released or expired. */
  reserved: number
  /** Units recorded by `settleReservation`. */
  settled: number
  /** Current state. */
  state: ReservationState
  /** Creation time (ISO 8601, UTC). */
  createdAt: string
  /** Expiry (ISO 8601, UTC). */
  expiresAt: string
  /** Whether usage was settled after the expiry. */
  late: boolean
  /** Why nothing was held or changed, or what was recorded beyond the reservation. */
  reason: string | null
}

/** Input of `reserveUsage`. */
export interface ReservationInput {
  /** The same request under the same ID returns the same reservation. @default generated */
  id?: string | null | undefined
  /** ID of the user. */
  userId: string
  /** ID of a consumable feature. */
  featureId: string
  /** Maximum number of units to hold, at least 1. */
  amount: number
  /** Minimum number of units; with fewer, nothing is held. @default amount */
  atLeast?: number | null | undefined
  /** Seconds until the reservation expires, at most 86,400. @default 300 */
  ttlSeconds?: number | null | undefined
  /** Entities whose caps count the usage, as `type:id`, at most 4. @default none */
  entities?: string[] | null | undefined
  /** Free-form object. @default {} */
  metadata?: Record<string, unknown> | null | undefined
}

/** Result of `withReservation`. */
export type ReservedWork<T> = WorkDone<T> | WorkRefused

/** The work ran, and its use was settled. */
export interface WorkDone<T> {
  /** Whether the work ran. */
  reserved: true
  /** Return value of the work. */
  value: T
  /** Units counted. `reservation.settled` is the number of units recorded: with CAP it may be lower. */
  used: number
  /** Usage recorded beyond the reservation or after its expiry; null for neither. */
  reason: string | null
  /** The reservation after its settlement. */
  reservation: Reservation
}

/** The work did not run. */
export interface WorkRefused {
  /** Whether the work ran. */
  reserved: false
  /** Units counted. */
  used: 0
  /** Why nothing was reserved. */
  reason: string
  /** The reservation, which holds nothing. */
  reservation: Reservation
}

/** Limit of the usage of a feature in windows of the UTC calendar. */
export interface Cap {
  /** ID of the user. */
  userId: string
  /** ID of the feature. */
  featureId: string
  /** Entity whose usage is limited, as `type:id`; null: all usage of the user. */
  entity: string | null
  /** Maximum number of units in a window. */
  limit: number
  /** Length of a window. */
  period: ResetPeriod
  /** Units used in the current window, since the cap was set. */
  used: number
  /** Units held by live reservations. */
  reserved: number
  /** Start of the next window (ISO 8601, UTC); null if the count never resets. */
  resetsAt: string | null
}

/** Input of `setCap`. */
export interface CapInput {
  /** ID of the user. */
  userId: string
  /** ID of a consumable feature. */
  featureId: string
  /** Entity whose usage is limited, as `type:id`. @default all usage of the user */
  entity?: string | null | undefined
  /** Maximum number of units in a window. */
  limit: number
  /** Length of a window. */
  period: ResetPeriod
}

/** ON: charges when few units are left. CHARGING: a charge is in progress. WAITING: nothing is charged before `waitsUntil`. OFF: the card was declined three times in a row, or permanently. */
export type AutoRechargeState = 'ON' | 'CHARGING' | 'WAITING' | 'OFF'

/** A rule that buys credits of a user and feature when few are left. */
export interface AutoRecharge {
  /** ID of the user. */
  userId: string
  /** ID of the feature. */
  featureId: string
  /** Credits are bought when fewer units than this are left. Reserved units count as left. */
  below: number
  /** Balance to reach: one charge buys as many whole packs as are needed. */
  upTo: number
  /** ID of a price of credits of the feature. */
  priceId: string
  /** Maximum amount per month of the UTC calendar, in minor units; null: no maximum. */
  maxSpendPerPeriod: number | null
  /** Amount charged in this month, in minor units, including a charge under way. */
  spent: number
  /** Whether it buys credits when few are left. */
  state: AutoRechargeState
  /** Declines since the last payment. */
  declines: number
  /** Time before which nothing is charged (ISO 8601, UTC); null if it does not wait. */
  waitsUntil: string | null
  /** Why it waits or is off. */
  reason: string | null
}

/** Input of `setAutoRecharge`. */
export interface AutoRechargeInput {
  /** ID of the user. */
  userId: string
  /** ID of a consumable feature. */
  featureId: string
  /** Credits are bought when fewer units than this are left. */
  below: number
  /** Balance to reach, at least `below`. */
  upTo: number
  /** ID of a price of credits of the feature. */
  priceId: string
  /** Maximum amount per month of the UTC calendar, in minor units. @default no maximum */
  maxSpendPerPeriod?: number | null | undefined
}
