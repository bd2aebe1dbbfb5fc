import { escapeIdentifier as quoted } from 'pg'
import { cellsOf, homeOfRemote } from '../cells/cells.ts'
import { type Db, TryAgain } from '../connection/database.ts'

// For a transaction that deletes entries of the ledger, or adds entries to partitions that are closed: until it ends no
// partition of that ledger is retired, and one that is being retired is summed up again.

interface Place {
  schema: string
  /** whether it is on another server */
  remote: boolean
}

const MOVES = `hashtext('tollgate moves of users')`

/** Keeps everybody from moving users for as long as the connection is there. */
export async function keepUsersInPlace(client: Db): Promise<void> {
  await client.query(`select pg_advisory_lock(${MOVES})`)
}

/** In the cells that users are moved from and to. */
export async function holdLedgers(tx: Db, places: readonly Place[]): Promise<void> {
  const { rows } = await tx.query<{ may: boolean }>(
    `select pg_try_advisory_xact_lock_shared(${MOVES}) as may`,
  )
  if (!rows[0]?.may) throw new TryAgain('a partition of the ledger is being retired')
  // In one order, as others may move users the other way.
  for (const { schema, remote } of places.toSorted((a, b) => (a.schema < b.schema ? -1 : 1))) {
    const cell = quoted(schema)
    if (remote) await holdRemote(tx, `${cell}.ledger_partition`)
    else {
      await tx.query(`lock table only ${cell}.usage_ledger in row exclusive mode`)
      await tx.query(noteChange(`${cell}.ledger_partition`))
    }
  }
}

/** In the cell that the transaction is in. Unless that is on another server, a trigger does it. */
export async function holdLedgerHere(tx: Db): Promise<void> {
  if (homeOfRemote(tx) !== null) await holdRemote(tx, 'ledger_partition')
}

/** Before rows of an app are deleted from a table of some cell, if it is the ledger of one on another server. */
export async function holdLedgerToDelete(tx: Db, table: string, appId: string): Promise<void> {
  const cells = cellsOf(tx)
  const schema = cells?.schemas.find((one) => table === `${quoted(one)}.usage_ledger`)
  if (schema === undefined || !cells?.isRemote(schema)) return
  // One that is being retired is not begun again for nothing.
  const { rowCount } = await tx.query(`select from ${table} where app_id = $1 limit 1`, [appId])
  if (rowCount === 1) await holdRemote(tx, `${quoted(schema)}.ledger_partition`)
}

const noteChange = (partitions: string): string =>
  `update ${partitions} set changes = changes + 1 where retiring_at is not null and retired_at is null returning block`

/** Locks the rows of the list of partitions, which whoever begins or ends a retirement there updates. */
async function holdRemote(tx: Db, partitions: string): Promise<void> {
  const { rows: noted } = await tx.query<{ block: number }>(noteChange(partitions))
  const { rows: held } = await tx.query<{ block: number; retiring: boolean }>(
    `select block, retiring_at is not null as retiring from ${partitions} where retired_at is null order by block for share`,
  )
  const isNoted = (block: number) => noted.some((one) => one.block === block)
  if (held.some(({ block, retiring }) => retiring && !isNoted(block)))
    throw new TryAgain('a partition of the ledger has just begun to be retired')
}
