import type { ResetPeriod } from '../../domain/period.ts'
import type { UsageAction } from '../../domain/usage.ts'
import { numberArray, textArray } from '../connection/arrays.ts'
import { timestamp } from '../connection/database.ts'
import type { KeyName } from './idempotency.ts'
import type { PackedEvent } from './packed-events.ts'

// Writes of recorded usage, and the lists that its statements take.

interface CounterKey {
  appId: string
  userUid: number
  featureId: string
  resetPeriod: ResetPeriod
  periodStart: number
}

declare const counterRef: unique symbol

/** Where the row of a counter is, or will be once it exists; only the store that returned it can tell. */
export interface CounterRef {
  readonly [counterRef]: true
}

/** The version of a user's row; only the store that returned it can interpret it. */
export interface UserRef {
  readonly tid: string
  readonly version: string
}

/** The basis of a decision, apart from the counter. */
export interface Basis {
  /** the app's version */
  version: number
  user: UserRef
  /** when it was read */
  since: number
  /** when time alone may change the decision; null: not known */
  until: number | null
}

/** A counter's move from the value that the decision was based on (null: it does not exist yet) to a new one. */
export interface CounterMove {
  key: CounterKey
  ref: CounterRef
  /** null: on another server, where it is not compared */
  basis: Basis | null
  /** Decided from memory, so it is written only if its basis still holds. */
  recalled: boolean
  from: number | null
  to: number
  entries: LedgerEntry[]
  receipts: Receipt[]
  /** written to the outbox with the move */
  events: PackedEvent[]
}

/** The moves that were made, with the position of each counter now; null: not known. */
export type MadeMoves = ReadonlyMap<CounterMove, CounterRef | null>

interface LedgerEntry {
  action: UsageAction
  delta: number
  used: number
  /** for another server; this one enters its own time */
  recordedAt: number
}

/** The stored answer to a call with an idempotency key. */
export interface Receipt extends KeyName {
  request: Buffer
  results: string
  /** whose usage it is; null: of no user that exists, or the results name them */
  userUid: number | null
}

/** `move`: the number of the move it depends on, counted from 1; null: it depends on none */
export interface KeptReceipt {
  receipt: Receipt
  move: number | null
}

/** An entry of the ledger other than the last of its move. */
interface EarlierEntry {
  key: CounterKey
  entry: LedgerEntry
  move: number
}

/** Writes of the moves; their receipts are added to the given ones. */
export function writtenFor(moves: readonly CounterMove[], receipts: KeptReceipt[]) {
  const written: { key: CounterKey; move: CounterMove; last: LedgerEntry }[] = []
  const earlier: EarlierEntry[] = []
  const events: { event: PackedEvent; move: number }[] = []
  for (const move of moves) {
    const { key, entries } = move
    const last = entries.at(-1)
    if (!last) continue
    written.push({ key, move, last })
    const number = written.length
    for (const entry of entries.slice(0, -1)) earlier.push({ key, entry, move: number })
    for (const receipt of move.receipts) receipts.push({ receipt, move: number })
    for (const event of move.events) events.push({ event, move: number })
  }
  return { written, earlier, events }
}

/** All writers use the same order, so no two wait for each other. */
export function receiptColumns(receipts: KeptReceipt[]): string[] {
  receipts.sort(({ receipt: a }, { receipt: b }) =>
    a.key === b.key ? compare(a.appId + a.scope, b.appId + b.scope) : compare(a.key, b.key),
  )
  return [
    textArray(receipts, (r) => r.receipt.appId),
    textArray(receipts, (r) => r.receipt.scope),
    textArray(receipts, (r) => r.receipt.key),
    textArray(receipts, (r) => r.receipt.request.toString('hex')),
    textArray(receipts, (r) => r.receipt.results),
    numberArray(receipts, (r) => r.move),
    numberArray(receipts, (r) => r.receipt.userUid),
  ]
}

export function keyColumns(rows: readonly { key: CounterKey }[]): string[] {
  return [
    textArray(rows, ({ key }) => key.appId),
    numberArray(rows, ({ key }) => key.userUid),
    textArray(rows, ({ key }) => key.featureId),
    textArray(rows, ({ key }) => key.resetPeriod),
    textArray(rows, ({ key }) => timestamp(key.periodStart)),
  ]
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
