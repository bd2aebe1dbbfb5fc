import { APP_NOW } from '../apps/apps.ts'
import { numberArray, textArray } from '../connection/arrays.ts'
import { type Tx, timestamp, timestampOrNull } from '../connection/database.ts'
import { Prepared } from '../connection/prepared.ts'
import { listOfEvents } from './packed-events.ts'
import {
  type Basis,
  type CounterMove,
  type CounterRef,
  type KeptReceipt,
  keyColumns,
  type MadeMoves,
  type Receipt,
  receiptColumns,
  writtenFor,
} from './usage-moves.ts'
import { parameters, type Take, WRITE_RECEIPTS, writingReceipts } from './write-receipts.ts'

/** Another writer created the counter's first row: the whole statement fails. */
export const COUNTER_EXISTS = 'usage_counter_pkey'

// A move is made only if the counter is unchanged. A move that was decided from memory, or that creates its counter, is
// made only if the rest of what it was decided by is unchanged too: the app's version, the user's row and the time in which
// the decision holds. After a read this would be wasted: the read began after the call. `version` is null then.
//
// Users and counters are found by the position of their row, which saves an index lookup; the key confirms that it is the
// right row. A move brings its last ledger entry along, nearly always the only one.

const KEY = ['app_id', 'user_uid', 'feature_id', 'reset_period', 'period_start']
const KEY_TYPES = ['text', 'bigint', 'text', 'text', 'timestamptz']
export const BASIS_TYPES = ['bigint', 'tid', 'xid', 'timestamptz', 'timestamptz']

const of = (table: string, columns: readonly string[]): string =>
  columns.map((column) => `${table}.${column}`).join(', ')

/** Whether the basis of a move still holds. */
export const UNCHANGED = `app.id = m.app_id and app.version = m.version
    and u.ctid = m.user_tid and u.xmin = m.user_version and u.app_id = m.app_id and u.uid = m.user_uid
    and ${APP_NOW} >= m.since and (m.until is null or ${APP_NOW} < m.until)`

const SAME_COUNTER = `c.ctid = m.tid and c.used = m.was and ${KEY.map((column) => `c.${column} = m.${column}`).join(' and ')}`

const MOVED = of('m', ['ord', ...KEY, 'action', 'delta', 'becomes'])

/**
 * The moves that are made, as `moved`. What they are based on comes first, so that every statement of the hot paths locks
 * users before counters, as those do who take the tables away (`store/cells/`).
 */
const moving = (moves: string): string => `given as materialized (
  select * from ${moves}
), valid as materialized (
  select m.*, ${APP_NOW} as now from given m, app, users u
  where m.version is not null and ${UNCHANGED}
  union all
  select m.*, m.since from given m where m.version is null
), moved as (
  update usage_counter c set used = m.becomes from valid m
  where ${SAME_COUNTER}
  returning ${MOVED}, m.now, c.ctid
)`

/** The same, where some have no counter yet. */
const movingOrCreating = (
  moves: string,
): string => `${moving(moves).replace('moved as', 'updated as')}, created as (
  insert into usage_counter (${KEY}, used) select ${KEY}, becomes from valid where tid is null
), moved as (
  select * from updated union all select ${MOVED}, m.now, null from valid m where tid is null
)`

/**
 * Events of the moves that are made, in order: one row of the outbox for all of an app and a moment, because a row each
 * would cost as much as the rest of the statement.
 */
export const emitting = (take: Take, moved = 'moved'): string => `, emitted as (
  insert into event_outbox (app_id, at, kind, type, after)
  select m.app_id, m.now, 'USAGE', 'INSERT', ${listOfEvents('e.event', 'e.place')}
  from unnest(${take('text', 'int')}) with ordinality as e (event, move, place)
  join ${moved} m on m.ord = e.move group by m.app_id, m.now order by m.now
)`

function writing(moved: (moves: string) => string, withEvents = false): string {
  const take = parameters()
  const moves = `unnest(${take(...KEY_TYPES, ...BASIS_TYPES, 'tid', 'bigint', 'bigint', 'text', 'bigint')})
    with ordinality as m (${KEY}, version, user_tid, user_version, since, until, tid, was, becomes, action, delta, ord)`
  const earlier = `unnest(${take(...KEY_TYPES, 'text', 'bigint', 'bigint', 'int')})
    as e (${KEY}, action, delta, used, move)`
  return `with ${moved(moves)}, ledger as (
  insert into usage_ledger (${KEY}, action, delta, used, recorded_at)
  select ${of('e', [...KEY, 'action', 'delta', 'used'])}, m.now from ${earlier} join moved m on m.ord = e.move
  union all
  select ${KEY}, action, delta, becomes, now from moved
), ${writingReceipts(take, 'select ord from moved')}${withEvents ? emitting(take) : ''}
select ord, ctid from moved`
}

/** New counters are rare, and a statement that may create some takes longer to start, even if it does not. */
const WRITE = new Prepared<[ord: string, ctid: string]>('write-usage', writing(moving))
const WRITE_NEW = new Prepared<[ord: string, ctid: string | null]>(
  'write-usage-new',
  writing(movingOrCreating),
)

/** The same with events, so that a batch without any executes the same statement as before there were events. */
const WRITE_EVENTS = new Prepared<[ord: string, ctid: string]>('write-usage-events', writing(moving, true))
const WRITE_NEW_EVENTS = new Prepared<[ord: string, ctid: string | null]>(
  'write-usage-new-events',
  writing(movingOrCreating, true),
)

const statementFor = (creates: boolean, emits: boolean) =>
  emits ? (creates ? WRITE_NEW_EVENTS : WRITE_EVENTS) : creates ? WRITE_NEW : WRITE

/**
 * Makes each move whose basis and counter are unchanged, together with its ledger entries and receipts: one statement, so
 * one round trip and one commit for all. Returns the moves that were made; the others lost a race and must be decided
 * again. If a new counter or a receipt exists by now, nothing is done and the unique violation is thrown.
 */
export async function writeUsage(
  client: Tx,
  moves: readonly CounterMove[],
  otherReceipts: readonly Receipt[],
): Promise<MadeMoves> {
  const receipts: KeptReceipt[] = otherReceipts.map((receipt) => ({ receipt, move: null }))
  const made = new Map<CounterMove, CounterRef | null>()
  if (moves.length === 0) {
    await WRITE_RECEIPTS.run(client, receiptColumns(receipts))
    return made
  }
  const { written, earlier, events } = writtenFor(moves, receipts)
  const isNew = ({ move }: { move: CounterMove }) => move.from === null
  const values = [
    ...keyColumns(written),
    numberArray(written, ({ move }) => (move.recalled || move.from === null ? basisOf(move).version : null)),
    textArray(written, ({ move }) => basisOf(move).user.tid),
    textArray(written, ({ move }) => basisOf(move).user.version),
    textArray(written, ({ move }) => timestamp(basisOf(move).since)),
    textArray(written, ({ move }) => timestampOrNull(basisOf(move).until)),
    textArray(written, (one) => (isNew(one) ? null : (one.move.ref as unknown as string))),
    numberArray(written, ({ move }) => move.from),
    numberArray(written, ({ last }) => last.used),
    textArray(written, ({ last }) => last.action),
    numberArray(written, ({ last }) => last.delta),
    ...keyColumns(earlier),
    textArray(earlier, ({ entry }) => entry.action),
    numberArray(earlier, ({ entry }) => entry.delta),
    numberArray(earlier, ({ entry }) => entry.used),
    numberArray(earlier, ({ move }) => move),
    ...receiptColumns(receipts),
  ]
  if (events.length > 0)
    values.push(
      textArray(events, ({ event }) => event),
      numberArray(events, ({ move }) => move),
    )
  for (const [ord, ctid] of await statementFor(written.some(isNew), events.length > 0).run(client, values)) {
    const move = written[Number(ord) - 1]?.move
    if (move) made.set(move, ctid as unknown as CounterRef | null)
  }
  return made
}

function basisOf({ basis }: CounterMove): Basis {
  if (!basis) throw new Error('a move of this server has no basis')
  return basis
}
