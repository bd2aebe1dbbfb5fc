import type { ClientBase } from 'pg'
import { StartError } from '../../domain/errors.ts'
import { atOneMoment, type Pool } from '../../store/connection/database.ts'
import type { HomeDb } from '../../store/connection/places.ts'
import { appliedMigrations } from '../../store/schema/migrate.ts'
import {
  holdTables,
  isOnSeveralServers,
  ledgersDiffer,
  readRows,
  readSequences,
  readTables,
  readTime,
  type Sequence,
  type TableColumns,
} from '../../store/schema/tables.ts'

/** Describes a set of data. */
export interface Head {
  /** the version of the service that wrote it */
  app: string
  /** the migrations applied to its schema */
  migrations: string[]
  /** by the database's clock: everything acknowledged before is included */
  takenAt: string
}

/** All the data of an installation, in a file or in a database. */
export interface Contents {
  head: Head
  /** Passes on table after table, each after those it refers to; then the sequences. */
  each(take: (table: TableColumns, pieces: AsyncIterable<Buffer>) => Promise<void>): Promise<Sequence[]>
}

/**
 * Works on one snapshot of a database. Others may write during a backup; during a move they are blocked until it is
 * done.
 */
export async function withContents<T>(
  pool: Pool,
  app: string,
  writers: 'go on' | 'wait',
  work: (contents: Contents) => Promise<T>,
): Promise<T> {
  if (await isOnSeveralServers(pool))
    throw new StartError(
      'Some cells are on other servers, so a consistent backup is not possible. Back up each server separately.',
    )
  const tables = await readTables(pool)
  return atOneMoment(pool, writers === 'wait' ? 'read write' : 'read only', async (client) => {
    await holdTables(client, tables, writers === 'wait' ? 'writes' : 'changes of the schema')
    return work(await contentsOf(client, app))
  })
}

async function contentsOf(client: ClientBase & HomeDb, app: string): Promise<Contents> {
  if (await ledgersDiffer(client))
    throw new StartError('Old ledger entries are being deleted or archived. Retry when that is done.')
  const takenAt = await readTime(client)
  const head = { app, migrations: await appliedMigrations(client), takenAt }
  return {
    head,
    async each(take) {
      for (const table of await readTables(client)) await take(table, readRows(client, table))
      // Read last, so that they are at least as far as any row.
      return readSequences(client)
    },
  }
}
