import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { StartError } from '../../domain/errors.ts'
import { connectionToRunning, startEmbeddedPostgres } from '../../embedded-postgres/start.ts'
import { connectionTo } from '../../store/connection/connection.ts'
import type { Connection, Pool } from '../../store/connection/database.ts'
import type { DatabaseSetting } from '../../store/connection/start-problems.ts'
import { openToolPool } from '../../store/connection/tool-connection.ts'

/** Time for connections to close by themselves. */
const ENDING_MS = 1_000

/** Cleanup when the work ends or is aborted, in reverse order. */
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
  /** other connections, with another search path */
  openIn: (searchPath: string) => Pool
}

/** Reads only from a data folder that has a database; never creates one. */
function mustHaveDatabase(dataDir: string): void {
  if (!['postgres', 'postgres-location'].some((name) => existsSync(join(dataDir, name))))
    throw new StartError(
      `No database found in ${dataDir}. Set TOLLGATE_DATA_DIR to the data folder, or set DATABASE_URL.`,
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
  return opened({ ...running, ssl: false }, 'TOLLGATE_DATA_DIR', `${dataDir} (running)`, undo)
}

/** The database of an installation whose service is stopped, and cannot start until this is done. */
export async function reachStopped(
  { database, dataDir }: Installation,
  undo: Undo,
  say: (line: string) => void,
): Promise<Reached> {
  if (database !== null) return reachUrl(database.url, database.setting, undo)
  mustHaveDatabase(dataDir)
  return startIn(dataDir, undo, say)
}

export function reachUrl(url: string, setting: DatabaseSetting, undo: Undo): Reached {
  return opened(connectionTo(url, setting), setting, `the database at ${setting}`, undo)
}

/** Runs the embedded PostgreSQL without the service. Rejects a folder in use by a service. */
export async function startIn(dataDir: string, undo: Undo, say: (line: string) => void): Promise<Reached> {
  const postgres = await startEmbeddedPostgres({ dataDir, log: (message) => say(`  ${message}`) })
  undo.push(() => postgres.stop())
  return opened({ ...postgres.connection, ssl: false }, 'TOLLGATE_DATA_DIR', dataDir, undo)
}

function opened(connection: Connection, setting: DatabaseSetting, name: string, undo: Undo): Reached {
  const openIn = (searchPath?: string) => {
    const pool = openToolPool(connection, setting, searchPath)
    // A statement in progress when the work is aborted ends with this process: it is not waited for.
    undo.push(() => Promise.race([pool.end(), delay(ENDING_MS)]))
    return pool
  }
  return { pool: openIn(), setting, name, openIn }
}
