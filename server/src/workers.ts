import cluster, { type Worker } from 'node:cluster'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { AggregatorRegistry } from 'prom-client'
import type { Config } from './config.ts'
import { StartError } from './domain/errors.ts'
import type { FirstStart } from './operations/first-start.ts'
import type { MetricsMessage } from './operations/metrics.ts'
import type { RunningService } from './service.ts'
import { type Connection, openPool } from './store/database.ts'
import { type SocketConnection, startEmbeddedPostgres } from './store/embedded-postgres.ts'
import { freeAllJobs, hasJobs } from './store/jobs.ts'

/** What a worker says once it answers requests. */
export interface WorkerReady {
  type: 'ready'
  url: string
  firstStart: FirstStart
}

/** What a worker says instead when its settings do not let it start. */
export interface WorkerFailed {
  type: 'failed'
  reason: string
}

type FromWorker = WorkerReady | WorkerFailed | MetricsMessage

const RESTART_DELAY_MS = 1_000

/**
 * Several processes behind one port, on one database. This one answers no requests: it keeps the embedded
 * PostgreSQL, if there is one, hands out connections, and starts a worker anew when one dies.
 */
export async function startWorkers(config: Config, log: Logger): Promise<RunningService> {
  const postgres =
    config.databaseUrl === null
      ? await startEmbeddedPostgres({
          dataDir: config.dataDir,
          osUser: config.postgresUser,
          log: (message, detail) => log.info({ ...detail }, message),
        })
      : null
  if (postgres) await takeOverJobs({ ...postgres.connection, ssl: false }, log)
  const env = postgres ? { DATABASE_URL: socketUrl(postgres.connection) } : {}
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
    await Promise.all(living.map(ended))
    await postgres?.stop()
  }
  try {
    const ready = await Promise.all(
      Array.from({ length: config.workers }, () => answering(cluster.fork(env))),
    )
    cluster.on('exit', async (worker, code, signal) => {
      if (stopping) return
      log.error({ pid: worker.process.pid, code, signal }, 'a worker died; another takes its place')
      await delay(RESTART_DELAY_MS)
      if (stopping) return
      answering(cluster.fork(env)).catch((error) => log.error({ err: error }, 'the new worker cannot start'))
    })
    return { url: ready[0]?.url ?? '', firstStart: merged(ready), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** No worker is alive yet: what is in somebody's hand is a dead one's. A database that is new has no jobs. */
async function takeOverJobs(connection: Connection, log: Logger): Promise<void> {
  const pool = openPool(connection, { max: 1 }, log)
  try {
    if (await hasJobs(pool)) await freeAllJobs(pool)
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
    worker.once('exit', () => reject(new StartError('A worker could not start; its reason stands above.')))
  })
}

function ended(worker: Worker): Promise<void> {
  return new Promise((resolve) => {
    worker.once('exit', () => resolve())
    worker.process.kill('SIGTERM')
  })
}

/** Only one of them made what was missing. */
function merged(ready: readonly WorkerReady[]): FirstStart {
  return {
    apiKey: ready.find(({ firstStart }) => firstStart.apiKey !== null)?.firstStart.apiKey ?? null,
    ownerToken: ready.at(-1)?.firstStart.ownerToken ?? null,
  }
}

/** In a worker's environment, which only its own user and root can read. */
function socketUrl({ host, port, user, password, database }: SocketConnection): string {
  const query = new URLSearchParams({ host, port: String(port), sslmode: 'disable' })
  return `postgresql://${user}:${password}@localhost/${database}?${query}`
}
