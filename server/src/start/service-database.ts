import type { Logger } from 'pino'
import type { Monotonic } from '../domain/clocks.ts'
import { LONG_STATEMENT_TIMEOUT_MS } from '../domain/limits.ts'
import { startEmbeddedPostgres } from '../embedded-postgres/start.ts'
import { HOT_CONNECTIONS, REMOTE_CONNECTIONS } from '../operations/usage/hot-paths.ts'
import type { Config } from '../settings/config.ts'
import { placesIn } from '../store/cells/cell-places.ts'
import { CellPools } from '../store/cells/cell-pools.ts'
import { CellUsage } from '../store/cells/cell-usage.ts'
import { Cells } from '../store/cells/cells.ts'
import { checkDirect, checkPooler } from '../store/connection/check-pooler.ts'
import { connectionTo } from '../store/connection/connection.ts'
import { type Connection, openPool, type Pool, type PoolOptions } from '../store/connection/database.ts'
import { Replica } from '../store/connection/replica.ts'
import { checkDatabase } from '../store/schema/check-database.ts'
import { migrate, whileOthersWait } from '../store/schema/migrate.ts'
import type { UsageStore } from '../store/usage/usage-store.ts'
import { BACKGROUND_CONNECTIONS, migrateJobs } from './background.ts'

const CONNECTIONS = 8
/** In addition to those reserved by the hot paths. */
const LOOKUP_CONNECTIONS = 2
const LONG_QUERY_CONNECTIONS = 3
/** Of a schema migration at a start, and later of the upkeep. */
const MAINTENANCE_CONNECTIONS = 2
/** Maximum number of connections of a process to the database, without connections to cells on other servers. */
export const CONNECTIONS_PER_PROCESS =
  CONNECTIONS +
  HOT_CONNECTIONS +
  LOOKUP_CONNECTIONS +
  LONG_QUERY_CONNECTIONS +
  BACKGROUND_CONNECTIONS +
  MAINTENANCE_CONNECTIONS
/** Share of the request timeout. */
const STATEMENT_SHARE = 0.8

/** A migrated database and its connections. */
interface ServiceDatabase {
  /** bypasses a pooler, for what needs a session */
  direct: Connection
  pool: Pool
  lookups: Pool
  /** for the hot paths to cells on other servers */
  remote: Pool
  longQueries: Pool
  /** for background jobs */
  jobs: Pool
  /** for notifications of new jobs, bypassing a pooler; null: use `jobs` */
  listener: Pool | null
  replica: Replica | null
  /** the statements of the hot paths */
  usageStore: UsageStore
  /** Opens pools for long statements, which end with `stop`. */
  maintenance(): Maintenance
}

export interface Maintenance {
  pool: Pool
  /** one for the ledger of each place */
  ledgers(): Promise<[Pool, ...Pool[]]>
  stop(): Promise<void>
}

interface OpenOptions {
  monotonic: Monotonic
  log: Logger
  /** cleanup when the service stops, in reverse order */
  undo: (() => Promise<void>)[]
  givenUp: AbortSignal | undefined
}

export async function openDatabase(
  config: Config,
  { monotonic, log, undo, givenUp }: OpenOptions,
): Promise<ServiceDatabase> {
  const connection = await findDatabase(config, log, undo)
  givenUp?.throwIfAborted()
  // A statement times out before its caller does, so that the caller gets the reason.
  const statementMs = Math.round(config.requestTimeoutMs * STATEMENT_SHARE)
  const pools: Pool[] = []
  const cells = new Cells()
  const places = placesIn(cells)
  undo.push(async () => void (await Promise.all(pools.map((pool) => pool.end()))))
  const openAt = (where: Connection) => (options: Partial<PoolOptions> & { max: number }) => {
    const pool = openPool(where, { statementMs, places, ...options }, log)
    pools.push(pool)
    return pool
  }
  const open = openAt(connection)
  const pool = open({ max: CONNECTIONS })
  const lookups = open({ max: HOT_CONNECTIONS + LOOKUP_CONNECTIONS, keyLookups: true })
  const longQueries = open({ max: LONG_QUERY_CONNECTIONS, ...LONG_QUERY_LIMITS })
  const jobs = open({ max: BACKGROUND_CONNECTIONS })
  await checkDatabase(pool, databaseSetting(config))
  const pooled = await anyPooled(pools, config)
  // Connects only once there is such a cell.
  const remote = open({ max: REMOTE_CONNECTIONS })
  const { databaseDirectUrl: past, databaseReplicaUrl: standby } = config
  const direct = past === null ? connection : connectionTo(past, 'DATABASE_DIRECT_URL')
  const listener = past === null ? null : openAt(direct)({ max: 1 })
  if (listener) {
    await checkDirect(listener, pool)
  } else if (pooled) {
    log.warn(
      'DATABASE_URL points to a connection pooler, so jobs are polled for; set DATABASE_DIRECT_URL for instant notification',
    )
  }
  await bringUpToDate(direct, log)
  await cells.read(pool)
  const replica =
    standby === null
      ? null
      : new Replica(pool, readPools(openAt({ connectionString: standby })), monotonic, log)
  const usageStore = new CellUsage(cells)
  const maintenance = () => openMaintenance(direct, cells, log)
  return { direct, pool, lookups, remote, longQueries, jobs, listener, replica, usageStore, maintenance }
}

function openMaintenance(connection: Connection, cells: Cells, log: Logger): Maintenance {
  const pools: Pool[] = []
  const open = (options: Partial<PoolOptions>) => {
    const pool = openPool(
      connection,
      { max: MAINTENANCE_CONNECTIONS, statementMs: Number.POSITIVE_INFINITY, ...options },
      log,
    )
    pools.push(pool)
    return pool
  }
  const pool = open({})
  const ledgers = new CellPools(cells, pool, open)
  return {
    pool,
    ledgers: () => ledgers.all(),
    stop: async () => void (await Promise.all(pools.map((each) => each.end()))),
  }
}

const LONG_QUERY_LIMITS = { statementMs: LONG_STATEMENT_TIMEOUT_MS, lockMs: LONG_STATEMENT_TIMEOUT_MS }

/** Connections are opened when needed, so a replica that is down does not prevent a start. */
const readPools = (open: (options: Partial<PoolOptions> & { max: number }) => Pool) => ({
  pool: open({ max: CONNECTIONS }),
  lookups: open({ max: LOOKUP_CONNECTIONS, keyLookups: true }),
  longQueries: open({ max: LONG_QUERY_CONNECTIONS, ...LONG_QUERY_LIMITS }),
})

export const databaseSetting = ({ databaseUrl }: Config) =>
  databaseUrl === null ? 'TOLLGATE_DATA_DIR' : 'DATABASE_URL'

async function findDatabase(config: Config, log: Logger, undo: (() => Promise<void>)[]): Promise<Connection> {
  if (config.databaseUrl !== null) return connectionTo(config.databaseUrl, 'DATABASE_URL')
  log.info(`starting PostgreSQL in ${config.dataDir}`)
  const postgres = await startEmbeddedPostgres({
    dataDir: config.dataDir,
    osUser: config.postgresUser,
    log: (message, detail, level = 'info') => log[level]({ ...detail }, message),
  })
  undo.push(() => postgres.stop())
  return { ...postgres.connection, ssl: false }
}

/** Whether there is a pooler in front of the database. An unsuitable one is rejected. Each pool is tried. */
async function anyPooled(pools: readonly Pool[], config: Config): Promise<boolean> {
  for (const pool of pools) if (!(await checkPooler(pool, databaseSetting(config)))) return false
  return true
}

/** Without a statement timeout: only other starting processes wait for it. */
async function bringUpToDate(connection: Connection, log: Logger): Promise<void> {
  const pool = openPool(
    connection,
    { max: MAINTENANCE_CONNECTIONS, statementMs: Number.POSITIVE_INFINITY },
    log,
  )
  try {
    const change = async () => {
      await migrate(pool, { applying: (name) => log.info({ migration: name }, 'migrating the database') })
      await migrateJobs(pool)
    }
    await whileOthersWait(pool, change, {
      waiting: () => log.info('waiting for another process that is migrating the database'),
    })
  } finally {
    await pool.end()
  }
}
