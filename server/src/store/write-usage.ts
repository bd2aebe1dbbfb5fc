import type { ResetPeriod } from '../domain/period.ts'
import type { UsageAction } from '../domain/usage.ts'
import { numberArray, textArray } from './arrays.ts'
import { cellOf } from './cell-pools.ts'
import { type Tx, timestamp } from './database.ts'
import type { KeyName } from './idempotency.ts'
import { Prepared } from './prepared.ts'

interface CounterKey {
  appId: string
  userUid: number
  featureId: string
  resetPeriod: ResetPeriod
  periodStart: number
}

/** A counter's move from the value the decision was based on, in the row it was read from (null: none), to a new one. */
export interface CounterMove {
  key: CounterKey
  from: { used: number; place: string } | null
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

/** Another writer created the counter's first row: the whole statement fails. */
export const COUNTER_EXISTS = 'usage_counter_pkey'

// A counter is found by the position of its row, which saves an index lookup; the key confirms that it is the right
// row. A moved counter brings its last ledger row along, nearly always the only one. A ledger row or receipt whose move
// is null belongs to a new counter or to none, and so depends on no update.
const writing = (name: string, held: string, result: string) =>
  new Prepared<[ord: string | null]>(
    name,
    `with moved as (
  update usage_counter c set used = m.becomes
  from unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::timestamptz[],
      $6::tid[], $7::bigint[], $8::bigint[], $9::text[], $10::bigint[], $11::timestamptz[])
    with ordinality as m (app_id, user_uid, feature_id, reset_period, period_start,
      place, was, becomes, action, delta, recorded_at, ord)
  where c.ctid = m.place and c.app_id = m.app_id and c.user_uid = m.user_uid and c.feature_id = m.feature_id
    and c.reset_period = m.reset_period and c.period_start = m.period_start and c.used = m.was
  returning m.*
), made as (
  insert into usage_counter (app_id, user_uid, feature_id, reset_period, period_start, used)
  select * from unnest($12::text[], $13::bigint[], $14::text[], $15::text[], $16::timestamptz[], $17::bigint[])
), ledger as (
  insert into usage_ledger (app_id, user_uid, feature_id, reset_period, period_start, action, delta, used, recorded_at)
  select app_id, user_uid, feature_id, reset_period, period_start, action, delta, used, recorded_at
  from unnest($18::text[], $19::bigint[], $20::text[], $21::text[], $22::timestamptz[],
      $23::text[], $24::bigint[], $25::bigint[], $26::timestamptz[], $27::int[])
    as e (app_id, user_uid, feature_id, reset_period, period_start, action, delta, used, recorded_at, move)
  where move is null or move = any(array(select ord from moved))
  union all
  select app_id, user_uid, feature_id, reset_period, period_start, action, delta, becomes, recorded_at from moved
), receipt as (
  insert into idempotency (app_id, scope, key, request, results, user_uid)
  select app_id, scope, key, decode(request, 'hex'), results::json, user_uid
  from unnest($28::text[], $29::text[], $30::text[], $31::text[], $32::text[], $33::int[], $34::bigint[])
    as r (app_id, scope, key, request, results, move, user_uid)
  where move is null or move = any(array(select ord from moved))
)${held}
${result}`,
  )

const WRITE = writing('write-usage', '', 'select ord from moved')

/**
 * In one of several cells, from which users may be moved away. Counters that are there no more are not moved, but a new
 * one would be left behind: its user is held, and all is undone if that is gone.
 */
const WRITE_IN_CELL = writing(
  'write-usage-in-cell',
  `, held as materialized (
  select u.uid from unnest($35::text[], $36::bigint[]) as n (app_id, uid)
  join users u on u.app_id = n.app_id and u.uid = n.uid for key share of u
), all_held as (
  select case when count(*) = cardinality($36::bigint[]) then 1 else user_moved_away() end as checked from held
)`,
  'select moved.ord from all_held left join moved on true where all_held.checked = 1',
)

/**
 * Moves each counter that still has the value it was read with, together with its ledger rows and receipts: one
 * statement, so one round trip and one commit for all. Returns the moves that were made; the others lost a race and
 * must be decided again. If a new counter or a receipt exists by now, nothing is done and the unique violation is
 * thrown.
 */
export async function writeUsage(
  client: Tx,
  moves: readonly CounterMove[],
  otherReceipts: readonly Receipt[],
): Promise<Set<CounterMove>> {
  const updates = moves.flatMap((move) => {
    const last = move.entries.at(-1)
    return move.from && last ? [{ move, key: move.key, from: move.from, last }] : []
  })
  const inserts = moves.filter(({ from }) => from === null)
  const entries: { key: CounterKey; entry: LedgerEntry; move: number | null }[] = []
  const receipts: { receipt: Receipt; move: number | null }[] = []
  const take = ({ key, receipts: kept }: CounterMove, own: LedgerEntry[], move: number | null) => {
    for (const entry of own) entries.push({ key, entry, move })
    for (const receipt of kept) receipts.push({ receipt, move })
  }
  for (const [i, { move }] of updates.entries()) take(move, move.entries.slice(0, -1), i + 1)
  for (const move of inserts) take(move, move.entries, null)
  for (const receipt of otherReceipts) receipts.push({ receipt, move: null })
  // All writers use the same order, so no two wait for each other.
  receipts.sort(({ receipt: a }, { receipt: b }) =>
    a.key === b.key ? compare(a.appId + a.scope, b.appId + b.scope) : compare(a.key, b.key),
  )

  const inCell = cellOf(client) !== undefined
  const rows = await (inCell ? WRITE_IN_CELL : WRITE).run(client, [
    ...keyColumns(updates),
    textArray(updates, (m) => m.from.place),
    numberArray(updates, (m) => m.from.used),
    numberArray(updates, (m) => m.last.used),
    textArray(updates, (m) => m.last.action),
    numberArray(updates, (m) => m.last.delta),
    textArray(updates, (m) => timestamp(m.last.recordedAt)),
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
    numberArray(receipts, (r) => r.receipt.userUid),
    ...(inCell ? usersOf(inserts) : []),
  ])
  const done = new Set(inserts)
  for (const [ord] of rows) {
    const update = ord === null ? undefined : updates[Number(ord) - 1]
    if (update) done.add(update.move)
  }
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

/** Each once. */
function usersOf(moves: readonly CounterMove[]): string[] {
  const users = [...new Map(moves.map(({ key }) => [`${key.appId} ${key.userUid}`, key])).values()]
  return [textArray(users, (key) => key.appId), numberArray(users, (key) => key.userUid)]
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
