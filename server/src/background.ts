import { EventEmitter } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import {
  type Runner,
  run,
  runMigrations,
  type TaskList,
  type WorkerEvents,
  Logger as WorkerLogger,
} from 'graphile-worker'
import type { Logger } from 'pino'
import { appsDue } from './billing/sandbox/books.ts'
import { turnSandbox } from './billing/sandbox/payments.ts'
import { askAboutCheckout, askAboutSubscription } from './operations/billing/ask-provider.ts'
import { handleNotice } from './operations/billing/handle-notice.ts'
import { providerOf, sandboxIsOn } from './operations/billing/provider-of.ts'
import { reconcile } from './operations/billing/reconcile.ts'
import { sendSandboxEvent } from './operations/billing/send-sandbox-event.ts'
import type { Service } from './operations/call/call.ts'
import { deleteImport } from './operations/imports/delete-import.ts'
import { BEAT_MS, JobWorkers } from './operations/upkeep/job-workers.ts'
import type { Pool } from './store/database.ts'
import { addJobForTurn, freeStrandedJobs, type Jobs } from './store/jobs.ts'

/** Jobs mostly wait, for a provider or for the database. */
const CONCURRENCY = 4
/** One for each job, one to listen, one to look for more, one to look after other workers. */
export const BACKGROUND_CONNECTIONS = CONCURRENCY + 3
/** News comes by notification: this is for what a lost one would have said, and for what is to be tried again. */
const POLL_MS = 2_000
const RESTART_MS = 2_000
/** Longer than any job takes. */
const STRANDED_MINUTES = 10

/** What each job does. */
function tasksOf(service: Service): TaskList {
  const isOn = sandboxIsOn(service.billing)
  const tasks: { [Name in keyof Jobs]: (told: Jobs[Name]) => Promise<unknown> } = {
    'handle-notice': ({ appId, seq }) => handleNotice(service, appId, seq),
    'sync-checkout': (at) => askAboutCheckout(service, at),
    'sync-subscription': (at) => askAboutSubscription(service, at),
    'cancel-at-provider': async (at) => {
      await (await providerOf(service, at.appId, at.provider)).cancel(at.ref, 'now')
      await askAboutSubscription(service, at)
    },
    'send-sandbox-event': ({ appId, id }) => sendSandboxEvent(service, appId, id),
    'turn-sandbox': ({ appId }) => turnSandbox(service.pool, appId, isOn),
    'delete-import': (at) => deleteImport(service, at),
    'turn-sandboxes': async () => {
      for (const appId of await appsDue(service.pool)) await turnSandbox(service.pool, appId, isOn)
      await freeStrandedJobs(service.pool, STRANDED_MINUTES)
    },
    reconcile: ({ which }) => reconcile(service, null, which),
  }
  return tasks as unknown as TaskList
}

const MINUTE = 60
const DAY = 24 * 60 * MINUTE
/** Often enough that every turn of a minute is asked for in time. */
const ROUND_MS = 25_000

/**
 * What is done again and again. graphile-worker's own crontab is not used: when the database is away at the turn of a
 * minute, it ends the process (0.16.6).
 */
async function scheduleRounds(pool: Pool): Promise<void> {
  await addJobForTurn(pool, 'turn-sandboxes', {}, MINUTE)
  await addJobForTurn(pool, 'reconcile', { which: 'due' }, 10 * MINUTE)
  await addJobForTurn(pool, 'reconcile', { which: 'all' }, DAY)
}

/** Makes what the jobs are kept in, or brings it up to date. */
export async function migrateJobs(pool: Pool): Promise<void> {
  await runMigrations({ pgPool: pool, logger: quiet })
}

/** Works in the background until it is stopped, which waits for the jobs in hand. */
export function startBackground(service: Service, pool: Pool): () => Promise<void> {
  const stopping = new AbortController()
  const working = work(service, pool, stopping.signal)
  const schedule = () =>
    scheduleRounds(service.pool).catch((error) =>
      service.log.warn({ err: error }, 'what is done again and again waits for the next round'),
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

/** A database that is away for long ends the runner; another takes its place when it is back. */
async function work(service: Service, pool: Pool, stopping: AbortSignal): Promise<void> {
  const workers = new JobWorkers()
  while (!stopping.aborted) {
    try {
      const ids: string[] = []
      const events: WorkerEvents = new EventEmitter()
      events.on('worker:create', ({ worker }) => ids.push(worker.workerId))
      const runner = await run({
        pgPool: pool,
        taskList: tasksOf(service),
        parsedCronItems: [],
        concurrency: CONCURRENCY,
        pollInterval: POLL_MS,
        noHandleSignals: true,
        logger: loggerOf(service.log),
        events,
      })
      workers.own(ids)
      const ended = new AbortController()
      const looking = lookAfter(service, pool, workers, ended.signal)
      try {
        await untilStopped(runner, stopping)
      } finally {
        ended.abort()
        await looking
        await workers.leave(pool)
      }
    } catch (error) {
      if (stopping.aborted) return
      service.log.error({ err: error }, 'background work stopped; it is started again')
      await delay(RESTART_MS, undefined, { signal: stopping }).catch(() => {})
    }
  }
}

/** What a process had in hand when it died is done by the others. */
async function lookAfter(
  { log }: Service,
  pool: Pool,
  workers: JobWorkers,
  ended: AbortSignal,
): Promise<void> {
  while (!ended.aborted) {
    try {
      const dead = await workers.look(pool)
      if (dead.length > 0) log.warn({ workers: dead }, 'background workers died; their jobs are taken over')
    } catch (error) {
      log.warn({ err: error }, 'background: other workers were not looked after this time')
    }
    await delay(BEAT_MS, undefined, { signal: ended }).catch(() => {})
  }
}

async function untilStopped(runner: Runner, stopping: AbortSignal): Promise<void> {
  const stop = () => void runner.stop().catch(() => {})
  if (stopping.aborted) stop()
  stopping.addEventListener('abort', stop, { once: true })
  try {
    await runner.promise
  } finally {
    stopping.removeEventListener('abort', stop)
  }
}

/** Its own news is of no use to who runs the service; what fails is. What it adds may hold a whole connection. */
function loggerOf(log: Logger): WorkerLogger {
  return new WorkerLogger(() => (level, message) => {
    if (level === 'error' || level === 'warning') log.warn(`background: ${message}`)
    else log.trace(`background: ${message}`)
  })
}

const quiet = new WorkerLogger(() => () => {})
