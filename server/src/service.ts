import cluster from 'node:cluster'
import { existsSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Logger } from 'pino'
import type { Clocks } from './domain/clocks.ts'
import type { PasswordCost } from './domain/password.ts'
import { httpServer } from './http/server.ts'
import { DEFAULT_APP, prepare } from './operations/apps/first-start.ts'
import { NO_RECOVERY, type RecoveryOptions, secretsFor } from './operations/apps/recovery.ts'
import { warnOfSandboxes } from './operations/billing/sandbox-warning.ts'
import { RECHARGE_CHECK_MS, RechargeWatch } from './operations/billing/start-recharges.ts'
import type { Service } from './operations/call/service.ts'
import { startPublishing } from './operations/events/keep-publishing.ts'
import { PASSWORD_COST } from './operations/members/password.ts'
import {
  billingReader,
  priceReader,
  replacedReader,
} from './operations/subscriptions/subscription-billing.ts'
import { keepLedgerFrom } from './operations/upkeep/keep-ledger.ts'
import { keepStatistics } from './operations/upkeep/keep-statistics.ts'
import { Metrics } from './operations/upkeep/metrics.ts'
import { OngoingWork } from './operations/upkeep/ongoing-work.ts'
import { Outages } from './operations/upkeep/outages.ts'
import { startPruning } from './operations/upkeep/prune.ts'
import { keepUsageHours } from './operations/upkeep/roll-up-usage.ts'
import { ACTIVITY_FLUSH_MS, Activity, KEY_USE_FLUSH_MS } from './operations/usage/activity.ts'
import { UsagePaths } from './operations/usage/hot-paths.ts'
import { Deliverer } from './operations/webhooks/deliverer.ts'
import type { Config } from './settings/config.ts'
import { startBackground } from './start/background.ts'
import { cannotListen, localUrlOf, urlOf } from './start/port.ts'
import type { RunningService } from './start/running-service.ts'
import { databaseSetting, type Maintenance, openDatabase } from './start/service-database.ts'
import { openMail } from './start/smtp.ts'
import { AppCache } from './store/apps/app-cache.ts'
import { TokenKeys } from './store/apps/token-keyring.ts'
import { sealTokenKeys } from './store/apps/token-keys.ts'
import type { Pool } from './store/connection/database.ts'
import { startProblem } from './store/connection/start-problems.ts'
import { freeAllJobs } from './store/jobs/jobs.ts'
import type { Keyring } from './store/secrets/keyring.ts'
import { openKeyring } from './store/secrets/master-key.ts'
import { sealSecrets, secretNamed } from './store/secrets/secrets.ts'
import { noticingBurns } from './store/usage/usage-store.ts'

const STOP_STEP_MS = 2_500
/**
 * The built dashboard and documentation. In a clone they have the same relative paths from the sources and from the built
 * server; the package has them beside the server. The clone's come first: packing leaves a copy behind, which may be older.
 */
const SITES = {
  dashboard: firstFolder('../../dashboard/dist', 'dashboard'),
  docs: () => firstFolder('../../site/dist/html', 'docs'),
}

const NOT_IN_THE_EVENT_LOG =
  'some cells are on other servers: changes of their users, subscriptions and overrides are not in the event log (docs/events.md, "Limits")'

interface StartOptions {
  passwordCost?: PasswordCost
  /** null: for a worker, whose primary handles them */
  recovery?: RecoveryOptions | null
  /** Aborts the start at its next step. */
  givenUp?: AbortSignal
}

/** Starts everything, from the database to the listening socket. */
export async function startService(
  config: Config,
  clocks: Clocks,
  log: Logger,
  { passwordCost = PASSWORD_COST, recovery = NO_RECOVERY, givenUp }: StartOptions = {},
): Promise<RunningService> {
  const { monotonic } = clocks
  const undo: (() => Promise<void>)[] = []
  const stop = async () => {
    for (const step of undo.splice(0).reverse()) await step()
  }
  try {
    const database = await openDatabase(config, { monotonic, log, undo, givenUp })
    const { pool, lookups, remote, longQueries, jobs, listener, replica } = database
    // Nobody else uses the embedded database, so locked jobs are those of a dead process.
    if (config.databaseUrl === null) await freeAllJobs(pool)

    const keyring = await sealedKeyring(config, pool, log)

    let [url, ownUrl] = ['', '']
    const publicUrl = () => config.publicUrl ?? url
    const apps = new AppCache(monotonic)
    const ongoing = new OngoingWork(log)
    undo.push(() => within(STOP_STEP_MS, 'work in progress', log, ongoing.stop()))
    const metrics = new Metrics()
    const activity = new Activity()
    metrics.watchPool('pool', pool)
    metrics.watchPool('lookups', lookups)
    metrics.watchPool('long_queries', longQueries)
    const recharges = new RechargeWatch()
    const usageStore = noticingBurns(database.usageStore, ({ appId, userUid }) => {
      if (apps.known(appId)?.recharges) recharges.noticed(appId, userUid)
    })
    const usage = new UsagePaths(
      { lookups, remote },
      { store: usageStore, apps, metrics, activity, monotonic },
    )
    undo.push(async () => usage.release())
    const service: Service = {
      pool,
      lookups,
      longQueries,
      primary: pool,
      replica,
      apps,
      usage,
      usageStore,
      billings: billingReader(pool, monotonic),
      prices: priceReader(pool, monotonic),
      replaced: replacedReader(pool, monotonic),
      billing: {
        sealingKey: await secretNamed(pool, keyring, 'provider-accounts'),
        sandboxKey: await secretNamed(pool, keyring, 'sandbox'),
        environment: config.stripe && { appId: DEFAULT_APP, ...config.stripe },
        stripeApiBase: config.stripeApiBase,
        publicUrl,
        ownUrl: () => ownUrl,
      },
      webhooks: {
        sealingKey: await secretNamed(pool, keyring, 'webhook-endpoints'),
        allowPrivate: config.webhookAllowPrivate,
      },
      clock: clocks.wall,
      monotonic,
      keyring,
      tokenKeys: await TokenKeys.open(pool, keyring, config.tokenAlgorithm, clocks),
      passwordCost,
      mail: config.mail && openMail(config.mail),
      requestTimeoutMs: config.requestTimeoutMs,
      metrics,
      activity,
      ongoing,
      outages: new Outages(log, monotonic),
      log,
    }
    givenUp?.throwIfAborted()
    const owner = await prepare(service, config)

    const { server, drain, close } = httpServer(service, publicUrl, SITES, config.http)
    await new Promise<void>((listening, failed) => {
      server.once('error', (error: NodeJS.ErrnoException) => failed(cannotListen(error, config)))
      server.listen(config.port, config.host, listening)
    })
    undo.push(close)
    const { port } = server.address() as AddressInfo
    url = urlOf(config.host, port)
    ownUrl = localUrlOf(config.host, port)

    const stopBackground = startBackground(service, jobs, listener)
    const stopPublishing = startPublishing(service, jobs)
    const deliverer = new Deliverer(service)
    const stopPruning = startPruning(service, config.retention)
    // Once for all processes.
    const isFirst = (cluster.worker?.id ?? 1) === 1
    const stopMaintenance = startMaintenance(database.maintenance(), config, service)
    if (isFirst) {
      ongoing.run('checking for sandboxes enabled together with Stripe', () => warnOfSandboxes(service))
      if (pool.places.acrossServers) log.warn(NOT_IN_THE_EVENT_LOG)
    }
    const flushes = [
      ongoing.every(ACTIVITY_FLUSH_MS, 'saving activity counts', () => activity.flush(pool)),
      ongoing.every(KEY_USE_FLUSH_MS, 'saving the last use of API keys', () =>
        activity.flushKeyUse(pool, apps),
      ),
      ongoing.every(RECHARGE_CHECK_MS, 'starting automatic recharges', () => recharges.check(service)),
    ]
    const lastCounts = async () => void (await Promise.all(flushes.map((flush) => flush())))
    const ending = {
      'background jobs': stopBackground,
      'publishing of events': stopPublishing,
      'webhook deliveries': () => deliverer.stop(),
      'index and ledger maintenance': stopMaintenance,
      'pruning of old records': stopPruning,
      'saving the last counts': lastCounts,
    }
    undo.push(async () => {
      const steps = Object.entries(ending)
      await Promise.all(steps.map(([what, end]) => within(STOP_STEP_MS, what, log, end())))
    })
    // Last, because a key created by a start that fails afterwards would be lost.
    givenUp?.throwIfAborted()
    const firstStart = recovery ? await secretsFor(service, recovery) : { apiKey: null, ownerToken: null }
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

/** Maintenance with long statements. Stopping does not wait for them; the next start continues. */
function startMaintenance(
  { pool, ledgers, stop }: Maintenance,
  { ledger }: Config,
  service: Service,
): () => Promise<void> {
  const stopping = new AbortController()
  const { signal } = stopping
  const working = Promise.all([
    // In each process, as any may die. Of several that try at once, one does it.
    keepLedgerFrom(ledgers, service, ledger, signal),
    keepStatistics(pool, service, signal),
    keepUsageHours(pool, service, signal),
  ])
  return async () => {
    stopping.abort()
    await stop()
    await working
  }
}

/** Waits for one step of stopping, but not forever: an unresponsive database must not keep the process alive. */
async function within(ms: number, what: string, log: Logger, step: Promise<unknown>): Promise<void> {
  const ended = new AbortController()
  const late = delay(ms, 'late', { signal: ended.signal }).catch(() => 'ended')
  if ((await Promise.race([step, late])) === 'late') log.warn(`shutdown stopped waiting for: ${what}`)
  ended.abort()
}

/** The first of these folders that exists, relative to this file or to the bundle. */
function firstFolder(...paths: string[]): string {
  const folders = paths.map((path) => fileURLToPath(new URL(path, import.meta.url)))
  return folders.find((folder) => existsSync(folder)) ?? ''
}

/** The master keys, after sealing everything with them. */
async function sealedKeyring(config: Config, pool: Pool, log: Logger): Promise<Keyring> {
  const madeIn = config.databaseUrl === null ? config.dataDir : null
  const keyring = await openKeyring(pool, { ...config, madeIn }, (message) => log.info(message))
  await sealSecrets(pool, keyring)
  await sealTokenKeys(pool, keyring)
  if (keyring.isEmpty) {
    log.warn(
      'TOLLGATE_MASTER_KEY is not set; token keys are stored unencrypted, and provider secrets cannot be stored',
    )
  }
  return keyring
}
