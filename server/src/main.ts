import cluster from 'node:cluster'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { StartError } from './domain/errors.ts'
import { noteServerUrl } from './embedded-postgres/server-url.ts'
import { NO_RECOVERY, type RecoveryOptions } from './operations/apps/recovery.ts'
import { startService } from './service.ts'
import { readRecoveryOptions, startHelp } from './settings/command-line.ts'
import { readConfig } from './settings/config.ts'
import { misspelt } from './settings/unknown-settings.ts'
import { openLog } from './start/log.ts'
import { whenNpxEnds } from './start/npx.ts'
import { checkPort, urlOf } from './start/port.ts'
import { type RunningService, recoverBesideRunning } from './start/running-service.ts'
import { shownOnce, welcome } from './start/welcome.ts'
import { startWorkers, type WorkerFailed, type WorkerReady } from './start/workers.ts'
import { startProblem } from './store/connection/start-problems.ts'
import { openTracing } from './telemetry/open-tracing.ts'
import { tracing } from './telemetry/tracing.ts'

/** Within the time that a stopping worker is given. */
const TRACES_MS = 1_500

const clocks = { wall: () => Date.now(), monotonic: () => performance.now() }

try {
  const recovery = cluster.isWorker ? NO_RECOVERY : readRecoveryOptions(process.argv.slice(2))
  if (recovery === null) process.stdout.write(`${startHelp()}\n`)
  else if (!(await recoveredBesideRunning(recovery))) await serve(recovery)
} catch (error) {
  const known = error instanceof StartError ? error : startProblem(error, 'DATABASE_URL')
  if (!known) throw error
  if (cluster.isWorker && process.send) {
    // All workers fail for the same reason: the primary process logs it once.
    process.send({ type: 'failed', reason: known.message } satisfies WorkerFailed, () => process.exit(1))
  } else {
    process.stderr.write(`tollgate: ${known.message}\n`)
    process.exit(1)
  }
}

/** False: nothing was requested, or no service runs on this database; then it is started. */
async function recoveredBesideRunning(recovery: RecoveryOptions): Promise<boolean> {
  if (recovery.newKeyOf === null && recovery.resetOwner === null) return false
  const config = readConfig(process.env)
  const secrets = await recoverBesideRunning(config, recovery, clocks.wall)
  if (!secrets) return false
  const url = config.publicUrl ?? urlOf(config.host, config.port)
  process.stdout.write(`\nTollgate is already running; it was not restarted.\n${shownOnce(url, secrets)}\n`)
  return true
}

async function serve(recovery: RecoveryOptions): Promise<void> {
  const config = readConfig(process.env)
  const log = openLog(config)
  if (!cluster.isWorker) {
    for (const line of misspelt(process.env)) log.warn(line)
    await checkPort(config)
  }
  const answers = config.workers === 1 || cluster.isWorker
  if (config.telemetry && answers) await openTracing(config.telemetry, (message) => log.warn(message))
  const givenUp = new AbortController()
  const starting =
    config.workers > 1 && cluster.isPrimary
      ? startWorkers(config, log, { recovery, clock: clocks.wall, givenUp: givenUp.signal })
      : startService(config, clocks, log, {
          recovery: cluster.isWorker ? null : recovery,
          givenUp: givenUp.signal,
        })
  stopOnSignal(starting, givenUp, log)

  let service: RunningService
  try {
    service = await starting
  } catch (error) {
    // Logged by the signal's handler, which ends the process.
    if (isStopped(error, givenUp.signal)) return
    throw error
  }
  const { url, owner, firstStart } = service
  if (cluster.isWorker) process.send?.({ type: 'ready', url, owner } satisfies WorkerReady)
  else {
    if (config.databaseUrl === null) await noteServerUrl(config.dataDir, url)
    if (owner === 'ignored')
      log.info(
        'TOLLGATE_OWNER_EMAIL and TOLLGATE_OWNER_PASSWORD are ignored because the first owner already exists. To reset a password, run npx tollgate start --reset-owner',
      )
    process.stdout.write(welcome(url, firstStart))
  }
}

/**
 * A start in progress is aborted at its next step and leaves nothing running. SIGTERM gives clients time to go
 * elsewhere; Ctrl-C, or a second signal, stops immediately.
 */
function stopOnSignal(starting: Promise<RunningService>, givenUp: AbortController, log: Logger): void {
  let stopping = false
  const hurry = new AbortController()
  const stop = async (signal: string) => {
    if (stopping || signal === 'SIGINT') hurry.abort()
    if (stopping) return
    stopping = true
    log.info({ signal }, 'stopping')
    givenUp.abort()
    try {
      const service = await starting
      await service.drain(hurry.signal)
      await service.stop()
      await closeTracing(log)
      process.exit(0)
    } catch (error) {
      if (isStopped(error, givenUp.signal)) process.exit(0)
      log.error({ err: error }, 'stopping failed')
      process.exit(1)
    }
  }
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => void stop(signal))
  if (!cluster.isWorker) whenNpxEnds(process.env, () => void stop('SIGTERM to npx'))
}

/** Whether a start has failed because it was stopped: Ctrl-C also ends the programs that it runs, such as initdb. */
function isStopped(error: unknown, givenUp: AbortSignal): boolean {
  return givenUp.aborted && (error === givenUp.reason || error instanceof StartError)
}

/** Sends the last spans, but does not wait long for a collector that is gone. */
async function closeTracing(log: Logger): Promise<void> {
  if (!tracing) return
  const late = delay(TRACES_MS, 'late', { ref: false })
  const closing = tracing.close().then(
    () => 'closed',
    (error) => log.warn({ err: error }, 'the last traces could not be sent'),
  )
  if ((await Promise.race([closing, late])) === 'late') log.warn('the last traces were not sent in time')
}
