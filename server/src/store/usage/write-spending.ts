import type { CountedCap } from '../../domain/cap.ts'
import { RESERVATION_KEPT_DAYS } from '../../domain/limits.ts'
import type { Spending } from '../../domain/purse.ts'
import { poolOf, type Reservation } from '../../domain/reservation.ts'
import type { UsageAction } from '../../domain/usage.ts'
import { numberArray, textArray } from '../connection/arrays.ts'
import { type Tx, timestamp, timestampOrNull } from '../connection/database.ts'
import { Prepared } from '../connection/prepared.ts'
import type { UsageEvent } from './packed-events.ts'
import { type Basis, type CounterRef, type KeptReceipt, type Receipt, receiptColumns } from './usage-moves.ts'
import { parameters, type Take, writingReceipts } from './write-receipts.ts'
import { BASIS_TYPES, emitting, UNCHANGED } from './write-usage.ts'

/** A counter or credit, as the ledger names it. */
export interface LedgerKey {
  featureId: string
  resetPeriod: string
  periodStart: number
}

/** Its id is of another reservation by now: the whole statement fails. */
export const RESERVATION_EXISTS = 'usage_reservation_pkey'

export interface ReservationWrite {
  isNew: boolean
  row: Reservation
}

/** What one user's decisions write: counters, credits, caps, reservations, ledger entries and receipts. All of it is written, or nothing. */
export interface SpendingMove {
  appId: string
  userUid: number
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
  events: UsageEvent[]
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
  amount: number
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

// The spender's row is locked if it still has the version that was read or remembered, and then the counters if they are unchanged. Only
// if all of a move was found is anything changed: nobody else changes the user's credits meanwhile, since they would need
// the spender's row.

const KEY = ['feature_id', 'reset_period', 'period_start']
const KEY_TYPES = ['text', 'text', 'timestamptz']
const columns = (table: string, names: readonly string[]) =>
  names.map((name) => `${table}.${name}`).join(', ')
const sameCounter = (counter: string, move: string) =>
  ['app_id', 'user_uid', ...KEY].map((column) => `${counter}.${column} = ${move}.${column}`).join(' and ')

const RESERVED = ['state', 'split', 'settled', 'late', 'reason', 'expires_at', 'pool_id']
const RESERVED_TYPES = ['text', 'json', 'bigint', 'boolean', 'text', 'timestamptz', 'text']
const ASKED = ['feature_id', 'amount', 'at_least', 'ttl_seconds', 'metadata']
const ASKED_TYPES = ['text', 'bigint', 'bigint', 'int', 'json']

/** With a new reservation, the oldest of the user and feature are deleted, if they are kept no longer. */
const reserving = (take: Take): string => `, reservation as materialized (
  select m.app_id, m.user_uid, m.at, r.*
  from unnest(${take('int', 'text', 'boolean', ...RESERVED_TYPES, ...ASKED_TYPES)})
    as r (ord, id, is_new, ${RESERVED}, ${ASKED}) join made m on m.ord = r.ord
), reservation_changed as (
  update usage_reservation o set ${RESERVED.map((column) => `${column} = r.${column}`).join(', ')}
  from reservation r where not r.is_new and o.app_id = r.app_id and o.id = r.id
), reservation_created as (
  insert into usage_reservation (app_id, id, user_uid, created_at, ${RESERVED}, ${ASKED})
  select app_id, id, user_uid, at, ${RESERVED}, ${ASKED} from reservation where is_new
), reservation_dropped as (
  delete from usage_reservation o using (
    select old.app_id, old.id from reservation r cross join lateral (
      select app_id, id, expires_at from usage_reservation k
      where k.app_id = r.app_id and k.user_uid = r.user_uid and k.feature_id = r.feature_id order by seq limit 2) old
    where r.is_new and old.expires_at < r.at - interval '${RESERVATION_KEPT_DAYS} days') d
  where o.app_id = d.app_id and o.id = d.id
)`

function writing({ withEvents, reserves }: { withEvents: boolean; reserves: boolean }): string {
  const take = parameters()
  const given = `unnest(${take('text', 'bigint', 'bigint', 'text', 'timestamptz')}, ${take(...BASIS_TYPES)})
    with ordinality as m (app_id, user_uid, spender_version, features, at, version, user_tid, user_version, since, until, ord)`
  const counters = `unnest(${take('int', ...KEY_TYPES, 'tid', 'bigint', 'bigint')})
    as c (ord, ${KEY}, tid, was, becomes)`
  const credits = `unnest(${take('int', 'text', 'bigint', 'text', 'bigint', 'boolean')})
    as k (ord, id, used, period, period_used, ended)`
  const entries = `unnest(${take('int', ...KEY_TYPES, 'text', 'bigint', 'bigint')})
    with ordinality as e (ord, ${KEY}, action, delta, used, line)`
  const caps = `unnest(${take('int', 'text', 'text', 'text', 'timestamptz', 'bigint')})
    as k (ord, feature_id, entity, period, window_start, used)`
  return `with given as materialized (
  select * from ${given}
), held as materialized (
  select m.app_id, m.user_uid, m.features, m.at, m.ord from given m
  join spender s on s.app_id = m.app_id and s.user_uid = m.user_uid and s.version = m.spender_version
  where m.version is null or exists (select from app, users u where ${UNCHANGED})
  order by m.ord for update of s
), counter as materialized (
  select h.app_id, h.user_uid, c.* from ${counters} join held h using (ord)
), found as materialized (
  select m.* from counter m join usage_counter c on ${sameCounter('c', 'm')}
    and c.used = m.was and (m.tid is null or c.ctid = m.tid)
  order by m.ord, ${columns('m', KEY)} for update of c
), made as materialized (
  select h.* from held h where (select count(*) from counter where ord = h.ord and was is not null)
    = (select count(*) from found where ord = h.ord)
), spender_moved as (
  update spender s set version = s.version + 1, features = s.features || m.features::jsonb
  from made m where s.app_id = m.app_id and s.user_uid = m.user_uid
), counter_moved as (
  update usage_counter c set used = f.becomes from found f join made m on m.ord = f.ord where ${sameCounter('c', 'f')}
), counter_created as (
  insert into usage_counter (app_id, user_uid, ${KEY}, used)
  select c.app_id, c.user_uid, ${columns('c', KEY)}, c.becomes from counter c join made m on m.ord = c.ord
  where c.was is null
), taken as materialized (
  select m.app_id, k.* from ${credits} join made m on m.ord = k.ord
), credit_moved as (
  update credit c set used = k.used, period = k.period, period_used = k.period_used,
    ended = k.ended or c.voided_at is not null
  from taken k where c.app_id = k.app_id and c.id = k.id
), cap_moved as (
  insert into usage_cap as c (app_id, user_uid, feature_id, entity, period, window_start, used)
  select m.app_id, m.user_uid, k.feature_id, k.entity, k.period, k.window_start, k.used
  from ${caps} join made m on m.ord = k.ord
  on conflict (app_id, user_uid, feature_id, entity, period)
    do update set window_start = excluded.window_start, used = excluded.used
), ledger as (
  insert into usage_ledger (app_id, user_uid, ${KEY}, action, delta, used, recorded_at)
  select m.app_id, m.user_uid, ${columns('e', KEY)}, e.action, e.delta, e.used, m.at
  from ${entries} join made m on m.ord = e.ord order by e.ord, e.line
), ${writingReceipts(take, 'select ord::int from made')}${reserves ? reserving(take) : ''}${withEvents ? emitting(take, '(select *, at as now from made)') : ''}
select ord from made`
}

// A statement that may do more takes longer, even if it does not.
const statement = (name: string, does: Parameters<typeof writing>[0]) =>
  new Prepared<[ord: string]>(name, writing(does))
const WRITE = statement('write-spending', { withEvents: false, reserves: false })
const WRITE_EVENTS = statement('write-spending-events', { withEvents: true, reserves: false })
const RESERVE = statement('write-reservations', { withEvents: false, reserves: true })
const RESERVE_EVENTS = statement('write-reservations-events', { withEvents: true, reserves: true })

const statementFor = (reserves: boolean, emits: boolean) =>
  reserves ? (emits ? RESERVE_EVENTS : RESERVE) : emits ? WRITE_EVENTS : WRITE

/** Makes each move whose spender and counters are unchanged, as a whole; returns those that were made. */
export async function writeSpending(client: Tx, moves: readonly SpendingMove[]): Promise<Set<SpendingMove>> {
  const counters = lines(moves, (move) => [...move.counters.values()])
  const credits = lines(moves, (move) => [...move.credits])
  const entries = lines(moves, (move) => move.entries)
  const caps = lines(moves, (move) => [...move.caps.values()])
  const receipts: KeptReceipt[] = lines(moves, (move) => move.receipts).map(({ ord, line }) => ({
    receipt: line,
    move: ord,
  }))
  const reservations = lines(moves, (move) => move.reservations)
  const events = lines(moves, (move) => move.events)
  const values = [
    textArray(moves, ({ appId }) => appId),
    numberArray(moves, ({ userUid }) => userUid),
    numberArray(moves, ({ version }) => version),
    textArray(moves, ({ features }) => JSON.stringify(Object.fromEntries(features))),
    textArray(moves, ({ at }) => timestamp(at)),
    numberArray(moves, ({ basis }) => basis?.version ?? null),
    textArray(moves, ({ basis }) => basis?.user.tid ?? null),
    textArray(moves, ({ basis }) => basis?.user.version ?? null),
    textArray(moves, ({ basis }) => basis && timestamp(basis.since)),
    textArray(moves, ({ basis }) => basis && timestampOrNull(basis.until)),
    numberArray(counters, ({ ord }) => ord),
    ...keyColumns(counters.map(({ line }) => line.key)),
    textArray(counters, ({ line: { ref, from } }) => (from === null ? null : (ref as string | null))),
    numberArray(counters, ({ line }) => line.from),
    numberArray(counters, ({ line }) => line.to),
    numberArray(credits, ({ ord }) => ord),
    textArray(credits, ({ line: [id] }) => id),
    numberArray(credits, ({ line: [, { used }] }) => used),
    textArray(credits, ({ line: [, { period }] }) => period),
    numberArray(credits, ({ line: [, { periodUsed }] }) => periodUsed),
    textArray(credits, ({ line: [, { used, amount }] }) => (used >= amount ? 't' : 'f')),
    numberArray(entries, ({ ord }) => ord),
    ...keyColumns(entries.map(({ line }) => line.key)),
    textArray(entries, ({ line }) => line.action),
    numberArray(entries, ({ line }) => line.delta),
    numberArray(entries, ({ line }) => line.used),
    numberArray(caps, ({ ord }) => ord),
    textArray(caps, ({ line }) => line.featureId),
    textArray(caps, ({ line }) => line.entity ?? ''),
    textArray(caps, ({ line }) => line.period),
    textArray(caps, ({ line }) => timestamp(line.windowStart)),
    numberArray(caps, ({ line }) => line.used),
    ...receiptColumns(receipts),
  ]
  if (reservations.length > 0) values.push(...reservationColumns(reservations))
  if (events.length > 0)
    values.push(
      textArray(events, ({ line }) => line),
      numberArray(events, ({ ord }) => ord),
    )
  const rows = await statementFor(reservations.length > 0, events.length > 0).run(client, values)
  return new Set(rows.flatMap(([ord]) => moves[Number(ord) - 1] ?? []))
}

function reservationColumns(lines: readonly { ord: number; line: ReservationWrite }[]): string[] {
  const of = (column: (row: Reservation) => string | number | null) =>
    textArray(lines, ({ line }) => column(line.row)?.toString() ?? null)
  return [
    numberArray(lines, ({ ord }) => ord),
    of(({ id }) => id),
    textArray(lines, ({ line }) => (line.isNew ? 't' : 'f')),
    of(({ state }) => state),
    of(({ parts }) => JSON.stringify(parts)),
    of(({ settled }) => settled),
    of(({ late }) => (late ? 't' : 'f')),
    of(({ reason }) => reason),
    of(({ expiresAt }) => timestamp(expiresAt)),
    of(({ parts }) => poolOf(parts)),
    of(({ featureId }) => featureId),
    of(({ amount }) => amount),
    of(({ atLeast }) => atLeast),
    of(({ ttlSeconds }) => ttlSeconds),
    of(({ metadata }) => JSON.stringify(metadata)),
  ]
}

/** What belongs to a move, with the number of the move. */
function lines<Line>(
  moves: readonly SpendingMove[],
  of: (move: SpendingMove) => readonly Line[],
): { ord: number; line: Line }[] {
  return moves.flatMap((move, i) => of(move).map((line) => ({ ord: i + 1, line })))
}

const keyColumns = (keys: readonly LedgerKey[]): string[] => [
  textArray(keys, ({ featureId }) => featureId),
  textArray(keys, ({ resetPeriod }) => resetPeriod),
  textArray(keys, ({ periodStart }) => timestamp(periodStart)),
]
