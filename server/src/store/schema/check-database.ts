import { StartError } from '../../domain/errors.ts'
import type { Pool } from '../connection/database.ts'
import { type DatabaseSetting, startProblem } from '../connection/start-problems.ts'
import { appliedMigrations, LATEST_MIGRATION, unknownAmong } from './migrate.ts'
import { RESTORE_MARK } from './restore-mark.ts'

const OLDEST_POSTGRES = 150_000

interface Found {
  version: number
  name: string
  standby: boolean
  readOnly: boolean
  halfRestored: boolean
  preRelease: boolean
}

/** Rejects, with one line, a database that the service cannot use. */
export async function checkDatabase(pool: Pool, setting: DatabaseSetting): Promise<void> {
  const found = await look(pool, setting)
  if (found.version < OLDEST_POSTGRES)
    throw new StartError(`PostgreSQL 15 or later is required; ${setting} points to ${found.name}.`)
  if (found.standby)
    throw new StartError(`The database is a read-only standby. Point ${setting} to the primary.`)
  if (found.readOnly)
    throw new StartError(
      `The database is read-only. Turn off default_transaction_read_only for the database and its user, or point ${setting} to another database.`,
    )
  if (found.halfRestored)
    throw new StartError(
      `A restore into this database did not finish. Restore again into an empty database. (${setting} points to it.)`,
    )
  if (found.preRelease)
    throw new StartError(
      `The database that ${setting} points to was made by a version before 0.1.0, which this version does not upgrade. Carry its data over: run npm run backup -- FILE in the checkout that made it, then npx tollgate restore FILE with this version, into an empty database or a new data folder.`,
    )
  const unknown = unknownAmong(await appliedMigrations(pool))
  if (unknown.length > 0)
    throw new StartError(
      `The database was used by a newer version of Tollgate: its schema version is ${unknown.at(-1)}, but this version only supports up to ${LATEST_MIGRATION}. Start the newer version.`,
    )
}

async function look(pool: Pool, setting: DatabaseSetting): Promise<Found> {
  try {
    const { rows } = await pool.query<Found>(
      `select current_setting('server_version_num')::int as version, current_setting('server_version') as name,
         pg_is_in_recovery() as standby, current_setting('transaction_read_only')::bool as "readOnly",
         to_regclass($1) is not null as "halfRestored", to_regclass('kysely_migration') is not null as "preRelease"`,
      [RESTORE_MARK],
    )
    if (!rows[0]) throw new Error('no answer')
    return rows[0]
  } catch (error) {
    if (error instanceof StartError) throw error
    const { message } = error as Error
    throw (
      startProblem(error, setting) ??
      new StartError(`The database is unreachable: ${message}. Check ${setting}.`, { cause: error })
    )
  }
}
