import type { ResetPeriod } from '../../domain/period.ts'
import type { UsageAction } from '../../domain/usage.ts'
import { numberArray, textArray } from '../connection/arrays.ts'
import { timestamp } from '../connection/database.ts'
import type { KeyName } from './idempotency.ts'

// What recorded usage writes, and the lists that its statements are given.

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

/** A counter's move from the value that the decision was based on (null: it does not exist yet) to a new one. */
export interface CounterMove {
  key: CounterKey
  ref: CounterRef
  from: number | null
  to: number
  entries: LedgerEntry[]
  receipts: Receipt[]
}

interface LedgerEntry {
  action: UsageAction
  delta: number
  used: number
  recordedAt: number
}

/** The stored answer to a call with an idempotency key. */
export interface Receipt extends KeyName {
  request: Buffer
  results: string
  /** whose usage it is; null: of no user that exists */
  userUid: number | null
}

/** `move`: the number of the move it depends on, counted from 1; null: it depends on none */
export interface KeptReceipt {
  receipt: Receipt
  move: number | null
}

/** What the moves write; their receipts are added to the given ones. */
export function writtenFor(moves: readonly CounterMove[], receipts: KeptReceipt[]) {
  const updates = moves.flatMap((move) => {
    const last = move.entries.at(-1)
    return move.from !== null && last ? [{ move, key: move.key, from: move.from, last }] : []
  })
  const inserts = moves.filter(({ from }) => from === null)
  const entries: { key: CounterKey; entry: LedgerEntry; move: number | null }[] = []
  for (const [i, { move, key }] of updates.entries()) {
    for (const entry of move.entries.slice(0, -1)) entries.push({ key, entry, move: i + 1 })
    for (const receipt of move.receipts) receipts.push({ receipt, move: i + 1 })
  }
  for (const { key, entries: own, receipts: given } of inserts) {
    for (const entry of own) entries.push({ key, entry, move: null })
    for (const receipt of given) receipts.push({ receipt, move: null })
  }
  return { updates, entries, inserts }
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
