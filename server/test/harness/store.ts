import { pino } from 'pino'
import { openPool, type Pool } from '../../src/store/database.ts'
import { createDatabase } from './database.ts'

export interface TestStore {
  pool: Pool
  close(): Promise<void>
}

/** A database with the schema and no service on it, for tests of the store's own functions. */
export async function openStore(): Promise<TestStore> {
  const database = await createDatabase()
  const pool = openPool({ connectionString: database.url }, { max: 4 }, pino({ level: 'silent' }))
  return {
    pool,
    async close() {
      await pool.end()
      await database.drop()
    },
  }
}
