import type { PoolClient } from 'pg'
import { StartError } from '../../domain/errors.ts'
import { type Pool, transactionOnce } from '../../store/connection/database.ts'
import type { DatabaseSetting } from '../../store/connection/start-problems.ts'
import { restoreEventPartitions } from '../../store/events/event-partitions.ts'
import { silenceEvents } from '../../store/events/outbox.ts'
import { restorePartitions } from '../../store/ledger/ledger-partitions.ts'
import { checkDatabase } from '../../store/schema/check-database.ts'
import { LATEST_MIGRATION, migrate, unknownAmong, whileOthersWait } from '../../store/schema/migrate.ts'
import { markRestore, unmarkRestore } from '../../store/schema/restore-mark.ts'
import {
  analyzeTables,
  emptyTables,
  findOccupied,
  JOBS,
  readRows,
  readTables,
  type TableColumns,
  unbalancedCounters,
  writeRows,
  writeSequences,
} from '../../store/schema/tables.ts'
import type { Contents, Head } from './contents.ts'
import type { Watch } from './format.ts'
import { isPreRelease, withoutPreRelease } from './pre-release.ts'
import { RowSum, type TableSum } from './row-sum.ts'

export interface Loaded {
  tables: TableSum[]
  /** counters that differ from the sum of their ledger rows, as in the source */
  unbalanced: number
}

interface Target {
  pool: Pool
  setting: DatabaseSetting
  /** migrates the job tables */
  migrateJobs: (pool: Pool) => Promise<void>
}

/** Rejects data that this version cannot store. */
export function checkHead(head: Head): void {
  if (isPreRelease(head)) return
  const { app, migrations } = head
  const unknown = unknownAmong(migrations)
  if (unknown.length > 0)
    throw new StartError(
      `The data was written by a newer version of Tollgate (${app}): its schema version is ${unknown.at(-1)}, but this version only supports up to ${LATEST_MIGRATION}. Use the newer version.`,
    )
  if (migrations.length === 0) throw new StartError('The source contains no Tollgate data. Nothing was done.')
}

const MADE_BY_MIGRATIONS = ['schema_migration', 'event_position', 'ledger_partition']

/** Rejects a target that already contains any of our tables, and lists them. */
export async function checkTarget({ pool, setting }: Target): Promise<void> {
  await checkDatabase(pool, setting)
  const occupied = await findOccupied(pool)
  if (occupied.length === 0) return
  const filled = occupied.filter(({ rows, name }) => rows > 0 && !MADE_BY_MIGRATIONS.includes(name))
  const some = filled
    .slice(0, 5)
    .map(({ name, rows }) => `${name}: ${rows >= 1000 ? 'at least 1000 rows' : rows}`)
  throw new StartError(
    `The target is not empty (${occupied.length} Tollgate tables; ${some.join(', ') || 'no rows'}). Nothing was changed. Use an empty database or a new data folder.`,
  )
}

/**
 * Loads all the data into an empty database: the schema as of the backup, the rows, and then the migrations since. A
 * marker table exists until everything is done, so that no service starts on a part.
 */
export async function load(given: Contents, target: Target, watch: Watch): Promise<Loaded> {
  const { pool } = target
  checkHead(given.head)
  const contents = withoutPreRelease(given)
  let loaded: Loaded | undefined
  await whileOthersWait(pool, async () => {
    await checkTarget(target)
    await markRestore(pool)
    await migrate(pool, { to: contents.head.migrations.at(-1) })
    await target.migrateJobs(pool)
    const tables = await loadRows(contents, pool, watch)
    await migrate(pool)
    loaded = { tables, unbalanced: await unbalancedCounters(pool) }
    await unmarkRestore(pool)
  })
  if (!loaded) throw new Error('no data was loaded')
  await analyzeTables(pool)
  return loaded
}

function loadRows(contents: Contents, pool: Pool, watch: Watch): Promise<TableSum[]> {
  return transactionOnce(pool, async (client) => {
    await emptyTables(client)
    await silenceEvents(client)
    const known = new Map((await readTables(client)).map((table) => [table.name, table]))
    const tables: { columns: TableColumns; sum: TableSum }[] = []
    const sequences = await contents.each(async (table, pieces) => {
      if (!known.has(table.name)) throw new StartError(`The data contains an unknown table: ${table.name}.`)
      // The list of its partitions comes before it.
      if (table.name === 'usage_ledger') await restorePartitions(client)
      if (table.name === 'event_log') await restoreEventPartitions(client)
      const sum = new RowSum(table.name)
      await writeRows(client, table, summed(pieces, sum, watch))
      watch(sum, true)
      tables.push({ columns: table, sum: sum.result() })
    })
    await writeSequences(client, sequences)
    for (const { columns, sum } of tables) await compare(client, columns, sum)
    return tables.map(({ sum }) => sum)
  })
}

async function* summed(pieces: AsyncIterable<Buffer>, sum: RowSum, watch: Watch): AsyncGenerator<Buffer> {
  for await (const piece of pieces) {
    sum.add(piece)
    yield piece
    watch(sum, false)
  }
}

/** Reads the restored rows again. */
async function compare(client: PoolClient, table: TableColumns, expected: TableSum): Promise<void> {
  const sum = new RowSum(table.name)
  for await (const piece of readRows(client, table)) sum.add(piece)
  const found = sum.result()
  // Jobs with one key are one job.
  const same = table.name === JOBS ? found.rows <= expected.rows : found.sum === expected.sum
  if (!same || (table.name !== JOBS && found.rows !== expected.rows))
    throw new StartError(
      `The table ${table.name} does not match the source after loading (${found.rows} of ${expected.rows} rows). Do not use the target.`,
    )
}
