import type { Catalogue } from '../../domain/catalogue.ts'
import type { Purse, Spending } from '../../domain/purse.ts'
import type { UserReservation } from '../../domain/reservation.ts'
import type { AskedReservation, Extension, Settlement } from '../../domain/reservation-calls.ts'
import type { RecordedUsage, UsageCall } from '../../domain/usage.ts'
import type { UserEntitlement } from '../../domain/user-entitlement.ts'
import type { Caller } from '../../store/apps/app-cache.ts'
import type { CountedFeature } from '../../store/usage/feature-activity.ts'
import type { KeyName } from '../../store/usage/idempotency.ts'
import type { Holding } from '../../store/usage/read-holdings.ts'
import type { HeldSpending } from '../../store/usage/spending-rows.ts'
import type { CounterRef } from '../../store/usage/usage-moves.ts'
import type { Deadline } from './deadline.ts'

/** The two hot paths. Calls that arrive at the same time share their round trips. */
export interface HotPaths {
  /** A user's entitlement to a feature. */
  read(question: EntitlementQuestion): Promise<EntitlementState>
  record(usage: PendingUsage): Promise<Recorded>
  /** `alone`: nothing was done, because the call must be decided in a transaction of its own. */
  reserve(pending: PendingReservation): Promise<UserReservation | 'alone'>
  /** Upper bound of the oldest call's wait, in seconds. */
  oldestSeconds(): number
}

/** Counts calls by feature. Callers omit features that do not exist. */
export interface FeatureTally {
  checked(appId: string, featureId: string, access: boolean): void
  recorded(appId: string, featureId: string, records: number, units: number): void
  refused(appId: string, featureId: string, calls: number): void
  /** Adds counts of other processes. */
  add(others: readonly CountedFeature[]): void
}

/** The caller, and until when they wait; null: nobody waits. */
export interface WaitingCaller extends Caller {
  deadline: Deadline | null
}

export interface EntitlementQuestion {
  caller: WaitingCaller
  userId: string
  featureId: string
  /** whose caps count the call; absent: none */
  entities?: readonly string[] | undefined
  /** a pool that a reservation draws on, whatever the feature draws on now; absent: none does */
  drawnFrom?: string
}

/** A user's entitlement to a feature at one moment, and the counter's value then. */
export interface EntitlementState {
  featureId: string
  entitlement: UserEntitlement
  /** basis of the entitlements; null: no such user */
  holder: Holding | null
  catalogue: Catalogue
  used: number
  now: number
  uid: number | null
  /** where the counter is, or will be; null: nothing is counted */
  counter: CounterRef | null
  /** whether something has been counted in this period */
  counted: boolean
  /** what else pays for the feature; null: only the plan */
  spending: HeldSpending | null
  /** the sources of a user with `spending` or a pool; null: nothing can be used */
  purse: Purse | null
  /** what the feature draws on; null: nothing, or the user can use nothing of it */
  pool: PoolState | null
}

/** The pool of a feature, and the user's entitlement to it, read with those of the feature. */
export interface PoolState {
  featureId: string
  cost: number
  /** false: only a reservation draws on it */
  open: boolean
  entitlement: UserEntitlement
  basis: Pick<Purse, 'allowance' | 'period'>
  used: number
  counter: CounterRef
  counted: boolean
  spending: Spending
  /** whether the user has a row that guards it */
  enrolled: boolean
  /** when the first of the reservations that hold units of it expires; Infinity: never */
  heldUntil: number
}

export interface UsageEvent extends UsageCall {
  userId: string
  featureId: string
}

export interface PendingUsage {
  caller: WaitingCaller
  event: UsageEvent
  key: KeptUnder | null
}

export type ReservationAction =
  | { kind: 'EXTEND'; extension: Extension }
  | { kind: 'SETTLE'; settlement: Settlement }
  | { kind: 'RELEASE' }

/** `isNew`: the id was generated, so no other reservation has it. */
export type ReservationCall = { id: string } & (
  | ReservationAction
  | { kind: 'RESERVE'; userId: string; asked: AskedReservation; isNew: boolean }
)

export interface PendingReservation {
  caller: WaitingCaller
  reservation: ReservationCall
  key: KeptUnder | null
}

/** `claimed`: another mutation of the same request has already used the key. */
export type Recorded = RecordedUsage | 'claimed'

/** The key under which a response is stored, and the request and field it belongs to. */
export interface KeptUnder extends KeyName {
  request: Buffer
  field: string
}
