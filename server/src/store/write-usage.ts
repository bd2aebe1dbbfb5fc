import type { ResetPeriod } from '../domain/period.ts'
import type { UsageAction } from '../domain/usage.ts'
import { numberArray, textArray } from './arrays.ts'
import { type Db, timestamp } from './database.ts'
import type { KeyName } from './idempotency.ts'

interface CounterKey {
  appId: string
  userUid: number
  featureId: string
  resetPeriod: ResetPeriod
  periodStart: number
}

/** A counter taken from the value it was decided upon (null: no row yet) to a new one. */
export interface CounterMove {
  key: CounterKey
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

/** What a keyed call is to be answered, should it come again. */
export interface Receipt extends KeyName {
  request: Buffer
  results: string
}

/** Somebody else made the first row of a counter: the whole statement fails on it. */
export const COUNTER_EXISTS = 'usage_counter_pkey'

// A ledger row or receipt whose move is null belongs to a new counter or to none, and so depends on no update.
const TEXT = `
with moved as (
  update usage_counter c set used = m.becomes
  from unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::timestamptz[], $6::bigint[], $7::bigint[])
    with ordinality as m (app_id, user_uid, feature_id, reset_period, period_start, was, becomes, ord)
  where c.app_id = m.app_id and c.user_uid = m.user_uid and c.feature_id = m.feature_id
    and c.reset_period = m.reset_period and c.period_start = m.period_start and c.used = m.was
  returning m.ord::int
), made as (
  insert into usage_counter (app_id, user_uid, feature_id, reset_period, period_start, used)
  select * from unnest($8::text[], $9::bigint[], $10::text[], $11::text[], $12::timestamptz[], $13::bigint[])
), ledger as (
  insert into usage_ledger (app_id, user_uid, feature_id, reset_period, period_start, action, delta, used, recorded_at)
  select app_id, user_uid, feature_id, reset_period, period_start, action, delta, used, recorded_at
  from unnest($14::text[], $15::bigint[], $16::text[], $17::text[], $18::timestamptz[],
      $19::text[], $20::bigint[], $21::bigint[], $22::timestamptz[], $23::int[])
    with ordinality as e (app_id, user_uid, feature_id, reset_period, period_start,
      action, delta, used, recorded_at, move, ord)
  where move is null or move = any(array(select ord from moved))
  order by e.ord
), receipt as (
  insert into idempotency (app_id, scope, key, request, results)
  select app_id, scope, key, decode(request, 'hex'), results::json
  from unnest($24::text[], $25::text[], $26::text[], $27::text[], $28::text[], $29::int[])
    as r (app_id, scope, key, request, results, move)
  where move is null or move = any(array(select ord from moved))
)
select ord from moved`

/**
 * Moves each counter, if it still stands where it was read, together with its ledger rows and receipts; one
 * statement, so one round trip and one commit for all of them. Returns the moves that were made: the others lost
 * to somebody else and are to be decided again. Where a new counter or a receipt exists by now, nothing is done
 * and the unique violation is thrown.
 */
export async function writeUsage(
  db: Db,
  moves: readonly CounterMove[],
  otherReceipts: readonly Receipt[],
): Promise<Set<CounterMove>> {
  const updates = moves.filter(({ from }) => from !== null)
  const inserts = moves.filter(({ from }) => from === null)
  const entries: { key: CounterKey; entry: LedgerEntry; move: number | null }[] = []
  const receipts: { receipt: Receipt; move: number | null }[] = []
  const take = ({ key, entries: own, receipts: kept }: CounterMove, move: number | null) => {
    for (const entry of own) entries.push({ key, entry, move })
    for (const receipt of kept) receipts.push({ receipt, move })
  }
  for (const [i, move] of updates.entries()) take(move, i + 1)
  for (const move of inserts) take(move, null)
  for (const receipt of otherReceipts) receipts.push({ receipt, move: null })
  // Whoever writes the same ones writes them in the same order, and so no two wait for each other.
  receipts.sort(({ receipt: a }, { receipt: b }) =>
    a.key === b.key ? compare(a.appId + a.scope, b.appId + b.scope) : compare(a.key, b.key),
  )

  const { rows } = await db.query<{ ord: number }>({
    name: 'write-usage',
    text: TEXT,
    values: [
      ...keyColumns(updates),
      numberArray(updates, (m) => m.from),
      numberArray(updates, (m) => m.to),
      ...keyColumns(inserts),
      numberArray(inserts, (m) => m.to),
      ...keyColumns(entries),
      textArray(entries, (e) => e.entry.action),
      numberArray(entries, (e) => e.entry.delta),
      numberArray(entries, (e) => e.entry.used),
      textArray(entries, (e) => timestamp(e.entry.recordedAt)),
      numberArray(entries, (e) => e.move),
      textArray(receipts, (r) => r.receipt.appId),
      textArray(receipts, (r) => r.receipt.scope),
      textArray(receipts, (r) => r.receipt.key),
      textArray(receipts, (r) => r.receipt.request.toString('hex')),
      textArray(receipts, (r) => r.receipt.results),
      numberArray(receipts, (r) => r.move),
    ],
  })
  const done = new Set(inserts)
  for (const { ord } of rows) done.add(updates[ord - 1] as CounterMove)
  return done
}

function keyColumns(rows: readonly { key: CounterKey }[]): string[] {
  return [
    textArray(rows, ({ key }) => key.appId),
    numberArray(rows, ({ key }) => key.userUid),
    textArray(rows, ({ key }) => key.featureId),
    textArray(rows, ({ key }) => key.resetPeriod),
    textArray(rows, ({ key }) => timestamp(key.periodStart)),
  ]
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
