import { EventEmitter } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import {
  runMigrations,
  runTaskList,
  type TaskList,
  type WorkerEvents,
  Logger as WorkerLogger,
  type WorkerPool,
} from 'graphile-worker'
import type { Logger } from 'pino'
import { appsDue } from '../billing/sandbox/books.ts'
import { turnSandbox } from '../billing/sandbox/payments.ts'
import { deleteAppRows, resumeAppDeletions } from '../operations/apps/remove-app.ts'
import { askAboutCheckout, askAboutSubscription } from '../operations/billing/ask-provider.ts'
import { chargeRecharge } from '../operations/billing/charge-recharge.ts'
import { closeTrialLinks } from '../operations/billing/close-trial-links.ts'
import { handleNotice } from '../operations/billing/handle-notice.ts'
import { providerOf, sandboxIsOn } from '../operations/billing/provider-of.ts'
import { reconcile } from '../operations/billing/reconcile.ts'
import { sendSandboxEvent } from '../operations/billing/send-sandbox-event.ts'
import { startRecharges } from '../operations/billing/start-recharges.ts'
import { deleteBulkChange, runBulkChange } from '../operations/bulk/run-bulk-change.ts'
import type { Service } from '../operations/call/service.ts'
import { publishScheduled } from '../operations/catalogue/publish-scheduled.ts'
import { deleteImport } from '../operations/imports/delete-import.ts'
import { sendPasswordReset } from '../operations/members/request-password-reset.ts'
import { BEAT_MS, JobWorkers } from '../operations/upkeep/job-workers.ts'
import type { Pool } from '../store/connection/database.ts'
import { addJobForTurn, freeStrandedJobs, type Jobs } from '../store/jobs/jobs.ts'
import { tracing } from '../telemetry/tracing.ts'

/** Jobs mostly wait for a provider or the database. */
const CONCURRENCY = 4
/** One for each job, one to listen, one to poll, one to check other workers, one to publish events. */
export const BACKGROUND_CONNECTIONS = CONCURRENCY + 4
/** New jobs are announced by notification. Polling is for lost notifications and for retries. */
const POLL_MS = 2_000
const RESTART_MS = 2_000
/** Longer than any job takes. */
const STRANDED_MINUTES = 10

/** The function of each job. */
function tasksOf(service: Service): TaskList {
  const isOn = sandboxIsOn(service.billing)
  const tasks: { [Name in keyof Jobs]: (payload: Jobs[Name]) => Promise<unknown> } = {
    'handle-notice': ({ appId, seq }) => handleNotice(service, appId, seq),
    'sync-checkout': (at) => askAboutCheckout(service, at),
    'sync-subscription': (at) => askAboutSubscription(service, at),
    'cancel-at-provider': async (at) => {
      await (await providerOf(service, at.appId, at.provider)).cancel(at.ref, 'now')
      await askAboutSubscription(service, at)
    },
    'close-trial-links': (payload) => closeTrialLinks(service, payload),
    'send-sandbox-event': ({ appId, id }) => sendSandboxEvent(service, appId, id),
    'turn-sandbox': ({ appId }) => turnSandbox(service.pool, appId, isOn),
    'delete-app': ({ appId }) => deleteAppRows(service, appId),
    'delete-import': (at) => deleteImport(service, at),
    'bulk-change': (at) => runBulkChange(service, at),
    'delete-bulk-change': (at) => deleteBulkChange(service, at),
    'turn-sandboxes': async () => {
      for (const appId of await appsDue(service.pool)) await turnSandbox(service.pool, appId, isOn)
      await freeStrandedJobs(service.pool, STRANDED_MINUTES)
      await resumeAppDeletions(service)
    },
    'send-password-reset': (asked) => sendPasswordReset(service, asked),
    'charge-recharge': (charge) => chargeRecharge(service, charge),
    'start-recharges': () => startRecharges(service),
    'publish-scheduled': () => publishScheduled(service),
    reconcile: ({ which }) => reconcile(service, null, which),
  }
  return observed(tasks as unknown as TaskList, service)
}

/** Counts failures; with tracing, each run of a job is the start of a trace. */
function observed(tasks: TaskList, { metrics }: Service): TaskList {
  const counted = Object.entries(tasks).map(([job, task]): [string, TaskList[string]] => [
    job,
    async (payload, helpers) => {
      const run = async () => task?.(payload, helpers)
      try {
        await (tracing ? tracing.span(`job ${job}`, {}, run) : run())
      } catch (error) {
        metrics.failedJobs.inc({ task: job })
        throw error
      }
    },
  ])
  return Object.fromEntries(counted)
}

const MINUTE = 60
const DAY = 24 * 60 * MINUTE
/** Often enough not to miss a minute. */
const ROUND_MS = 25_000

/**
 * Recurring jobs. graphile-worker's own crontab is not used: if the database is unreachable at the turn of a minute, it
 * ends the process (0.16.6).
 */
async function scheduleRounds(pool: Pool): Promise<void> {
  await addJobForTurn(pool, 'turn-sandboxes', {}, MINUTE)
  await addJobForTurn(pool, 'publish-scheduled', {}, MINUTE)
  await addJobForTurn(pool, 'start-recharges', {}, MINUTE)
  await addJobForTurn(pool, 'reconcile', { which: 'due' }, 10 * MINUTE)
  await addJobForTurn(pool, 'reconcile', { which: 'all' }, DAY)
}

/** Creates or migrates the job tables. */
export async function migrateJobs(pool: Pool): Promise<void> {
  await runMigrations({ pgPool: pool, logger: quiet })
}

/**
 * Runs jobs until stopped; stopping waits for running jobs. The listener is for notifications, which need a session;
 * null: the pool has sessions, or there are no notifications.
 */
export function startBackground(service: Service, pool: Pool, listener: Pool | null): () => Promise<void> {
  const stopping = new AbortController()
  const working = work(service, listener ? listeningBy(listener, pool) : pool, stopping.signal)
  const schedule = () =>
    scheduleRounds(service.pool).catch((error) =>
      service.log.warn({ err: error }, 'recurring jobs could not be queued; retrying in the next round'),
    )
  void schedule()
  const rounds = setInterval(schedule, ROUND_MS)
  rounds.unref()
  return async () => {
    clearInterval(rounds)
    stopping.abort()
    await working
  }
}

/** graphile-worker uses a callback to get the connection it listens on, and a promise for all others (0.16.6). */
function listeningBy(listener: Pool, pool: Pool): Pool {
  const connect = (callback?: Parameters<Pool['connect']>[0]) =>
    callback ? listener.connect(callback) : pool.connect()
  // A pool's own query gets a connection with a callback too.
  return Object.create(pool, { connect: { value: connect }, query: { value: pool.query.bind(pool) } })
}

/**
 * graphile-worker's workers, restarted whenever one is lost: a worker that cannot report its job ends for good, and its
 * pool continues without it (0.16.6). Its runner is not used, because it always has a crontab.
 */
async function work(service: Service, pool: Pool, stopping: AbortSignal): Promise<void> {
  const workers = new JobWorkers()
  while (!stopping.aborted) {
    try {
      const ids: string[] = []
      const ended = new AbortController()
      const events: WorkerEvents = new EventEmitter()
      events.on('worker:create', ({ worker }) => ids.push(worker.workerId))
      events.on('worker:stop', () => ended.abort())
      const running = runTaskList(
        {
          concurrency: CONCURRENCY,
          pollInterval: POLL_MS,
          noHandleSignals: true,
          logger: loggerOf(service.log, stopping),
          events,
        },
        tasksOf(service),
        pool,
      )
      workers.own(ids)
      const left = new AbortController()
      const looking = lookAfter(service, pool, workers, left.signal)
      try {
        await untilStopped(running, AbortSignal.any([stopping, ended.signal]))
      } finally {
        left.abort()
        await looking
        await workers.leave(pool)
      }
    } catch (error) {
      if (stopping.aborted) return
      service.log.error({ err: error }, 'the job worker stopped; restarting it')
    }
    if (!stopping.aborted) await delay(RESTART_MS, undefined, { signal: stopping }).catch(() => {})
  }
}

/** Takes over jobs of dead processes. */
async function lookAfter(
  { log }: Service,
  pool: Pool,
  workers: JobWorkers,
  ended: AbortSignal,
): Promise<void> {
  while (!ended.aborted) {
    try {
      const dead = await workers.look(pool)
      if (dead.length > 0) log.warn({ workers: dead }, 'took over the jobs of dead workers')
    } catch (error) {
      log.warn({ err: error }, 'background: could not check other workers')
    }
    await delay(BEAT_MS, undefined, { signal: ended }).catch(() => {})
  }
}

/** Waits for running jobs once the signal is set. */
async function untilStopped(running: WorkerPool, stopping: AbortSignal): Promise<void> {
  const stop = () => void running.gracefulShutdown()
  if (stopping.aborted) stop()
  stopping.addEventListener('abort', stop, { once: true })
  await running.promise
}

/**
 * Only failures are logged, and none while the service stops, when connections end with PostgreSQL. Its metadata may
 * contain a whole connection.
 */
function loggerOf(log: Logger, stopping: AbortSignal): WorkerLogger {
  return new WorkerLogger(() => (level, message) => {
    if ((level === 'error' || level === 'warning') && !stopping.aborted) log.warn(`background: ${message}`)
    else log.trace(`background: ${message}`)
  })
}

const quiet = new WorkerLogger(() => () => {})
