import type { ResetPeriod } from '../domain/period.ts'
import type { UsageAction } from '../domain/usage.ts'
import { numberArray, textArray } from './arrays.ts'
import { byCell, type Cell, type CellGroup, kept } from './cell-map.ts'
import { type Tx, timestamp } from './database.ts'
import type { KeyName } from './idempotency.ts'
import { Prepared } from './prepared.ts'

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

/** What is written in one cell, from as many parameters as `writtenIn` returns; `$` names them. */
const writingIn = (schema: string, suffix: string, $: Parameter, withNew: boolean) => `moved${suffix} as (
  update ${schema}usage_counter c set used = m.becomes
  from unnest(${$(1)}::text[], ${$(2)}::bigint[], ${$(3)}::text[], ${$(4)}::text[], ${$(5)}::timestamptz[],
      ${$(6)}::tid[], ${$(7)}::bigint[], ${$(8)}::bigint[], ${$(9)}::text[], ${$(10)}::bigint[], ${$(11)}::timestamptz[])
    with ordinality as m (app_id, user_uid, feature_id, reset_period, period_start,
      place, was, becomes, action, delta, recorded_at, ord)
  where c.ctid = m.place and c.app_id = m.app_id and c.user_uid = m.user_uid and c.feature_id = m.feature_id
    and c.reset_period = m.reset_period and c.period_start = m.period_start and c.used = m.was
  returning m.*
), ledger${suffix} as (
  insert into ${schema}usage_ledger (app_id, user_uid, feature_id, reset_period, period_start, action, delta, used, recorded_at)
  select app_id, user_uid, feature_id, reset_period, period_start, action, delta, used, recorded_at
  from unnest(${$(12)}::text[], ${$(13)}::bigint[], ${$(14)}::text[], ${$(15)}::text[], ${$(16)}::timestamptz[],
      ${$(17)}::text[], ${$(18)}::bigint[], ${$(19)}::bigint[], ${$(20)}::timestamptz[], ${$(21)}::int[])
    as e (app_id, user_uid, feature_id, reset_period, period_start, action, delta, used, recorded_at, move)
  where move is null or move = any(array(select ord from moved${suffix}))
  union all
  select app_id, user_uid, feature_id, reset_period, period_start, action, delta, becomes, recorded_at from moved${suffix}
)${
  withNew
    ? `, made${suffix} as (
  insert into ${schema}usage_counter (app_id, user_uid, feature_id, reset_period, period_start, used)
  select * from unnest(${$(22)}::text[], ${$(23)}::bigint[], ${$(24)}::text[], ${$(25)}::text[], ${$(26)}::timestamptz[], ${$(27)}::bigint[])
)`
    : ''
}`

/** Receipts, from seven parameters. */
const writingReceipts = (moved: string, $: Parameter) => `receipt as (
  insert into idempotency (app_id, scope, key, request, results, user_uid)
  select app_id, scope, key, decode(request, 'hex'), results::json, user_uid
  from unnest(${$(1)}::text[], ${$(2)}::text[], ${$(3)}::text[], ${$(4)}::text[], ${$(5)}::text[], ${$(6)}::int[], ${$(7)}::bigint[])
    as r (app_id, scope, key, request, results, move, user_uid)
  where move is null or move = any(array(${moved}))
)`

type Parameter = (n: number) => string
const from =
  (offset: number): Parameter =>
  (n) =>
    `$${offset + n}`

/** Where nothing was counted, only receipts are written, and no cell is concerned. */
const WRITE_RECEIPTS = new Prepared<[ord: null]>(
  'write-receipts',
  `with ${writingReceipts('select null::int', from(0))}
select null where false`,
)

/** New counters are rare, and a statement that may create some takes longer to start, even if it does not. */
const WRITE = new Prepared<[ord: string]>(
  'write-usage',
  `with ${writingIn('', '', from(0), false)}, ${writingReceipts('select ord from moved', from(21))}
select ord from moved`,
)

const WRITE_NEW = new Prepared<[ord: string]>(
  'write-usage-new',
  `with ${writingIn('', '', from(0), true)}, ${writingReceipts('select ord from moved', from(27))}
select ord from moved`,
)

/** Of each cell, the last of its parameters is how many moves are those of the cells before it. */
function partsOf(schemas: readonly string[], parameters: number) {
  const cells = schemas.map((schema, i) => ({ schema: `${schema}.`, i, $: from(parameters * i) }))
  const moved = cells
    .map(({ i, $ }) => `select ord + ${$(parameters)}::int as ord from moved_${i}`)
    .join(' union all ')
  return { cells, moved, receipts: writingReceipts(moved, from(parameters * cells.length)) }
}

/** In the cells of a group. */
const writeIn = kept(({ name, schemas }: CellGroup) => {
  const { cells, moved, receipts } = partsOf(schemas, 22)
  return new Prepared<[ord: string]>(
    `write-usage-${name}`,
    `with ${cells.map(({ schema, i, $ }) => writingIn(schema, `_${i}`, $, false)).join(', ')},
${receipts}
${moved}`,
  )
})

/**
 * The same with new counters. Users may be moved away to another cell: their counters are not found then, but a new one
 * would be left behind. So its user is held, and all is undone if that is gone.
 */
const writeNewIn = kept(({ name, schemas }: CellGroup) => {
  const { cells, moved, receipts } = partsOf(schemas, 30)
  const held = ({ schema, i, $ }: (typeof cells)[number]) => `held_${i} as materialized (
  select u.uid from unnest(${$(28)}::text[], ${$(29)}::bigint[]) as n (app_id, uid)
  join ${schema}users u on u.app_id = n.app_id and u.uid = n.uid for key share of u
)`
  const areHeld = cells.map(
    ({ i, $ }) => `(select count(*) from held_${i}) = cardinality(${$(29)}::bigint[])`,
  )
  return new Prepared<[ord: string | null]>(
    `write-usage-new-${name}`,
    `with ${cells.map(({ schema, i, $ }) => writingIn(schema, `_${i}`, $, true)).join(', ')},
${receipts},
${cells.map(held).join(',\n')},
all_held as (select case when ${areHeld.join(' and ')} then 1 else user_moved_away() end as checked)
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
): Promise<Set<CounterMove>> {
  const receipts: KeptReceipt[] = otherReceipts.map((receipt) => ({ receipt, move: null }))
  const [first] = moves
  if (!first) {
    await WRITE_RECEIPTS.run(client, receiptColumns(receipts))
    return new Set()
  }
  const group = first.key.cell?.group
  const withNew = moves.some(({ from }) => from === null)
  const updated: CounterMove[] = []
  const values = (group ? byCell(group, moves, ({ key }) => key.cell) : [moves]).flatMap((here) => {
    const before = updated.length
    const { columns, updates, inserts } = writtenIn(here, before, receipts)
    updated.push(...updates)
    if (withNew)
      columns.push(
        ...keyColumns(inserts),
        numberArray(inserts, (m) => m.to),
      )
    if (withNew && group) columns.push(...usersOf(inserts))
    if (group) columns.push(String(before))
    return columns
  })
  values.push(...receiptColumns(receipts))
  const statement = withNew ? (group ? writeNewIn(group) : WRITE_NEW) : group ? writeIn(group) : WRITE
  const rows = await statement.run(client, values)
  const done = new Set(moves.filter(({ from }) => from === null))
  for (const [ord] of rows) {
    const move = ord === null ? undefined : updated[Number(ord) - 1]
    if (move) done.add(move)
  }
  return done
}

/** `move`: the number of the move it depends on, counted from 1; null: it depends on none */
interface KeptReceipt {
  receipt: Receipt
  move: number | null
}

/** The parameters of one cell. Receipts are added to those of all cells, where `before` counts the moves so far. */
function writtenIn(moves: readonly CounterMove[], before: number, receipts: KeptReceipt[]) {
  const updates = moves.flatMap((move) => {
    const last = move.entries.at(-1)
    return move.from && last ? [{ move, key: move.key, from: move.from, last }] : []
  })
  const inserts = moves.filter(({ from }) => from === null)
  const entries: { key: CounterKey; entry: LedgerEntry; move: number | null }[] = []
  for (const [i, { move, key }] of updates.entries()) {
    for (const entry of move.entries.slice(0, -1)) entries.push({ key, entry, move: i + 1 })
    for (const receipt of move.receipts) receipts.push({ receipt, move: before + i + 1 })
  }
  for (const { key, entries: own, receipts: given } of inserts) {
    for (const entry of own) entries.push({ key, entry, move: null })
    for (const receipt of given) receipts.push({ receipt, move: null })
  }
  const columns = [
    ...keyColumns(updates),
    textArray(updates, (m) => m.from.place),
    numberArray(updates, (m) => m.from.used),
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
  return { columns, updates: updates.map(({ move }) => move), inserts }
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

/** Each once. */
function usersOf(moves: readonly CounterMove[]): string[] {
  const users = [...new Map(moves.map(({ key }) => [`${key.appId} ${key.userUid}`, key])).values()]
  return [textArray(users, (key) => key.appId), numberArray(users, (key) => key.userUid)]
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
