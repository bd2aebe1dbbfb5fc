import cluster, { type Worker } from 'node:cluster'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { AggregatorRegistry } from 'prom-client'
import { StartError } from '../domain/errors.ts'
import { type SocketConnection, startEmbeddedPostgres } from '../embedded-postgres/start.ts'
import type { OwnerSetting } from '../operations/apps/first-start.ts'
import { type RecoveryOptions, type Secrets, secretsFor } from '../operations/apps/recovery.ts'
import type { MetricsMessage } from '../operations/upkeep/metrics.ts'
import type { Config } from '../settings/config.ts'
import { type Connection, openPool } from '../store/connection/database.ts'
import { freeAllJobs, hasJobs } from '../store/jobs/jobs.ts'
import { masterKeyIn, openKeyring } from '../store/secrets/master-key.ts'
import type { RunningService } from './running-service.ts'

/** Sent by a worker that is ready for requests. */
export interface WorkerReady {
  type: 'ready'
  url: string
  owner: OwnerSetting
}

/** Sent by a worker that cannot start because of its settings. */
export interface WorkerFailed {
  type: 'failed'
  reason: string
}

type FromWorker = WorkerReady | WorkerFailed | MetricsMessage

const RESTART_DELAY_MS = 1_000
/**
 * For a worker that replaces another: a key that was revoked since must neither be created again nor prevent the start.
 */
const APPLIED = { TOLLGATE_API_KEY: '' }
/** In addition to the time a worker may take to stop. */
const STUCK_MS = 2_000

/**
 * Several processes behind one port, on one database. The primary handles no requests: it runs the embedded PostgreSQL,
 * if any, distributes connections, and replaces workers that die.
 */
export async function startWorkers(
  config: Config,
  log: Logger,
  { recovery, clock, givenUp }: { recovery: RecoveryOptions; clock: () => number; givenUp: AbortSignal },
): Promise<RunningService> {
  if (config.databaseUrl === null) log.info(`starting PostgreSQL in ${config.dataDir}`)
  const postgres =
    config.databaseUrl === null
      ? await startEmbeddedPostgres({
          dataDir: config.dataDir,
          osUser: config.postgresUser,
          log: (message, detail, level = 'info') => log[level]({ ...detail }, message),
        })
      : null
  const connection: Connection = postgres
    ? { ...postgres.connection, ssl: false }
    : { connectionString: config.databaseUrl ?? '' }
  if (postgres) await takeOverJobs(connection, log)
  const env = postgres
    ? {
        DATABASE_URL: socketUrl(postgres.connection),
        ...(await masterKeyFor(config, connection, log)),
      }
    : {}
  const metrics = new AggregatorRegistry()
  cluster.on('message', async (worker, message: FromWorker) => {
    if (message.type !== 'metrics') return
    try {
      worker.send({ type: 'metrics', text: await metrics.clusterMetrics() } satisfies MetricsMessage)
    } catch (error) {
      worker.send({ type: 'metrics', failed: String(error) } satisfies MetricsMessage)
    }
  })
  let stopping = false

  const stop = async () => {
    stopping = true
    const living = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
    await Promise.all(
      living.map((worker) => ended(worker, config.http.drainMs + config.http.graceMs + STUCK_MS)),
    )
    await postgres?.stop()
  }
  try {
    const ready = await Promise.all(Array.from({ length: config.workers }, () => answering(fork(env))))
    cluster.on('exit', async (worker, code, signal) => {
      if (stopping) return
      log.error({ pid: worker.process.pid, code, signal }, 'a worker died; starting a new one')
      await delay(RESTART_DELAY_MS)
      if (stopping) return
      answering(fork({ ...env, ...APPLIED })).catch((error) =>
        log.error({ err: error }, 'the new worker failed to start'),
      )
    })
    givenUp.throwIfAborted()
    const owners = ready.map(({ owner }) => owner)
    return {
      url: ready[0]?.url ?? '',
      // By this process, once all of them are ready: a worker that created a key might not be the one to print it.
      firstStart: await secretsOnce(config, connection, { recovery, clock }, log),
      owner: owners.find((owner) => owner === 'created') ?? owners[0] ?? null,
      // Each worker drains by itself when it is stopped.
      drain: async () => {},
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** No worker is alive yet, so locked jobs are those of a dead process. A new database has no jobs. */
async function takeOverJobs(connection: Connection, log: Logger): Promise<void> {
  const pool = openPool(connection, { max: 1 }, log)
  try {
    if (await hasJobs(pool)) await freeAllJobs(pool)
  } finally {
    await pool.end()
  }
}

/** Workers know only the database's address, so they are given the master key of the data folder. */
async function masterKeyFor(config: Config, connection: Connection, log: Logger) {
  if (config.masterKey !== null || config.masterKeyFile !== null) return {}
  const pool = openPool(connection, { max: 1 }, log)
  try {
    const keyring = await openKeyring(pool, { ...config, madeIn: config.dataDir }, (message) =>
      log.info(message),
    )
    return keyring.isEmpty ? {} : { TOLLGATE_MASTER_KEY_FILE: masterKeyIn(config.dataDir) }
  } finally {
    await pool.end()
  }
}

function answering(worker: Worker): Promise<WorkerReady> {
  return new Promise((resolve, reject) => {
    const take = (message: FromWorker) => {
      if (message.type === 'metrics') return
      worker.off('message', take)
      if (message.type === 'ready') resolve(message)
      else reject(new StartError(message.reason))
    }
    worker.on('message', take)
    worker.once('exit', () =>
      reject(new StartError('A worker failed to start; see the log above for the reason.')),
    )
  })
}

/**
 * Starts a worker. node:cluster keeps each connection open until the worker confirms that it has accepted it, and
 * forever if the worker dies before that: its client would wait for an answer that never comes.
 */
function fork(env: Record<string, string>): Worker {
  const worker = cluster.fork(env)
  const child = worker.process as { send(...args: unknown[]): boolean }
  const send = child.send.bind(child)
  let last: Handle | null = null
  child.send = (...args) => {
    const [, handle] = args
    if (isHandle(handle)) {
      last = handle
      takers.set(handle, worker)
    }
    return send(...args)
  }
  worker.once('exit', () => {
    // One that it did not accept was given to another. Closing twice does nothing.
    if (last && takers.get(last) === worker) last.close()
  })
  return worker
}

interface Handle {
  close(): void
}

/** The worker that each connection was last given to. */
const takers = new WeakMap<Handle, Worker>()

const isHandle = (value: unknown): value is Handle =>
  typeof value === 'object' && value !== null && 'close' in value

/** Stops it; kills it if it is stuck. */
function ended(worker: Worker, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const kill = setTimeout(() => worker.process.kill('SIGKILL'), ms)
    worker.once('exit', () => {
      clearTimeout(kill)
      resolve()
    })
    worker.process.kill('SIGTERM')
  })
}

async function secretsOnce(
  config: Config,
  connection: Connection,
  { recovery, clock }: { recovery: RecoveryOptions; clock: () => number },
  log: Logger,
): Promise<Secrets> {
  const pool = openPool(connection, { max: 2 }, log)
  try {
    const madeIn = config.databaseUrl === null ? config.dataDir : null
    const keyring = await openKeyring(pool, { ...config, madeIn }, (message) => log.info(message))
    return await secretsFor({ pool, keyring, clock }, recovery)
  } finally {
    await pool.end()
  }
}

/** In a worker's environment, which only its own user and root can read. */
function socketUrl({ host, port, user, password, database }: SocketConnection): string {
  const query = new URLSearchParams({ host, port: String(port), sslmode: 'disable' })
  return `postgresql://${user}:${password}@localhost/${database}?${query}`
}
