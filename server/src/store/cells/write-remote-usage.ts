import { numberArray, textArray } from '../connection/arrays.ts'
import { type Tx, timestamp } from '../connection/database.ts'
import { commitTogether } from '../connection/distributed-commits.ts'
import { emitUsage } from '../events/outbox.ts'
import {
  type CounterMove,
  type KeptReceipt,
  keyColumns,
  type MadeMoves,
  type Receipt,
  receiptColumns,
  writtenFor,
} from '../usage/usage-moves.ts'
import type { UsageOptions } from '../usage/usage-store.ts'
import { WRITE_RECEIPTS } from '../usage/write-receipts.ts'
import { callWriting, takeNumbers } from './remote-cells.ts'

/** The ledgers of all cells are numbered by the first one's sequence. */
const LEDGER_NUMBERS = 'c0.usage_ledger_seq_seq'

/**
 * In a cell on another server: one call there. Receipts are kept on this server, and both are committed or neither.
 *
 * The ledger's numbers are taken after the counters were read. A counter that is as it was read has had no entry since, so
 * the entries of a counter are numbered in their order.
 */
export async function writeRemote(
  client: Tx,
  home: string,
  schema: string,
  moves: readonly CounterMove[],
  otherReceipts: readonly Receipt[],
  { inTransaction = false, confirming }: UsageOptions,
): Promise<MadeMoves> {
  const confirm = confirming?.(moves)
  const receipts: KeptReceipt[] = otherReceipts.map((receipt) => ({ receipt, move: null }))
  // New counters last: nothing they write depends on a comparison, so it has no number.
  const inserts = moves.filter(({ from }) => from === null)
  const { written, earlier, events } = writtenFor(
    [...moves.filter(({ from }) => from !== null), ...inserts],
    receipts,
  )
  const updates = written.slice(0, written.length - inserts.length)
  const numberOf = (move: number | null) => (move !== null && move <= updates.length ? move : null)
  const all = [...earlier, ...written.map(({ key, last }, i) => ({ key, entry: last, move: i + 1 }))]
  const numbers = await takeNumbers(client, LEDGER_NUMBERS, all.length)
  const numbered = all.map((one, i) => ({ ...one, seq: numbers[i] as number }))
  const values = [
    ...keyColumns(updates),
    numberArray(updates, ({ move }) => move.from),
    numberArray(updates, (m) => m.last.used),
    ...keyColumns(numbered),
    numberArray(numbered, (e) => e.seq),
    textArray(numbered, (e) => e.entry.action),
    numberArray(numbered, (e) => e.entry.delta),
    numberArray(numbered, (e) => e.entry.used),
    textArray(numbered, (e) => timestamp(e.entry.recordedAt)),
    numberArray(numbered, (e) => numberOf(e.move)),
    ...keyColumns(inserts),
    numberArray(inserts, (m) => m.to),
    ...holderColumns(inserts),
  ]
  const done = new Map<CounterMove, null>(inserts.map((move) => [move, null]))
  const write = async () => {
    const { rows } = await client.query<{ move: number }>(callWriting(schema, values))
    const made = new Set(rows.map(({ move }) => move))
    for (const ord of made) {
      const update = updates[ord - 1]
      if (update) done.set(update.move, null)
    }
    const due = receipts.filter(({ move }) => numberOf(move) === null || made.has(move as number))
    const columns = receiptColumns(due.map(({ receipt }) => ({ receipt, move: null })))
    if (due.length > 0) await WRITE_RECEIPTS.run(client, columns)
    const emitted = events.filter(({ move }) => numberOf(move) === null || made.has(move))
    await emitUsage(
      client,
      emitted.flatMap(({ move, event }) => {
        const of = written[move - 1]
        return of ? [{ event, appId: of.key.appId, at: of.last.recordedAt }] : []
      }),
    )
    await confirm?.()
  }
  if (inTransaction || (receipts.length === 0 && events.length === 0 && !confirm)) await write()
  else await committedTogether(client, home, schema, write)
  return done
}

/** On a connection that is in no transaction. */
async function committedTogether(
  client: Tx,
  home: string,
  schema: string,
  work: () => Promise<void>,
): Promise<void> {
  await client.query('begin')
  try {
    await commitTogether(client, home, [schema])
    await work()
    await client.query('commit')
  } catch (error) {
    // If that fails, the connection is broken, and its next use fails.
    await client.query('rollback').catch(() => {})
    throw error
  }
}

/** The users of new counters, each once: the server checks that they are still there. */
function holderColumns(moves: readonly CounterMove[]): string[] {
  const users = [...new Map(moves.map(({ key }) => [`${key.appId} ${key.userUid}`, key])).values()]
  return [textArray(users, (key) => key.appId), numberArray(users, (key) => key.userUid)]
}
