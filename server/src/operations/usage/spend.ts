import { currentPeriod, type Part, type Purse, type Spending } from '../../domain/spending.ts'
import type { UsageAction } from '../../domain/usage.ts'
import type { CounterRef } from '../../store/usage/usage-moves.ts'
import type { LedgerKey, SpendingMove } from '../../store/usage/write-spending.ts'

// Builds the writes of one user's decisions about spending.

interface MoveOf {
  appId: string
  userUid: number
  version: number
  at: number
  ref: CounterRef
}

export const emptyMove = (of: MoveOf): SpendingMove => ({
  ...of,
  owed: new Map(),
  counters: new Map(),
  credits: new Map(),
  caps: new Map(),
  entries: [],
  receipts: [],
  events: [],
})

/** The row of a counter as it was read. */
interface CounterRow {
  /** null: found by its key */
  ref: CounterRef | null
  /** null: it does not exist yet */
  used: number | null
}

/** Adds what a decision took from each source, or returned to it. `counter` is that of the purse's period. */
export function addParts(
  move: SpendingMove,
  featureId: string,
  { before, after }: { before: Purse; after: Purse },
  parts: readonly Part[],
  counter: CounterRow,
  action: UsageAction,
): void {
  // A call that changes nothing has an entry too.
  for (const { credit, amount } of parts.length > 0 ? parts : [{ credit: null, amount: 0 }]) {
    if (credit === null) {
      addCounter(move, planKey(featureId, after), counter, amount, action)
      continue
    }
    addCredit(move, featureId, after, credit, amount, action)
  }
  if (after.owed !== before.owed) move.owed.set(featureId, owedIn(after))
  addCaps(move, featureId, { before, after })
}

/** Adds the counts of caps that have changed. */
export function addCaps(
  move: SpendingMove,
  featureId: string,
  { before, after }: { before: Purse; after: Purse },
): void {
  for (const [i, { reserved, ...cap }] of after.caps.entries()) {
    if (cap.used === before.caps[i]?.used) continue
    move.caps.set(`${featureId} ${cap.period} ${cap.entity}`, { ...cap, featureId })
  }
}

/** Adds units of a counter, perhaps of an earlier period. */
export function addCounter(
  move: SpendingMove,
  key: LedgerKey,
  counter: CounterRow,
  amount: number,
  action: UsageAction,
): void {
  const name = `${key.resetPeriod} ${key.periodStart} ${key.featureId}`
  const found = move.counters.get(name) ?? {
    key,
    ref: counter.ref,
    from: counter.used,
    to: counter.used ?? 0,
  }
  found.to += amount
  move.counters.set(name, found)
  move.entries.push({ key, action, delta: amount, used: found.to })
}

function addCredit(
  move: SpendingMove,
  featureId: string,
  after: Purse,
  creditId: string,
  amount: number,
  action: UsageAction,
): void {
  const credit = after.credits.find(({ id }) => id === creditId)
  if (!credit) throw new Error(`the credit ${creditId} was not read`)
  const { used, period, periodUsed } = credit
  move.credits.set(creditId, { amount: credit.amount, used, period, periodUsed })
  move.entries.push({ key: creditKey(featureId, creditId), action, delta: amount, used })
}

const planKey = (featureId: string, { allowance, period }: Purse): LedgerKey => ({
  featureId,
  resetPeriod: allowance.resetPeriod,
  periodStart: period.start,
})

/** A credit has entries in the ledger like a counter that never resets. */
const creditKey = (featureId: string, creditId: string): LedgerKey => ({
  featureId,
  resetPeriod: `CREDIT:${creditId}`,
  periodStart: 0,
})

const owedIn = (purse: Purse): Spending['owed'] =>
  purse.owed > 0 ? { amount: purse.owed, period: currentPeriod(purse) } : null
