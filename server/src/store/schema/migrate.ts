import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { StartError } from '../../domain/errors.ts'
import { type Pool, transactionOnce } from '../connection/database.ts'
import type { HomeDb } from '../connection/places.ts'
import { withoutWaiting } from '../connection/without-waiting.ts'
import { MIGRATION_FILES } from './migration-files.ts'

const NAMES = Object.keys(MIGRATION_FILES)
export const LATEST_MIGRATION = NAMES.at(-1) ?? ''

const REPORT_MS = 10_000
/** Five minutes. */
const TABLE_LOCKS = { attempts: 600, ms: 500 }
/** Ten minutes. */
const SCHEMA_LOCK = { attempts: 60, ms: REPORT_MS }

interface Migrating {
  /** the last one to apply; by default all are applied */
  to?: string | undefined
  files?: Readonly<Record<string, string>>
  /** Called when a migration begins, and every ten seconds until it is applied. */
  applying?: (name: string) => void
}

/** Applies missing migrations, each in a transaction. The caller holds the lock of `whileOthersWait`. */
export async function migrate(pool: Pool, options: Migrating = {}): Promise<void> {
  const { to = LATEST_MIGRATION, files = MIGRATION_FILES, applying = () => {} } = options
  const applied = await appliedMigrations(pool)
  const missing = Object.entries(files).filter(([name]) => name <= to && !applied.includes(name))
  if (missing.length === 0) return
  await pool.query(
    `create table if not exists schema_migration (
       name text primary key, applied_at timestamptz not null default clock_timestamp())`,
  )
  for (const [name, sql] of missing) {
    applying(name)
    const reports = setInterval(applying, REPORT_MS, name)
    await apply(pool, name, sql).finally(() => clearInterval(reports))
  }
}

/** Others queue behind a transaction that waits for a table, so this one gives up immediately and is retried. */
async function apply(pool: Pool, name: string, sql: string): Promise<void> {
  for (let attempt = 1; attempt <= TABLE_LOCKS.attempts; attempt++) {
    const isApplied = await withoutWaiting(pool, 'here', async (tx) => {
      await tx.query(sql)
      await tx.query('insert into schema_migration (name) values ($1)', [name])
    })
    if (isApplied) return
    await delay(TABLE_LOCKS.ms)
  }
  throw new StartError(
    `The migration ${name} could not lock the tables that it changes: end long transactions on the database, and start again.`,
  )
}

/** The applied migrations, oldest first; none without a schema. */
export async function appliedMigrations(db: HomeDb): Promise<string[]> {
  const { rows } = await db.query(`select where to_regclass('schema_migration') is not null`)
  if (rows.length === 0) return []
  const applied = await db.query<{ name: string }>('select name from schema_migration order by name')
  return applied.rows.map(({ name }) => name)
}

/** Whether there is nothing to migrate. */
export async function isMigrated(db: HomeDb): Promise<boolean> {
  const applied = await appliedMigrations(db)
  return NAMES.every((name) => applied.includes(name))
}

/** Migrations that only a newer version of the service knows. */
export const unknownAmong = (names: readonly string[]): string[] =>
  names.filter((name) => !NAMES.includes(name))

/**
 * Several processes may start at once: the first one changes the schema, the others wait. The lock belongs to a
 * transaction, so that it works through a pooler and ends with its connection. `waiting` is called every ten seconds.
 */
export async function whileOthersWait(
  pool: Pool,
  change: () => Promise<void>,
  { waiting = () => {}, attempts = SCHEMA_LOCK.attempts, ms = SCHEMA_LOCK.ms } = {},
): Promise<void> {
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const isDone = await transactionOnce(pool, async (lock) => {
      await lock.query(`set local lock_timeout = ${ms}`)
      const isMine = await lock.query(`select pg_advisory_xact_lock(hashtext('tollgate schema'))`).then(
        () => true,
        (error) => !(error instanceof pg.DatabaseError && error.code === '55P03') && Promise.reject(error),
      )
      if (isMine) await change()
      return isMine
    })
    if (isDone) return
    waiting()
  }
  throw new StartError(
    'Another process has been changing the schema of the database for too long: wait for it or stop it, and start again.',
  )
}
