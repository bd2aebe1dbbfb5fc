import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { StartError } from '../domain/errors.ts'
import { connectionToRunning, startEmbeddedPostgres } from '../embedded-postgres/start.ts'
import { connectionTo } from '../store/connection.ts'
import type { Pool } from '../store/database.ts'
import type { DatabaseSetting } from '../store/start-problems.ts'
import { openToolPool } from '../store/tool-connection.ts'

/** Cleanup for when the work ends or is aborted, run last to first. */
export type Undo = (() => Promise<void>)[]

export interface Installation {
  database: { url: string; setting: DatabaseSetting } | null
  dataDir: string
}

interface Reached {
  pool: Pool
  setting: DatabaseSetting
  /** its name in messages to the operator */
  name: string
}

/** Reads only from a data folder that has a database; never creates one. */
function mustHaveDatabase(dataDir: string): void {
  if (!['postgres', 'postgres-location'].some((name) => existsSync(join(dataDir, name))))
    throw new StartError(
      `There is no database in ${dataDir}: set TOLLGATE_DATA_DIR to the data folder, or DATABASE_URL.`,
    )
}

/** The database of an installation, whether or not its service is running. */
export async function reach(
  { database, dataDir }: Installation,
  undo: Undo,
  say: (line: string) => void,
): Promise<Reached> {
  if (database !== null) return reachUrl(database.url, database.setting, undo)
  mustHaveDatabase(dataDir)
  const running = await connectionToRunning(dataDir)
  if (!running) return startIn(dataDir, undo, say)
  const pool = openToolPool({ ...running, ssl: false }, 'TOLLGATE_DATA_DIR')
  undo.push(() => pool.end())
  return { pool, setting: 'TOLLGATE_DATA_DIR', name: `${dataDir} (running)` }
}

/** The database of an installation whose service is stopped, and cannot start until this is done. */
export async function reachAlone(
  { database, dataDir }: Installation,
  undo: Undo,
  say: (line: string) => void,
): Promise<Reached> {
  if (database !== null) return reachUrl(database.url, database.setting, undo)
  mustHaveDatabase(dataDir)
  return startIn(dataDir, undo, say)
}

export function reachUrl(url: string, setting: DatabaseSetting, undo: Undo): Reached {
  const pool = openToolPool(connectionTo(url, setting), setting)
  undo.push(() => pool.end())
  return { pool, setting, name: `the database that ${setting} names` }
}

/** Runs the embedded PostgreSQL without the service. Refuses a folder in use by a service. */
export async function startIn(dataDir: string, undo: Undo, say: (line: string) => void): Promise<Reached> {
  const postgres = await startEmbeddedPostgres({ dataDir, log: (message) => say(`  ${message}`) })
  undo.push(() => postgres.stop())
  const pool = openToolPool({ ...postgres.connection, ssl: false }, 'TOLLGATE_DATA_DIR')
  undo.push(() => pool.end())
  return { pool, setting: 'TOLLGATE_DATA_DIR', name: dataDir }
}
