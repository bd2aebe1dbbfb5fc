import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { StartError } from '../domain/errors.ts'
import { connectionToRunning, startEmbeddedPostgres } from '../embedded-postgres/start.ts'
import type { Pool } from '../store/database.ts'
import type { DatabaseSetting } from '../store/start-problems.ts'
import { openToolPool } from '../store/tool-connection.ts'

/** What is to be done when the work ends, or is ended, from the last to the first. */
export type Undo = (() => Promise<void>)[]

export interface Installation {
  databaseUrl: string | null
  dataDir: string
}

interface Reached {
  pool: Pool
  setting: DatabaseSetting
  /** what it is called in what an operator reads */
  name: string
}

/** Only a data folder that has a database is read from: none is made by the way. */
function mustHaveDatabase(dataDir: string): void {
  if (!['postgres', 'postgres-location'].some((name) => existsSync(join(dataDir, name))))
    throw new StartError(
      `There is no database in ${dataDir}: set TOLLGATE_DATA_DIR to the data folder, or DATABASE_URL.`,
    )
}

/** The database of an installation, whether its service runs or not. */
export async function reach(
  { databaseUrl, dataDir }: Installation,
  undo: Undo,
  say: (line: string) => void,
): Promise<Reached> {
  if (databaseUrl !== null) return reachUrl(databaseUrl, 'DATABASE_URL', undo)
  mustHaveDatabase(dataDir)
  const running = await connectionToRunning(dataDir)
  if (!running) return startIn(dataDir, undo, say)
  const pool = openToolPool({ ...running, ssl: false })
  undo.push(() => pool.end())
  return { pool, setting: 'TOLLGATE_DATA_DIR', name: `${dataDir} (running)` }
}

/** The database of an installation whose service does not run, and cannot start meanwhile. */
export async function reachAlone(
  { databaseUrl, dataDir }: Installation,
  undo: Undo,
  say: (line: string) => void,
): Promise<Reached> {
  if (databaseUrl !== null) return reachUrl(databaseUrl, 'DATABASE_URL', undo)
  mustHaveDatabase(dataDir)
  return startIn(dataDir, undo, say)
}

export function reachUrl(connectionString: string, setting: DatabaseSetting, undo: Undo): Reached {
  const pool = openToolPool({ connectionString })
  undo.push(() => pool.end())
  return { pool, setting, name: `the database that ${setting} names` }
}

/** Runs the embedded PostgreSQL without the service. It refuses a folder on which a service runs. */
export async function startIn(dataDir: string, undo: Undo, say: (line: string) => void): Promise<Reached> {
  const postgres = await startEmbeddedPostgres({ dataDir, log: (message) => say(`  ${message}`) })
  undo.push(() => postgres.stop())
  const pool = openToolPool({ ...postgres.connection, ssl: false })
  undo.push(() => pool.end())
  return { pool, setting: 'TOLLGATE_DATA_DIR', name: dataDir }
}
