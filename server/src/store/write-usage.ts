import { numberArray, textArray } from './arrays.ts'
import { type CellGroup, kept } from './cell-map.ts'
import { type Tx, timestamp } from './database.ts'
import { Prepared } from './prepared.ts'
import {
  type CounterKey,
  type CounterMove,
  holderColumns,
  type KeptReceipt,
  keyColumns,
  type Receipt,
  receiptColumns,
  writtenFor,
} from './usage-moves.ts'
import { parameters, type Take, WRITE_RECEIPTS, writingReceipts } from './write-receipts.ts'
import { type Writing, writeRemote } from './write-remote-usage.ts'

/** Another writer created the counter's first row: the whole statement fails. */
export const COUNTER_EXISTS = 'usage_counter_pkey'

// A counter is found by the position of its row, which saves an index lookup; the key confirms that it is the right
// row. A moved counter brings its last ledger row along, nearly always the only one. A ledger row or receipt whose move
// is null belongs to a new counter or to none, and so depends on no update.

const KEY = 'app_id, user_uid, feature_id, reset_period, period_start'
const KEY_TYPES = ['text', 'bigint', 'text', 'text', 'timestamptz']

/** Where the parts of a statement find what they write: in lists of their own, or in those of all cells. */
interface Source {
  moves: string
  entries: string
  counters: string
}

/** The lists that a statement is given; with several cells, each row has the number of its cell. */
function sourceOf(take: Take, withNew: boolean, cell: 'cell' | null): Source {
  const [type, name] = cell ? [['int'], ', cell'] : [[], '']
  const moved = take(...KEY_TYPES, 'tid', 'bigint', 'bigint', 'text', 'bigint', 'timestamptz', ...type)
  const entered = take(...KEY_TYPES, 'text', 'bigint', 'bigint', 'timestamptz', 'int', ...type)
  return {
    moves: `unnest(${moved})
    with ordinality as m (${KEY}, place, was, becomes, action, delta, recorded_at${name}, ord)`,
    entries: `unnest(${entered})
    as e (${KEY}, action, delta, used, recorded_at, move${name})`,
    counters: withNew ? `unnest(${take(...KEY_TYPES, 'bigint', ...type)}) as n (${KEY}, used${name})` : '',
  }
}

/** What is written in one cell, whose rows `here` tells from others. */
const writingIn = (
  schema: string,
  suffix: string,
  { moves, entries, counters }: Source,
  here: string,
) => `moved${suffix} as (
  update ${schema}usage_counter c set used = m.becomes
  from ${moves}
  where ${here} c.ctid = m.place and c.app_id = m.app_id and c.user_uid = m.user_uid and c.feature_id = m.feature_id
    and c.reset_period = m.reset_period and c.period_start = m.period_start and c.used = m.was
  returning m.*
), ledger${suffix} as (
  insert into ${schema}usage_ledger (${KEY}, action, delta, used, recorded_at)
  select ${KEY}, action, delta, used, recorded_at
  from ${entries}
  where ${here} (move is null or move = any(array(select ord from moved${suffix})))
  union all
  select ${KEY}, action, delta, becomes, recorded_at from moved${suffix}
)${
  counters &&
  `, made${suffix} as (
  insert into ${schema}usage_counter (${KEY}, used)
  select ${KEY}, used from ${counters} where ${here} true
)`
}`

function writing(withNew: boolean): string {
  const take = parameters()
  const parts = writingIn('', '', sourceOf(take, withNew, null), '')
  return `with ${parts}, ${writingReceipts(take, 'select ord from moved')}
select ord from moved`
}

/** New counters are rare, and a statement that may create some takes longer to start, even if it does not. */
const WRITE = new Prepared<[ord: string]>('write-usage', writing(false))
const WRITE_NEW = new Prepared<[ord: string]>('write-usage-new', writing(true))

/**
 * What is written in the cells of a group. A list takes longer to unpack than to look through once for each cell, so the cells
 * share theirs.
 */
function writingInCells(take: Take, schemas: readonly string[], withNew: boolean) {
  const given = sourceOf(take, withNew, 'cell')
  const shared = { moves: 'moves m', entries: 'entries', counters: withNew ? 'counters' : '' }
  const lists = [
    `moves as materialized (select * from ${given.moves})`,
    `entries as materialized (select * from ${given.entries})`,
    ...(withNew ? [`counters as materialized (select * from ${given.counters})`] : []),
  ]
  const parts = schemas.map((schema, i) => writingIn(`${schema}.`, `_${i}`, shared, `cell = ${i} and`))
  const moved = schemas.map((_, i) => `select ord from moved_${i}`).join(' union all ')
  return { parts: [...lists, ...parts, writingReceipts(take, moved)], moved }
}

const writeIn = kept(({ name, schemas }: CellGroup) => {
  const { parts, moved } = writingInCells(parameters(), schemas, false)
  return new Prepared<[ord: string]>(`write-usage-${name}`, `with ${parts.join(',\n')}\n${moved}`)
})

/**
 * The same with new counters. Users may be moved away to another cell: their counters are not found then, but a new one
 * would be left behind. So its user is held, and all is undone if that is gone.
 */
const writeNewIn = kept(({ name, schemas }: CellGroup) => {
  const take = parameters()
  const { parts, moved } = writingInCells(take, schemas, true)
  const held = schemas.map(
    (schema, i) => `held_${i} as materialized (
  select u.uid from holders n
  join ${schema}.users u on u.app_id = n.app_id and u.uid = n.uid where n.cell = ${i} for key share of u
)`,
  )
  const counted = schemas.map((_, i) => `(select count(*) from held_${i})`).join(' + ')
  return new Prepared<[ord: string | null]>(
    `write-usage-new-${name}`,
    `with ${parts.join(',\n')},
holders as materialized (select * from unnest(${take('text', 'bigint', 'int')}) as n (app_id, uid, cell)),
${held.join(',\n')},
all_held as (
  select case when ${counted} = (select count(*) from holders) then 1 else user_moved_away() end as checked
)
select moved.ord from all_held left join (${moved}) moved on true where all_held.checked = 1`,
  )
})

/**
 * Moves each counter that still has the value it was read with, together with its ledger rows and receipts: one
 * statement, so one round trip and one commit for all. They are in one group of cells. Returns the moves that were made; the
 * others lost a race and must be decided again. If a new counter or a receipt exists by now, nothing is done and the unique
 * violation is thrown.
 */
export async function writeUsage(
  client: Tx,
  moves: readonly CounterMove[],
  otherReceipts: readonly Receipt[],
  how: Writing = {},
): Promise<Set<CounterMove>> {
  const receipts: KeptReceipt[] = otherReceipts.map((receipt) => ({ receipt, move: null }))
  const [first] = moves
  if (!first) {
    await WRITE_RECEIPTS.run(client, receiptColumns(receipts))
    return new Set()
  }
  const group = first.key.cell?.group
  const written = writtenFor(moves, receipts)
  if (group?.remote) return writeRemote(client, group, written, receipts, how)
  const { updates, entries, inserts } = written
  const withNew = inserts.length > 0
  const cellNumbers = (rows: readonly { key: CounterKey }[]) =>
    group ? [numberArray(rows, ({ key }) => key.cell?.index ?? 0)] : []
  const values = [
    ...keyColumns(updates),
    textArray(updates, (m) => m.from.place),
    numberArray(updates, (m) => m.from.used),
    numberArray(updates, (m) => m.last.used),
    textArray(updates, (m) => m.last.action),
    numberArray(updates, (m) => m.last.delta),
    textArray(updates, (m) => timestamp(m.last.recordedAt)),
    ...cellNumbers(updates),
    ...keyColumns(entries),
    textArray(entries, (e) => e.entry.action),
    numberArray(entries, (e) => e.entry.delta),
    numberArray(entries, (e) => e.entry.used),
    textArray(entries, (e) => timestamp(e.entry.recordedAt)),
    numberArray(entries, (e) => e.move),
    ...cellNumbers(entries),
  ]
  if (withNew)
    values.push(
      ...keyColumns(inserts),
      numberArray(inserts, (m) => m.to),
      ...cellNumbers(inserts),
    )
  values.push(...receiptColumns(receipts))
  if (withNew && group) values.push(...holderColumns(inserts))
  const statement = withNew ? (group ? writeNewIn(group) : WRITE_NEW) : group ? writeIn(group) : WRITE
  const rows = await statement.run(client, values)
  const done = new Set(inserts)
  for (const [ord] of rows) {
    const update = ord === null ? undefined : updates[Number(ord) - 1]
    if (update) done.add(update.move)
  }
  return done
}
