import { Kysely, type Migration, Migrator, PostgresDialect } from 'kysely'
import type { Pool } from './database.ts'
import * as initial from './migrations/001-initial.ts'

const MIGRATIONS: Record<string, Migration> = {
  '001-initial': initial,
}

/** Brings the schema up to date. Several processes may start at once: the first one works, the others wait. */
export async function migrate(pool: Pool): Promise<void> {
  const migrator = new Migrator({
    db: new Kysely({ dialect: new PostgresDialect({ pool }) }),
    provider: { getMigrations: async () => MIGRATIONS },
  })
  const { error } = await migrator.migrateToLatest()
  if (error) throw error
}
