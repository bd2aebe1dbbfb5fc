import { numberArray, textArray } from '../connection/arrays.ts'
import { type Tx, timestamp } from '../connection/database.ts'
import { Prepared } from '../connection/prepared.ts'
import {
  type CounterMove,
  type KeptReceipt,
  keyColumns,
  type Receipt,
  receiptColumns,
  writtenFor,
} from './usage-moves.ts'
import { parameters, WRITE_RECEIPTS, writingReceipts } from './write-receipts.ts'

/** Another writer created the counter's first row: the whole statement fails. */
export const COUNTER_EXISTS = 'usage_counter_pkey'

// A counter is found by the position of its row, which saves an index lookup; the key confirms that it is the right
// row. A moved counter brings its last ledger row along, nearly always the only one. A ledger row or receipt whose move
// is null belongs to a new counter or to none, and so depends on no update.

const KEY = 'app_id, user_uid, feature_id, reset_period, period_start'
const KEY_TYPES = ['text', 'bigint', 'text', 'text', 'timestamptz']

function writing(withNew: boolean): string {
  const take = parameters()
  const moves = take(...KEY_TYPES, 'tid', 'bigint', 'bigint', 'text', 'bigint', 'timestamptz')
  const entries = take(...KEY_TYPES, 'text', 'bigint', 'bigint', 'timestamptz', 'int')
  const counters = withNew ? take(...KEY_TYPES, 'bigint') : null
  return `with moved as (
  update usage_counter c set used = m.becomes
  from unnest(${moves})
    with ordinality as m (${KEY}, tid, was, becomes, action, delta, recorded_at, ord)
  where c.ctid = m.tid and c.app_id = m.app_id and c.user_uid = m.user_uid and c.feature_id = m.feature_id
    and c.reset_period = m.reset_period and c.period_start = m.period_start and c.used = m.was
  returning m.*
), ledger as (
  insert into usage_ledger (${KEY}, action, delta, used, recorded_at)
  select ${KEY}, action, delta, used, recorded_at
  from unnest(${entries}) as e (${KEY}, action, delta, used, recorded_at, move)
  where move is null or move = any(array(select ord from moved))
  union all
  select ${KEY}, action, delta, becomes, recorded_at from moved
), ${
    counters === null
      ? ''
      : `made as (
  insert into usage_counter (${KEY}, used) select * from unnest(${counters})
), `
  }${writingReceipts(take, 'select ord from moved')}
select ord from moved`
}

/** New counters are rare, and a statement that may create some takes longer to start, even if it does not. */
const WRITE = new Prepared<[ord: string]>('write-usage', writing(false))
const WRITE_NEW = new Prepared<[ord: string]>('write-usage-new', writing(true))

/**
 * Moves each counter that still has the value it was read with, together with its ledger rows and receipts: one
 * statement, so one round trip and one commit for all. Returns the moves that were made; the
 * others lost a race and must be decided again. If a new counter or a receipt exists by now, nothing is done and the unique
 * violation is thrown.
 */
export async function writeUsage(
  client: Tx,
  moves: readonly CounterMove[],
  otherReceipts: readonly Receipt[],
): Promise<Set<CounterMove>> {
  const receipts: KeptReceipt[] = otherReceipts.map((receipt) => ({ receipt, move: null }))
  if (moves.length === 0) {
    await WRITE_RECEIPTS.run(client, receiptColumns(receipts))
    return new Set()
  }
  const { updates, entries, inserts } = writtenFor(moves, receipts)
  const withNew = inserts.length > 0
  const values = [
    ...keyColumns(updates),
    textArray(updates, ({ move }) => move.ref as unknown as string),
    numberArray(updates, (m) => m.from),
    numberArray(updates, (m) => m.last.used),
    textArray(updates, (m) => m.last.action),
    numberArray(updates, (m) => m.last.delta),
    textArray(updates, (m) => timestamp(m.last.recordedAt)),
    ...keyColumns(entries),
    textArray(entries, (e) => e.entry.action),
    numberArray(entries, (e) => e.entry.delta),
    numberArray(entries, (e) => e.entry.used),
    textArray(entries, (e) => timestamp(e.entry.recordedAt)),
    numberArray(entries, (e) => e.move),
  ]
  if (withNew)
    values.push(
      ...keyColumns(inserts),
      numberArray(inserts, (m) => m.to),
    )
  values.push(...receiptColumns(receipts))
  const done = new Set(inserts)
  for (const [ord] of await (withNew ? WRITE_NEW : WRITE).run(client, values)) {
    const update = updates[Number(ord) - 1]
    if (update) done.add(update.move)
  }
  return done
}
