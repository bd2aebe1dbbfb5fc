import type { CountedCap } from '../../domain/cap.ts'
import type { Spending } from '../../domain/purse.ts'
import type { Reservation } from '../../domain/reservation.ts'
import type { UsageAction } from '../../domain/usage.ts'
import type { PackedEvent } from './packed-events.ts'
import type { Basis, CounterRef, Receipt } from './usage-moves.ts'

/** A counter or credit, as the ledger names it. */
export interface LedgerKey {
  featureId: string
  resetPeriod: string
  periodStart: number
}

export interface ReservationWrite {
  isNew: boolean
  row: Reservation
}

/** Writes of one user's decisions: counters, credits, caps, reservations, ledger entries and receipts. All of it is written, or nothing. */
export interface SpendingMove {
  appId: string
  userUid: number
  userId: string
  /** of the spender's row that the decisions were based on */
  version: number
  /** when they were made */
  at: number
  /** of decisions from memory: they are written only if it still holds; null: it has been read */
  basis: Basis | null
  /** leads to the place of the user's counters */
  ref: CounterRef
  /** what is owed and was drawn, by feature; others are unchanged */
  features: Map<string, Pick<Spending, 'owed' | 'drawn'>>
  /** by the text of their key */
  counters: Map<string, SpentCounter>
  /** by id */
  credits: Map<string, SpentCredit>
  /** by the text of their key */
  caps: Map<string, CountedCap & { featureId: string }>
  reservations: ReservationWrite[]
  entries: SpendingEntry[]
  receipts: Receipt[]
  events: PackedEvent[]
}

interface SpentCounter {
  key: LedgerKey
  /** null: found by its key */
  ref: CounterRef | null
  /** null: it does not exist yet */
  from: number | null
  to: number
}

interface SpentCredit {
  used: number
  period: string | null
  periodUsed: number
}

interface SpendingEntry {
  key: LedgerKey
  action: UsageAction
  delta: number
  used: number
}
