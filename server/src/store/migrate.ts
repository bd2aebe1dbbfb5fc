import { Kysely, type Migration, Migrator, PostgresDialect } from 'kysely'
import type { Pool } from './database.ts'
import * as initial from './migrations/001-initial.ts'
import * as billing from './migrations/002-billing.ts'
import * as dashboard from './migrations/003-dashboard.ts'
import * as imports from './migrations/004-imports.ts'
import * as jobWorkers from './migrations/005-job-workers.ts'
import * as liveness from './migrations/006-liveness.ts'
import * as signInPace from './migrations/007-sign-in-pace.ts'

const MIGRATIONS: Record<string, Migration> = {
  '001-initial': initial,
  '002-billing': billing,
  '003-dashboard': dashboard,
  '004-imports': imports,
  '005-job-workers': jobWorkers,
  '006-liveness': liveness,
  '007-sign-in-pace': signInPace,
}

/** Brings the schema up to date. */
export async function migrate(pool: Pool): Promise<void> {
  const migrator = new Migrator({
    db: new Kysely({ dialect: new PostgresDialect({ pool }) }),
    provider: { getMigrations: async () => MIGRATIONS },
  })
  const { error } = await migrator.migrateToLatest()
  if (error) throw error
}

/** Several processes may start at once: the first one changes the schema, and the others do not even look at it. */
export async function whileOthersWait(pool: Pool, change: () => Promise<void>): Promise<void> {
  const lock = await pool.connect()
  try {
    await lock.query(`select pg_advisory_lock(hashtext('tollgate schema'))`)
    await change()
    await lock.query(`select pg_advisory_unlock(hashtext('tollgate schema'))`)
    lock.release()
  } catch (error) {
    // The lock goes with its connection.
    lock.release(true)
    throw error
  }
}
