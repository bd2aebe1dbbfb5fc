import { RESERVATION_KEPT_DAYS } from '../../domain/limits.ts'
import { poolOf, type Reservation } from '../../domain/reservation.ts'
import { numberArray, textArray } from '../connection/arrays.ts'
import { type Tx, timestamp, timestampOrNull } from '../connection/database.ts'
import { Prepared } from '../connection/prepared.ts'
import type { PackedEvent } from './packed-events.ts'
import type { LedgerKey, ReservationWrite, SpendingMove } from './spending-move.ts'
import { type KeptReceipt, type Receipt, receiptColumns } from './usage-moves.ts'
import { parameters, type Take, writingReceipts } from './write-receipts.ts'
import { BASIS_TYPES, emitting, UNCHANGED } from './write-usage.ts'

/** Its id is of another reservation by now: the whole statement fails. */
export const RESERVATION_EXISTS = 'usage_reservation_pkey'

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
  select m.app_id, m.user_uid, m.at, r.* from unnest(${take('int', 'text', ...RESERVED_TYPES, ...ASKED_TYPES)})
    as r (ord, id, ${RESERVED}, ${ASKED}) join made m on m.ord = r.ord
), reservation_created as (
  insert into usage_reservation (app_id, id, user_uid, created_at, ${RESERVED}, ${ASKED})
  select app_id, id, user_uid, at, ${RESERVED}, ${ASKED} from reservation
), reservation_dropped as (
  delete from usage_reservation o using (
    select old.app_id, old.id from reservation r cross join lateral (
      select app_id, id, expires_at from usage_reservation k
      where k.app_id = r.app_id and k.user_uid = r.user_uid and k.feature_id = r.feature_id order by seq limit 2) old
    where old.expires_at < r.at - interval '${RESERVATION_KEPT_DAYS} days') d
  where o.app_id = d.app_id and o.id = d.id
)`

const settling = (take: Take): string => `, settled as materialized (
  select m.app_id, r.* from unnest(${take('int', 'text', ...RESERVED_TYPES)}) as r (ord, id, ${RESERVED})
  join made m on m.ord = r.ord
), reservation_changed as (
  update usage_reservation o set ${RESERVED.map((column) => `${column} = r.${column}`).join(', ')}
  from settled r where o.app_id = r.app_id and o.id = r.id
)`

const countersMoved = (take: Take): string => `, counter as materialized (
  select h.app_id, h.user_uid, c.* from unnest(${take('int', ...KEY_TYPES, 'tid', 'bigint', 'bigint')})
    as c (ord, ${KEY}, tid, was, becomes) join held h using (ord)
), found as materialized (
  select m.* from counter m join usage_counter c on ${sameCounter('c', 'm')}
    and c.used = m.was and (m.tid is null or c.ctid = m.tid)
  order by m.ord, ${columns('m', KEY)} for update of c
), made as materialized (
  select h.* from held h where (select count(*) from counter where ord = h.ord and was is not null)
    = (select count(*) from found where ord = h.ord)
), counter_moved as (
  update usage_counter c set used = f.becomes from found f join made m on m.ord = f.ord where ${sameCounter('c', 'f')}
), counter_created as (
  insert into usage_counter (app_id, user_uid, ${KEY}, used)
  select c.app_id, c.user_uid, ${columns('c', KEY)}, c.becomes from counter c join made m on m.ord = c.ord
  where c.was is null
)`

/**
 * Does not set `ended` on a spent credit: that column is in the predicate of indexes, so changing it would write to all of
 * them. The user's next credit sets it (`endCredits`).
 */
const creditsMoved = (take: Take): string => `, taken as materialized (
  select m.app_id, k.* from unnest(${take('int', 'text', 'bigint', 'text', 'bigint')})
    as k (ord, id, used, period, period_used) join made m on m.ord = k.ord
), credit_moved as (
  update credit c set used = k.used, period = k.period, period_used = k.period_used,
    ended = c.ended and (k.used >= c.amount or c.voided_at is not null)
  from taken k where c.app_id = k.app_id and c.id = k.id
)`

const capsMoved = (take: Take): string => `, cap_moved as (
  insert into usage_cap as c (app_id, user_uid, feature_id, entity, period, window_start, used)
  select m.app_id, m.user_uid, k.feature_id, k.entity, k.period, k.window_start, k.used
  from unnest(${take('int', 'text', 'text', 'text', 'timestamptz', 'bigint')})
    as k (ord, feature_id, entity, period, window_start, used) join made m on m.ord = k.ord
  on conflict (app_id, user_uid, feature_id, entity, period)
    do update set window_start = excluded.window_start, used = excluded.used
)`

const entered = (take: Take): string => `, ledger as (
  insert into usage_ledger (app_id, user_uid, ${KEY}, action, delta, used, recorded_at)
  select m.app_id, m.user_uid, ${columns('e', KEY)}, e.action, e.delta, e.used, m.at
  from unnest(${take('int', ...KEY_TYPES, 'text', 'bigint', 'bigint')})
    with ordinality as e (ord, ${KEY}, action, delta, used, line) join made m on m.ord = e.ord order by e.ord, e.line
)`

/** Optional parts of a statement besides the spender's row, in the order of the parameters, each with a letter for the statement's name. */
const PARTS = {
  counters: ['n', countersMoved],
  credits: ['c', creditsMoved],
  entries: ['l', entered],
  caps: ['p', capsMoved],
  receipts: ['i', (take: Take) => `, ${writingReceipts(take, 'select ord::int from made')}`],
  reserved: ['r', reserving],
  settled: ['s', settling],
  events: ['e', (take: Take) => emitting(take, '(select *, at as now from made)')],
} as const satisfies Record<string, readonly [letter: string, sql: (take: Take) => string]>
type PartName = keyof typeof PARTS

/** Every kind of write that a statement can leave out. */
export const SPENDING_PARTS = Object.keys(PARTS) as PartName[]

export function spendingStatement(parts: readonly PartName[]): string {
  const take = parameters()
  const moves = `unnest(${take('text', 'bigint', 'bigint', 'text', 'timestamptz')}, ${take(...BASIS_TYPES)})
    with ordinality as m (app_id, user_uid, spender_version, features, at, version, user_tid, user_version, since, until, ord)`
  return `with given as materialized (
  select * from ${moves}
), held as materialized (
  select m.app_id, m.user_uid, m.features, m.at, m.ord from given m
  join spender s on s.app_id = m.app_id and s.user_uid = m.user_uid and s.version = m.spender_version
  where m.version is null or exists (select from app, users u where ${UNCHANGED})
  order by m.ord for update of s
)${parts.includes('counters') ? '' : ', made as not materialized (select * from held)'}${parts.map((part) => PARTS[part][1](take)).join('')}, spender_moved as (
  update spender s set version = s.version + 1, features = s.features || m.features::jsonb
  from made m where s.app_id = m.app_id and s.user_uid = m.user_uid
)
select ord from made`
}

/**
 * By what they write. PostgreSQL prepares each part of a statement for every execution, even if it then writes no rows: with
 * all parts, that takes longer than writing the few rows of a batch.
 */
const statements = new Map<string, Prepared<[ord: string]>>()

function statementFor(parts: readonly PartName[]): Prepared<[ord: string]> {
  const name = `write-spending-${parts.map((part) => PARTS[part][0]).join('')}`
  const statement = statements.get(name) ?? new Prepared<[ord: string]>(name, spendingStatement(parts))
  statements.set(name, statement)
  return statement
}

/** Makes each move whose spender and counters are unchanged, as a whole; returns those that were made. */
export async function writeSpending(client: Tx, moves: readonly SpendingMove[]): Promise<Set<SpendingMove>> {
  const reservations = lines(moves, (move) => move.reservations)
  const values: Record<PartName, (string | null)[] | null> = {
    counters: columnsOf(
      lines(moves, (move) => [...move.counters.values()]),
      (counters) => [
        ...keyColumns(counters.map(({ line }) => line.key)),
        textArray(counters, ({ line: { ref, from } }) => (from === null ? null : (ref as string | null))),
        numberArray(counters, ({ line }) => line.from),
        numberArray(counters, ({ line }) => line.to),
      ],
    ),
    credits: columnsOf(
      lines(moves, (move) => [...move.credits]),
      (credits) => [
        textArray(credits, ({ line: [id] }) => id),
        numberArray(credits, ({ line: [, { used }] }) => used),
        textArray(credits, ({ line: [, { period }] }) => period),
        numberArray(credits, ({ line: [, { periodUsed }] }) => periodUsed),
      ],
    ),
    entries: columnsOf(
      lines(moves, (move) => move.entries),
      (entries) => [
        ...keyColumns(entries.map(({ line }) => line.key)),
        textArray(entries, ({ line }) => line.action),
        numberArray(entries, ({ line }) => line.delta),
        numberArray(entries, ({ line }) => line.used),
      ],
    ),
    caps: columnsOf(
      lines(moves, (move) => [...move.caps.values()]),
      (caps) => [
        textArray(caps, ({ line }) => line.featureId),
        textArray(caps, ({ line }) => line.entity ?? ''),
        textArray(caps, ({ line }) => line.period),
        textArray(caps, ({ line }) => timestamp(line.windowStart)),
        numberArray(caps, ({ line }) => line.used),
      ],
    ),
    receipts: receiptsOf(lines(moves, (move) => move.receipts)),
    reserved: columnsOf(
      reservations.filter(({ line }) => line.isNew),
      (created) => [...reservedColumns(created), ...askedColumns(created)],
    ),
    settled: columnsOf(
      reservations.filter(({ line }) => !line.isNew),
      reservedColumns,
    ),
    events: eventsOf(lines(moves, (move) => move.events)),
  }
  const parts = SPENDING_PARTS.filter((part) => values[part] !== null)
  const rows = await statementFor(parts).run(client, [
    ...moveColumns(moves),
    ...parts.flatMap((part) => values[part] ?? []),
  ])
  return new Set(rows.flatMap(([ord]) => moves[Number(ord) - 1] ?? []))
}

const moveColumns = (moves: readonly SpendingMove[]): string[] => [
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
]

/** The numbers of the moves, and the rest; null: there is nothing to write. */
const columnsOf = <Line>(
  all: readonly Numbered<Line>[],
  rest: (all: readonly Numbered<Line>[]) => string[],
): string[] | null => (all.length === 0 ? null : [numberArray(all, ({ ord }) => ord), ...rest(all)])

function receiptsOf(receipts: readonly Numbered<Receipt>[]): (string | null)[] | null {
  if (receipts.length === 0) return null
  return receiptColumns(receipts.map(({ ord, line }): KeptReceipt => ({ receipt: line, move: ord })))
}

function eventsOf(events: readonly Numbered<PackedEvent>[]): string[] | null {
  if (events.length === 0) return null
  return [textArray(events, ({ line }) => line), numberArray(events, ({ ord }) => ord)]
}

const ofRow = (
  all: readonly Numbered<ReservationWrite>[],
  column: (row: Reservation) => string | number | null,
) => textArray(all, ({ line }) => column(line.row)?.toString() ?? null)

const reservedColumns = (all: readonly Numbered<ReservationWrite>[]): string[] => [
  ofRow(all, ({ id }) => id),
  ofRow(all, ({ state }) => state),
  ofRow(all, ({ parts }) => JSON.stringify(parts)),
  ofRow(all, ({ settled }) => settled),
  ofRow(all, ({ late }) => (late ? 't' : 'f')),
  ofRow(all, ({ reason }) => reason),
  ofRow(all, ({ expiresAt }) => timestamp(expiresAt)),
  ofRow(all, ({ parts }) => poolOf(parts)),
]

const askedColumns = (all: readonly Numbered<ReservationWrite>[]): string[] => [
  ofRow(all, ({ featureId }) => featureId),
  ofRow(all, ({ amount }) => amount),
  ofRow(all, ({ atLeast }) => atLeast),
  ofRow(all, ({ ttlSeconds }) => ttlSeconds),
  ofRow(all, ({ metadata }) => JSON.stringify(metadata)),
]

interface Numbered<Line> {
  /** of its move, from 1 */
  ord: number
  line: Line
}

/** An item of a move, with the number of the move. */
function lines<Line>(
  moves: readonly SpendingMove[],
  of: (move: SpendingMove) => readonly Line[],
): Numbered<Line>[] {
  return moves.flatMap((move, i) => of(move).map((line) => ({ ord: i + 1, line })))
}

const keyColumns = (keys: readonly LedgerKey[]): string[] => [
  textArray(keys, ({ featureId }) => featureId),
  textArray(keys, ({ resetPeriod }) => resetPeriod),
  textArray(keys, ({ periodStart }) => timestamp(periodStart)),
]
