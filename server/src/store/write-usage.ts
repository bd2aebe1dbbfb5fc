import type { ResetPeriod } from '../domain/period.ts'
import type { UsageAction } from '../domain/usage.ts'
import { type Db, timestamp } from './database.ts'
import type { KeyName } from './idempotency.ts'

export interface CounterKey {
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

export interface LedgerEntry {
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

/**
 * Moves each counter, if it still stands where it was read, together with its ledger rows and receipts; one
 * statement, so one round trip and one commit for all of them. Returns, by position, which moves were made: the
 * others lost to somebody else and are to be decided again. A receipt that exists already fails the whole
 * statement with a unique violation.
 */
const TEXT = `
with move as (
  select * from unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::timestamptz[], $6::bigint[], $7::bigint[])
    with ordinality as m (app_id, user_uid, feature_id, reset_period, period_start, was, becomes, ord)
), updated as (
  update usage_counter c set used = m.becomes from move m
  where m.was is not null and c.app_id = m.app_id and c.user_uid = m.user_uid and c.feature_id = m.feature_id
    and c.reset_period = m.reset_period and c.period_start = m.period_start and c.used = m.was
  returning m.ord
), inserted as (
  insert into usage_counter as c (app_id, user_uid, feature_id, reset_period, period_start, used)
  select app_id, user_uid, feature_id, reset_period, period_start, becomes from move where was is null
  on conflict do nothing
  returning c.app_id, c.user_uid, c.feature_id, c.reset_period, c.period_start
), made as (
  select ord from updated
  union all
  select m.ord from inserted join move m using (app_id, user_uid, feature_id, reset_period, period_start)
), ledger as (
  insert into usage_ledger (app_id, user_uid, feature_id, reset_period, period_start, action, delta, used, recorded_at)
  select m.app_id, m.user_uid, m.feature_id, m.reset_period, m.period_start, e.action, e.delta, e.used, e.recorded_at
  from unnest($8::int[], $9::text[], $10::bigint[], $11::bigint[], $12::timestamptz[])
    with ordinality as e (move, action, delta, used, recorded_at, ord)
  join made on made.ord = e.move join move m on m.ord = e.move
  order by e.ord
), receipt as (
  insert into idempotency (app_id, scope, key, request, results)
  select r.app_id, r.scope, r.key, r.request, r.results::json
  from unnest($13::int[], $14::text[], $15::text[], $16::text[], $17::bytea[], $18::text[])
    as r (move, app_id, scope, key, request, results)
  where r.move is null or r.move in (select ord from made)
)
select ord::int - 1 as position from made`

export async function writeUsage(
  db: Db,
  moves: readonly CounterMove[],
  otherReceipts: readonly Receipt[],
): Promise<Set<number>> {
  const entries = moves.flatMap((m, i) => m.entries.map((entry) => ({ ...entry, move: i + 1 })))
  const receipts = [
    ...moves.flatMap((m, i) => m.receipts.map((receipt) => ({ ...receipt, move: i + 1 }))),
    ...otherReceipts.map((receipt) => ({ ...receipt, move: null })),
  ]
  const { rows } = await db.query<{ position: number }>({
    name: 'write-usage',
    text: TEXT,
    values: [
      moves.map((m) => m.key.appId),
      moves.map((m) => m.key.userUid),
      moves.map((m) => m.key.featureId),
      moves.map((m) => m.key.resetPeriod),
      moves.map((m) => timestamp(m.key.periodStart)),
      moves.map((m) => m.from),
      moves.map((m) => m.to),
      entries.map((e) => e.move),
      entries.map((e) => e.action),
      entries.map((e) => e.delta),
      entries.map((e) => e.used),
      entries.map((e) => timestamp(e.recordedAt)),
      receipts.map((r) => r.move),
      receipts.map((r) => r.appId),
      receipts.map((r) => r.scope),
      receipts.map((r) => r.key),
      receipts.map((r) => r.request),
      receipts.map((r) => r.results),
    ],
  })
  return new Set(rows.map((row) => row.position))
}
