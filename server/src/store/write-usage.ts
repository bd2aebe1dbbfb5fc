import type { ResetPeriod } from '../domain/period.ts'
import type { UsageAction } from '../domain/usage.ts'
import { numberArray, textArray } from './arrays.ts'
import { type Cell, type CellGroup, kept } from './cell-map.ts'
import { cellsOf, commitTogether } from './cells.ts'
import { type Tx, timestamp } from './database.ts'
import type { KeyName } from './idempotency.ts'
import { Prepared } from './prepared.ts'
import { callWriting, takeNumbers } from './remote-cells.ts'

interface CounterKey {
  appId: string
  userUid: number
  /** where the user is; null: there is one cell */
  cell: Cell | null
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

const KEY = 'app_id, user_uid, feature_id, reset_period, period_start'
const KEY_TYPES = ['text', 'bigint', 'text', 'text', 'timestamptz']

/** Names the parameters of a statement one after the other, each a list. */
function parameters(): Take {
  let taken = 0
  return (...types) => types.map((type) => `$${++taken}::${type}[]`).join(', ')
}
type Take = (...types: string[]) => string

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

const writingReceipts = (take: Take, moved: string) => `receipt as (
  insert into idempotency (app_id, scope, key, request, results, user_uid)
  select app_id, scope, key, decode(request, 'hex'), results::json, user_uid
  from unnest(${take('text', 'text', 'text', 'text', 'text', 'int', 'bigint')})
    as r (app_id, scope, key, request, results, move, user_uid)
  where move is null or move = any(array(${moved}))
)`

/** Where nothing was counted, only receipts are written, and no cell is concerned. */
const WRITE_RECEIPTS = new Prepared<[ord: null]>(
  'write-receipts',
  `with ${writingReceipts(parameters(), 'select null::int')}
select null where false`,
)

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
  { inTransaction = false } = {},
): Promise<Set<CounterMove>> {
  const receipts: KeptReceipt[] = otherReceipts.map((receipt) => ({ receipt, move: null }))
  const [first] = moves
  if (!first) {
    await WRITE_RECEIPTS.run(client, receiptColumns(receipts))
    return new Set()
  }
  const group = first.key.cell?.group
  const written = writtenFor(moves, receipts)
  if (group?.remote) return writeRemote(client, group, written, receipts, inTransaction)
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

/** The ledgers of all cells are numbered by the first one's sequence. */
const LEDGER_NUMBERS = 'c0.usage_ledger_seq_seq'

/**
 * In a cell on another server: one call there. Receipts are kept on this server, and both are committed or neither.
 *
 * The ledger's numbers are taken after the counters were read. A counter that is as it was read has had no entry since, so
 * the entries of a counter are numbered in their order.
 */
async function writeRemote(
  client: Tx,
  group: CellGroup,
  { updates, entries, inserts }: Written,
  receipts: KeptReceipt[],
  inTransaction: boolean,
): Promise<Set<CounterMove>> {
  const all = [...entries, ...updates.map(({ key, last }, i) => ({ key, entry: last, move: i + 1 }))]
  const numbers = await takeNumbers(client, LEDGER_NUMBERS, all.length)
  const numbered = all.map((one, i) => ({ ...one, seq: numbers[i] as number }))
  const values = [
    ...keyColumns(updates),
    numberArray(updates, (m) => m.from.used),
    numberArray(updates, (m) => m.last.used),
    ...keyColumns(numbered),
    numberArray(numbered, (e) => e.seq),
    textArray(numbered, (e) => e.entry.action),
    numberArray(numbered, (e) => e.entry.delta),
    numberArray(numbered, (e) => e.entry.used),
    textArray(numbered, (e) => timestamp(e.entry.recordedAt)),
    numberArray(numbered, (e) => e.move),
    ...keyColumns(inserts),
    numberArray(inserts, (m) => m.to),
    ...holderColumns(inserts).slice(0, 2),
  ]
  const done = new Set(inserts)
  const write = async () => {
    const { rows } = await client.query<{ move: number }>(callWriting(group.schemas[0] ?? '', values))
    const made = new Set(rows.map(({ move }) => move))
    for (const ord of made) {
      const update = updates[ord - 1]
      if (update) done.add(update.move)
    }
    const due = receipts.filter(({ move }) => move === null || made.has(move))
    const columns = receiptColumns(due.map(({ receipt }) => ({ receipt, move: null })))
    if (due.length > 0) await WRITE_RECEIPTS.run(client, columns)
  }
  if (inTransaction || receipts.length === 0) await write()
  else await committedTogether(client, group, write)
  return done
}

/** On a connection that is in no transaction. */
async function committedTogether(
  client: Tx,
  { schemas }: CellGroup,
  work: () => Promise<void>,
): Promise<void> {
  await client.query('begin')
  try {
    await commitTogether(client, cellsOf(client)?.home ?? 'public', schemas)
    await work()
    await client.query('commit')
  } catch (error) {
    // If that fails, the connection is broken, and whoever uses it next finds out.
    await client.query('rollback').catch(() => {})
    throw error
  }
}

/** `move`: the number of the move it depends on, counted from 1; null: it depends on none */
interface KeptReceipt {
  receipt: Receipt
  move: number | null
}

/** What the moves write; their receipts are added to the given ones. */
type Written = ReturnType<typeof writtenFor>

function writtenFor(moves: readonly CounterMove[], receipts: KeptReceipt[]) {
  const updates = moves.flatMap((move) => {
    const last = move.entries.at(-1)
    return move.from && last ? [{ move, key: move.key, from: move.from, last }] : []
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
function receiptColumns(receipts: KeptReceipt[]): string[] {
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

function keyColumns(rows: readonly { key: CounterKey }[]): string[] {
  return [
    textArray(rows, ({ key }) => key.appId),
    numberArray(rows, ({ key }) => key.userUid),
    textArray(rows, ({ key }) => key.featureId),
    textArray(rows, ({ key }) => key.resetPeriod),
    textArray(rows, ({ key }) => timestamp(key.periodStart)),
  ]
}

/** The users of new counters, each once. */
function holderColumns(moves: readonly CounterMove[]): string[] {
  const users = [...new Map(moves.map(({ key }) => [`${key.appId} ${key.userUid}`, key])).values()]
  return [
    textArray(users, (key) => key.appId),
    numberArray(users, (key) => key.userUid),
    numberArray(users, (key) => key.cell?.index ?? 0),
  ]
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
