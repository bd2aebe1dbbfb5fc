import { existsSync } from 'node:fs'
import { pino } from 'pino'
import type { Clocks } from '../domain/clocks.ts'
import { StartError } from '../domain/errors.ts'
import { platformPackage } from '../embedded-postgres/folders.ts'
import { connectionToRunning } from '../embedded-postgres/start.ts'
import type { Config } from '../settings/config.ts'
import { CONNECTIONS_PER_PROCESS, databaseSetting } from '../start/service-database.ts'
import { connectionTo } from '../store/connection/connection.ts'
import { type Connection, openPool, type Pool } from '../store/connection/database.ts'
import { startProblem } from '../store/connection/start-problems.ts'
import { checkDatabase } from '../store/schema/check-database.ts'
import { type DatabaseHealth, databaseHealth } from '../store/schema/database-health.ts'
import { appliedMigrations, isMigrated } from '../store/schema/migrate.ts'
import { CHECK_MS, type Finding, ok, problem, type Result, skipped, warning } from './finding.ts'

const CONNECTION = 'Database'
const STATEMENT_MS = CHECK_MS - 1_000
/** Tokens and webhook signatures tolerate minutes; periods follow the database's clock. */
const SKEW_MS = 2_000
const LARGE_SKEW_MS = 60_000

const named = (check: string, result: Result): Finding => ({ check, ...result })

/** The database: whether it can be used, its schema, its settings and its clock. */
export async function examineDatabase(config: Config, clocks: Clocks): Promise<Finding[]> {
  let connection: Connection | null
  try {
    connection = await connectionOf(config)
  } catch (error) {
    return [named(CONNECTION, unusable(error, config))]
  }
  if (connection === null) return [named(CONNECTION, notRunning(config))]
  const pool = openPool(connection, { max: 1, statementMs: STATEMENT_MS }, pino({ level: 'silent' }))
  try {
    return await examine(pool, config, clocks)
  } catch (error) {
    return [named(CONNECTION, unusable(error, config))]
  } finally {
    await pool.end()
  }
}

/** null: the embedded PostgreSQL is not running */
async function connectionOf({ databaseUrl, dataDir }: Config): Promise<Connection | null> {
  if (databaseUrl !== null) return connectionTo(databaseUrl, 'DATABASE_URL')
  const running = existsSync(dataDir) ? await connectionToRunning(dataDir) : undefined
  return running ? { ...running, ssl: false } : null
}

/** The service starts it, and it cannot be examined before. */
function notRunning({ dataDir }: Config): Result {
  try {
    platformPackage()
    return skipped(
      `The embedded PostgreSQL in ${dataDir} is installed and not running; tollgate start starts it.`,
    )
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    return problem(error.message, null)
  }
}

function unusable(error: unknown, config: Config): Result {
  const setting = databaseSetting(config)
  const known = error instanceof StartError ? error : startProblem(error, setting)
  const { code, message } = error as NodeJS.ErrnoException
  if (known) return problem(known.message, null)
  return code === 'EACCES' || code === 'EPERM'
    ? problem(
        `The embedded PostgreSQL cannot be examined by this user (${message}).`,
        'Run tollgate doctor as the user who runs the service, or as root.',
      )
    : problem(`The database cannot be examined (${message}).`, `Check ${setting}.`)
}

async function examine(pool: Pool, config: Config, clocks: Clocks): Promise<Finding[]> {
  await checkDatabase(pool, databaseSetting(config))
  const [sentAt, health, arrivedAt] = [clocks.wall(), await databaseHealth(pool), clocks.wall()]
  const migrated = (await appliedMigrations(pool)).length > 0 ? await isMigrated(pool) : null
  return [
    named(CONNECTION, reachable(health, config)),
    named('Schema', schemaResult(migrated)),
    named('Durability', durability(health)),
    named('Connections', connections(health, config)),
    named('Clock', clockSkew(health.now, sentAt, arrivedAt)),
  ]
}

function reachable({ version, encoding, bytes, tls }: DatabaseHealth, { databaseUrl }: Config): Result {
  const size = `${(bytes / 1024 / 1024).toFixed(1)} MB`
  if (encoding !== 'UTF8')
    return problem(
      `The encoding of the database is ${encoding}.`,
      'Create a database with the encoding UTF8, and point DATABASE_URL to it.',
    )
  const message = `PostgreSQL ${version}, ${size}`
  if (databaseUrl !== null && !tls && !isLocal(databaseUrl))
    return warning(
      `${message}, over a connection that is not encrypted.`,
      'Add sslmode=verify-full to DATABASE_URL, unless the network between them is private.',
    )
  return ok(`${message}${tls ? ', encrypted' : ''}.`)
}

/** On this machine, by a socket or a loopback address. */
function isLocal(url: string): boolean {
  const [, hosts = ''] = /^\w+:\/\/(?:[^@/]*@)?([^/?]*)/.exec(url) ?? []
  return hosts.split(',').every((host) => /^(localhost|127\.[\d.]+|\[::1\]|%2F.*|)(:\d+)?$/i.test(host))
}

/** `migrated` is null for a database without tables. */
export function schemaResult(migrated: boolean | null): Result {
  if (migrated === null) return ok('The database is empty; the first start creates the tables.')
  return migrated
    ? ok('The schema is up to date.')
    : warning(
        'The schema is that of an older version.',
        'Take a backup (tollgate backup), then start the service, which updates the schema.',
      )
}

/** A lost commit is lost usage and lost payments. */
export function durability(
  health: Pick<DatabaseHealth, 'fsync' | 'fullPageWrites' | 'synchronousCommit' | 'autovacuum'>,
): Result {
  const { fsync, fullPageWrites, synchronousCommit, autovacuum } = health
  const set = (name: string, value: string) =>
    `Set ${name} = ${value} in postgresql.conf (or ALTER SYSTEM), and reload PostgreSQL.`
  if (fsync !== 'on')
    return problem(`fsync is ${fsync}: a crash of the machine can destroy the database.`, set('fsync', 'on'))
  if (fullPageWrites !== 'on')
    return problem(
      `full_page_writes is ${fullPageWrites}: a crash of the machine can destroy pages.`,
      set('full_page_writes', 'on'),
    )
  if (synchronousCommit === 'off')
    return problem(
      'synchronous_commit is off: a crash loses usage and payments that were confirmed.',
      set('synchronous_commit', 'on'),
    )
  if (autovacuum !== 'on')
    return warning(`autovacuum is ${autovacuum}: tables grow and become slow.`, set('autovacuum', 'on'))
  return ok(`fsync and full_page_writes are on; synchronous_commit is ${synchronousCommit}.`)
}

export function connections(
  {
    maxConnections,
    connections,
    reserved,
  }: Pick<DatabaseHealth, 'maxConnections' | 'connections' | 'reserved'>,
  { workers }: Pick<Config, 'workers'>,
): Result {
  const needed = workers * CONNECTIONS_PER_PROCESS
  const available = maxConnections - reserved
  const message = `max_connections is ${maxConnections}, ${connections} in use; this configuration needs up to ${needed}.`
  return available < needed
    ? warning(message, `Set max_connections to ${needed + reserved} or more, or lower TOLLGATE_WORKERS.`)
    : ok(message)
}

/** The time in transit counts as no difference. */
export function clockSkew(database: number, sentAt: number, arrivedAt: number): Result {
  const skew = database < sentAt ? database - sentAt : Math.max(0, database - arrivedAt)
  const by = `${(Math.abs(skew) / 1000).toFixed(1)} s`
  if (Math.abs(skew) <= SKEW_MS) return ok('The clocks of the database and this machine agree.')
  const message = `The clock of the database is ${by} ${skew < 0 ? 'behind' : 'ahead of'} this machine's.`
  const fix = 'Synchronize both clocks with NTP.'
  return Math.abs(skew) > LARGE_SKEW_MS ? problem(message, fix) : warning(message, fix)
}
