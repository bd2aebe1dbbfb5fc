import { escapeIdentifier as quoted } from 'pg'
import { TryAgain } from '../connection/database.ts'
import type { HomeDb } from '../connection/places.ts'
import { mayMoveUsers } from '../ledger/retire-partition.ts'
import type { Cell } from './cells.ts'

// For a transaction that deletes entries of the ledger, or adds entries to partitions that are closed: until it ends no
// partition of that ledger is retired, and one that is being retired is summed up again.

/** In the cells that users are moved from and to. */
export async function holdLedgers(tx: HomeDb, cells: readonly Cell[]): Promise<void> {
  if (!(await mayMoveUsers(tx))) throw new TryAgain('a partition of the ledger is being retired')
  // In one order, as others may move users the other way.
  for (const { schema, remote } of cells.toSorted((a, b) => (a.schema < b.schema ? -1 : 1))) {
    const cell = quoted(schema)
    if (remote) await holdLedgerOf(tx, `${cell}.ledger_partition`)
    else {
      await tx.query(`lock table only ${cell}.usage_ledger in row exclusive mode`)
      await tx.query(noteChange(`${cell}.ledger_partition`))
    }
  }
}

const noteChange = (partitions: string): string =>
  `update ${partitions} set changes = changes + 1 where retiring_at is not null and retired_at is null returning block`

/** Locks the rows of the list of partitions, which the start and the end of a retirement update. */
export async function holdLedgerOf(tx: HomeDb, partitions: string): Promise<void> {
  const { rows: noted } = await tx.query<{ block: number }>(noteChange(partitions))
  const { rows: held } = await tx.query<{ block: number; retiring: boolean }>(
    `select block, retiring_at is not null as retiring from ${partitions} where retired_at is null order by block for share`,
  )
  const isNoted = (block: number) => noted.some((one) => one.block === block)
  if (held.some(({ block, retiring }) => retiring && !isNoted(block)))
    throw new TryAgain('a partition of the ledger has just begun to be retired')
}
