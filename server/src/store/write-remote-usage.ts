import { numberArray, textArray } from './arrays.ts'
import type { CellGroup } from './cell-map.ts'
import { cellsOf } from './cells.ts'
import { type Tx, timestamp } from './database.ts'
import { callWriting, takeNumbers } from './remote-cells.ts'
import { commitTogether } from './remote-commits.ts'
import {
  type CounterMove,
  holderColumns,
  type KeptReceipt,
  keyColumns,
  receiptColumns,
  type Written,
} from './usage-moves.ts'
import { WRITE_RECEIPTS } from './write-receipts.ts'

/** The ledgers of all cells are numbered by the first one's sequence. */
const LEDGER_NUMBERS = 'c0.usage_ledger_seq_seq'

export interface Writing {
  inTransaction?: boolean
  /** Of a cell on another server: throws if what was written must be undone. */
  confirm?: (() => Promise<void>) | null
}

/**
 * In a cell on another server: one call there. Receipts are kept on this server, and both are committed or neither.
 *
 * The ledger's numbers are taken after the counters were read. A counter that is as it was read has had no entry since, so
 * the entries of a counter are numbered in their order.
 */
export async function writeRemote(
  client: Tx,
  group: CellGroup,
  { updates, entries, inserts }: Written,
  receipts: KeptReceipt[],
  { inTransaction = false, confirm = null }: Writing,
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
    await confirm?.()
  }
  if (inTransaction || (receipts.length === 0 && !confirm)) await write()
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
