import cluster from 'node:cluster'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Logger } from 'pino'
import { BACKGROUND_CONNECTIONS, migrateJobs, startBackground } from './background.ts'
import type { Config } from './config.ts'
import type { Clocks, Monotonic } from './domain/clocks.ts'
import { StartError } from './domain/errors.ts'
import { LONG_STATEMENT_TIMEOUT_MS } from './domain/limits.ts'
import type { PasswordCost } from './domain/password.ts'
import { startEmbeddedPostgres } from './embedded-postgres/start.ts'
import { httpServer } from './http/server.ts'
import { DEFAULT_APP, type OwnerSetting, prepare } from './operations/apps/first-start.ts'
import { NO_WISHES, type Secrets, secretsFor, type Wishes } from './operations/apps/way-back.ts'
import { warnOfSandboxes } from './operations/billing/sandbox-warning.ts'
import type { Service } from './operations/call/service.ts'
import { PASSWORD_COST } from './operations/members/password.ts'
import { billingReader } from './operations/subscriptions/subscription-billing.ts'
import { buildSearch } from './operations/upkeep/build-search.ts'
import { keepLedgerFrom } from './operations/upkeep/keep-ledger.ts'
import { Metrics } from './operations/upkeep/metrics.ts'
import { OngoingWork } from './operations/upkeep/ongoing-work.ts'
import { Outages } from './operations/upkeep/outages.ts'
import { startPruning } from './operations/upkeep/prune.ts'
import { ACTIVITY_FLUSH_MS, Activity, KEY_USE_FLUSH_MS } from './operations/usage/activity.ts'
import { HOT_CONNECTIONS, UsagePaths } from './operations/usage/hot-paths.ts'
import { AppCache } from './store/app-cache.ts'
import { checkDatabase } from './store/check-database.ts'
import { checkDirect, checkPooler } from './store/check-pooler.ts'
import { connectionTo } from './store/connection.ts'
import { type Connection, openPool, type Pool, type PoolOptions } from './store/database.ts'
import { freeAllJobs } from './store/jobs.ts'
import type { Keyring } from './store/keyring.ts'
import { openKeyring } from './store/master-key.ts'
import { isMigrated, migrate, whileOthersWait } from './store/migrate.ts'
import { Replica } from './store/replica.ts'
import { sealSecrets, secretNamed } from './store/secrets.ts'
import { startProblem } from './store/start-problems.ts'
import { TokenKeys } from './store/token-keyring.ts'
import { sealTokenKeys } from './store/token-keys.ts'

export interface RunningService {
  url: string
  /** to be printed, as nothing shows it again; of a worker, nothing: its primary sees to it */
  firstStart: Secrets
  owner: OwnerSetting
  /** Reports not ready for a while, so that clients go elsewhere before it stops. */
  drain(signal: AbortSignal): Promise<void>
  stop(): Promise<void>
}

const CONNECTIONS = 8
/** In addition to those reserved by the hot paths. */
const LOOKUP_CONNECTIONS = 2
const PATIENT_CONNECTIONS = 3
const STOP_STEP_MS = 2_500
/** Share of the request timeout. */
const STATEMENT_SHARE = 0.8
/** The built dashboard; the same relative path from the sources and from the built server. */
const PAGES = fileURLToPath(new URL('../../dashboard/dist', import.meta.url))

interface StartOptions {
  passwordCost?: PasswordCost
  /** null: of a worker, whose primary sees to it */
  wishes?: Wishes | null
  /** A start that is no longer wanted stops at the next step. */
  givenUp?: AbortSignal
}

/** Starts everything, from the database to the listening socket. */
export async function startService(
  config: Config,
  clocks: Clocks,
  log: Logger,
  { passwordCost = PASSWORD_COST, wishes = NO_WISHES, givenUp }: StartOptions = {},
): Promise<RunningService> {
  const { monotonic } = clocks
  const undo: (() => Promise<void>)[] = []
  const stop = async () => {
    for (const step of undo.splice(0).reverse()) await step()
  }
  try {
    const connection = await database(config, log, undo)
    givenUp?.throwIfAborted()
    // A statement times out before its caller does, so that the caller learns why.
    const statementMs = Math.round(config.requestTimeoutMs * STATEMENT_SHARE)
    const pools: Pool[] = []
    undo.push(async () => void (await Promise.all(pools.map((pool) => pool.end()))))
    const open = (options: Partial<PoolOptions> & { max: number }) => {
      const pool = openPool(connection, { statementMs, ...options }, log)
      pools.push(pool)
      return pool
    }
    const pool = open({ max: CONNECTIONS })
    const lookups = open({ max: HOT_CONNECTIONS + LOOKUP_CONNECTIONS, keyLookups: true })
    const patient = open({
      max: PATIENT_CONNECTIONS,
      statementMs: LONG_STATEMENT_TIMEOUT_MS,
      lockMs: LONG_STATEMENT_TIMEOUT_MS,
    })
    const jobPool = open({ max: BACKGROUND_CONNECTIONS })
    await checkDatabase(pool, databaseSetting(config))
    const pooled = await anyPooled(pools, config)
    const { databaseDirectUrl: past } = config
    const direct = past === null ? null : connectionTo(past, 'DATABASE_DIRECT_URL')
    const listener = direct && openPool(direct, { max: 1, statementMs }, log)
    if (listener) {
      pools.push(listener)
      await checkDirect(listener, pool)
    } else if (pooled) {
      log.warn(
        'DATABASE_URL leads to a pooler: jobs are not announced but polled for; set DATABASE_DIRECT_URL too',
      )
    }
    await bringUpToDate(direct ?? connection, log)
    // Nobody else uses the embedded database: locked jobs are a dead process's.
    if (config.databaseUrl === null) await freeAllJobs(pool)

    const keyring = await sealedKeyring(config, pool, log)

    let [url, ownUrl] = ['', '']
    const publicUrl = () => config.publicUrl ?? url
    const apps = new AppCache(monotonic)
    const ongoing = new OngoingWork(log)
    undo.push(() => within(STOP_STEP_MS, 'work under way', log, ongoing.stop()))
    const metrics = new Metrics()
    const activity = new Activity()
    metrics.watchPool('pool', pool)
    metrics.watchPool('lookups', lookups)
    metrics.watchPool('patient', patient)
    const usage = new UsagePaths(apps, lookups, metrics, activity, monotonic)
    undo.push(async () => usage.release())
    const service: Service = {
      pool,
      lookups,
      patient,
      replica: openReplica(config, pool, { statementMs, pools, metrics, monotonic }, log),
      apps,
      usage,
      billings: billingReader(pool, monotonic),
      billing: {
        sealingKey: await secretNamed(pool, keyring, 'provider-accounts'),
        sandboxKey: await secretNamed(pool, keyring, 'sandbox'),
        environment: config.stripe && { appId: DEFAULT_APP, ...config.stripe },
        stripeApiBase: config.stripeApiBase,
        publicUrl,
        ownUrl: () => ownUrl,
      },
      clock: clocks.wall,
      monotonic,
      keyring,
      tokenKeys: await TokenKeys.open(pool, keyring, config.tokenAlgorithm, clocks),
      passwordCost,
      requestTimeoutMs: config.requestTimeoutMs,
      metrics,
      activity,
      ongoing,
      outages: new Outages(log, monotonic),
      log,
    }
    givenUp?.throwIfAborted()
    const owner = await prepare(service, config)

    const { server, drain, close } = httpServer(service, publicUrl, PAGES, config.http)
    await new Promise<void>((listening, failed) => {
      server.once('error', (error: NodeJS.ErrnoException) => failed(cannotListen(error, config)))
      server.listen(config.port, config.host, listening)
    })
    undo.push(close)
    const { port } = server.address() as AddressInfo
    url = urlOf(config.host, port)
    ownUrl = urlOf(ANYWHERE[config.host] ?? config.host, port)

    const stopBackground = startBackground(service, jobPool, listener)
    const stopPruning = startPruning(service, config.retention)
    // Once, however many processes there are.
    const isFirst = (cluster.worker?.id ?? 1) === 1
    const stopMaintenance = startMaintenance(connection, config, isFirst, log)
    if (isFirst) {
      ongoing.run('looking for sandboxes beside Stripe', () => warnOfSandboxes(service))
    }
    const flushes = [
      ongoing.every(ACTIVITY_FLUSH_MS, 'noting the activity', () => activity.flush(pool)),
      ongoing.every(KEY_USE_FLUSH_MS, 'noting the use of keys', () => activity.flushKeyUse(pool, apps)),
    ]
    const lastCounts = async () => void (await Promise.all(flushes.map((flush) => flush())))
    const ending = {
      'background jobs': stopBackground,
      'the upkeep of indexes and the ledger': stopMaintenance,
      'the pruning of old records': stopPruning,
      'the last counts': lastCounts,
    }
    undo.push(async () => {
      const steps = Object.entries(ending)
      await Promise.all(steps.map(([what, end]) => within(STOP_STEP_MS, what, log, end())))
    })
    // Last: a key that is made by a start that fails afterwards would be lost.
    givenUp?.throwIfAborted()
    const firstStart = wishes ? await secretsFor(service, wishes) : { apiKey: null, ownerToken: null }
    return {
      url: publicUrl(),
      firstStart,
      owner,
      async drain(signal) {
        drain()
        await delay(config.http.drainMs, undefined, { signal }).catch(() => {})
      },
      stop,
    }
  } catch (error) {
    await stop()
    throw startProblem(error, databaseSetting(config)) ?? error
  }
}

const databaseSetting = ({ databaseUrl }: Config) =>
  databaseUrl === null ? 'TOLLGATE_DATA_DIR' : 'DATABASE_URL'

/** Connections are made when they are needed: a replica that is down does not keep the service from starting. */
function openReplica(
  { databaseReplicaUrl }: Config,
  primary: Pool,
  { statementMs, pools, metrics, monotonic }: ReplicaOptions,
  log: Logger,
): Replica | null {
  if (databaseReplicaUrl === null) return null
  const open = (name: string, options: PoolOptions) => {
    const pool = openPool({ connectionString: databaseReplicaUrl }, options, log)
    pools.push(pool)
    metrics.watchPool(`replica_${name}`, pool)
    return pool
  }
  return new Replica(
    primary,
    {
      pool: open('pool', { max: CONNECTIONS, statementMs }),
      lookups: open('lookups', { max: LOOKUP_CONNECTIONS, statementMs, keyLookups: true }),
      patient: open('patient', { max: PATIENT_CONNECTIONS, statementMs: LONG_STATEMENT_TIMEOUT_MS }),
    },
    monotonic,
    log,
  )
}

interface ReplicaOptions {
  statementMs: number
  /** to be closed at the end */
  pools: Pool[]
  metrics: Metrics
  monotonic: Monotonic
}

/**
 * What takes long statements. Stopping does not wait for them: PostgreSQL finishes an index by itself, and the next start
 * does what is missing.
 */
function startMaintenance(
  connection: Connection,
  { ledger }: Config,
  isFirst: boolean,
  log: Logger,
): () => Promise<void> {
  const pool = openPool(connection, { max: 2, statementMs: Number.POSITIVE_INFINITY }, log)
  const stopping = new AbortController()
  const { signal } = stopping
  const working = Promise.all([
    isFirst ? buildSearch(pool, log, signal) : null,
    // By each process, as any may die: of several that try at once, one does it.
    keepLedgerFrom(pool, log, ledger, signal),
  ])
  return async () => {
    stopping.abort()
    await pool.end()
    await working
  }
}

/** Waits for one step of stopping, but not forever: an unresponsive database must not keep the process alive. */
async function within(ms: number, what: string, log: Logger, step: Promise<unknown>): Promise<void> {
  const ended = new AbortController()
  const late = delay(ms, 'late', { signal: ended.signal }).catch(() => 'ended')
  if ((await Promise.race([step, late])) === 'late')
    log.warn(`stopping without ${what}, which did not stop in time`)
  ended.abort()
}

/** The address under which a service listening on all interfaces reaches itself. */
const ANYWHERE: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

export const urlOf = (host: string, port: number): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`

async function database(config: Config, log: Logger, undo: (() => Promise<void>)[]): Promise<Connection> {
  if (config.databaseUrl !== null) return connectionTo(config.databaseUrl, 'DATABASE_URL')
  log.info(`starting PostgreSQL in ${config.dataDir}`)
  const postgres = await startEmbeddedPostgres({
    dataDir: config.dataDir,
    osUser: config.postgresUser,
    log: (message, detail) => log.info({ ...detail }, message),
  })
  undo.push(() => postgres.stop())
  return { ...postgres.connection, ssl: false }
}

/** Whether a pooler stands before the database. One that cannot be used is refused, tried on each pool. */
async function anyPooled(pools: readonly Pool[], config: Config): Promise<boolean> {
  for (const pool of pools) if (!(await checkPooler(pool, databaseSetting(config)))) return false
  return true
}

/** Without a time limit: only other starting processes wait for it. */
async function bringUpToDate(connection: Connection, log: Logger): Promise<void> {
  const pool = openPool(connection, { max: 2, statementMs: Number.POSITIVE_INFINITY }, log)
  try {
    await whileOthersWait(pool, async () => {
      if (!(await isMigrated(pool))) {
        log.info('bringing the database up to date')
        await migrate(pool)
      }
      await migrateJobs(pool)
    })
  } finally {
    await pool.end()
  }
}

/** The master keys, once everything stored is sealed with them. */
async function sealedKeyring(config: Config, pool: Pool, log: Logger): Promise<Keyring> {
  const madeIn = config.databaseUrl === null ? config.dataDir : null
  const keyring = await openKeyring(pool, { ...config, madeIn }, (message) => log.info(message))
  await sealSecrets(pool, keyring)
  await sealTokenKeys(pool, keyring)
  if (keyring.isEmpty) {
    log.warn('TOLLGATE_MASTER_KEY is not set: secrets are stored in the database unsealed')
  }
  return keyring
}

function cannotListen(error: NodeJS.ErrnoException, { host, port }: Config): Error {
  return error.code === 'EADDRINUSE'
    ? new StartError(`Port ${port} on ${host} is taken: stop what uses it, or set PORT.`)
    : new StartError(`Cannot listen on ${host}:${port} (${error.message}): check HOST and PORT.`)
}
