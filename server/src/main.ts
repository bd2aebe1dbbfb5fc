import cluster from 'node:cluster'
import { type Logger, pino } from 'pino'
import { readConfig } from './config.ts'
import { StartError } from './domain/errors.ts'
import { type RunningService, startService } from './service.ts'
import { startWorkers, type WorkerFailed, type WorkerReady } from './workers.ts'

try {
  const config = readConfig(process.env)
  const log = pino({ level: config.logLevel })
  const starting =
    config.workers > 1 && cluster.isPrimary
      ? startWorkers(config, log)
      : startService(config, { wall: () => Date.now(), monotonic: () => performance.now() }, log)
  stopOnSignal(starting, log)

  const service = await starting
  if (cluster.isWorker)
    process.send?.({ type: 'ready', url: service.url, firstStart: service.firstStart } satisfies WorkerReady)
  else process.stdout.write(welcome(service))
} catch (error) {
  if (!(error instanceof StartError)) throw error
  if (cluster.isWorker && process.send) {
    // All workers fail alike: the primary process says it once.
    process.send({ type: 'failed', reason: error.message } satisfies WorkerFailed, () => process.exit(1))
  } else {
    process.stderr.write(`tollgate: ${error.message}\n`)
    process.exit(1)
  }
}

/**
 * A start in progress is stopped once it is done, so that nothing of it is left running. SIGTERM gives clients time to
 * go elsewhere; Ctrl-C, or a second signal, stops at once.
 */
function stopOnSignal(starting: Promise<RunningService>, log: Logger): void {
  let stopping = false
  const hurry = new AbortController()
  const stop = async (signal: string) => {
    if (stopping || signal === 'SIGINT') hurry.abort()
    if (stopping) return
    stopping = true
    log.info({ signal }, 'stopping')
    try {
      const service = await starting
      await service.drain(hurry.signal)
      await service.stop()
      process.exit(0)
    } catch (error) {
      log.error({ err: error }, 'stopping failed')
      process.exit(1)
    }
  }
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => void stop(signal))
}

function welcome({ url, firstStart: { apiKey, ownerToken } }: RunningService): string {
  const lines = ['', 'Tollgate is ready.', '', `  Admin API    ${url}/graphql`, `  Dashboard    ${url}/`]
  if (ownerToken !== null) lines.push(`  Owner        ${url}/setup#token=${ownerToken}   (works once)`)
  if (apiKey !== null) {
    lines.push('', '  The API key of the app "default" is shown this once. To try it in a shell:', '')
    lines.push(`export TOLLGATE_API_KEY=${apiKey}`)
    if (ownerToken !== null) lines.push(`export TOLLGATE_OWNER_TOKEN=${ownerToken}`)
  }
  return `${lines.join('\n')}\n\n`
}
