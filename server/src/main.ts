import { pino } from 'pino'
import { readConfig } from './config.ts'
import { StartError } from './domain/errors.ts'
import { type RunningService, startService } from './service.ts'

try {
  const config = readConfig(process.env)
  const log = pino({ level: config.logLevel })
  const service = await startService(config, () => Date.now(), log)
  process.stdout.write(welcome(service))
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      log.info({ signal }, 'stopping')
      service.stop().then(
        () => process.exit(0),
        (error: unknown) => {
          log.error({ err: error }, 'stopping failed')
          process.exit(1)
        },
      )
    })
  }
} catch (error) {
  if (!(error instanceof StartError)) throw error
  process.stderr.write(`tollgate: ${error.message}\n`)
  process.exit(1)
}

function welcome({ url, firstStart: { apiKey, ownerToken } }: RunningService): string {
  const lines = ['', 'Tollgate is ready.', '', `  Admin API    ${url}/graphql`]
  if (ownerToken !== null) {
    lines.push(`  Owner        ${url}/setup?token=${ownerToken}   (works until there is one)`)
  }
  if (apiKey !== null) {
    lines.push(
      '',
      '  The API key of the app "default". It is shown this once:',
      '',
      `export TOLLGATE_API_KEY=${apiKey}`,
    )
  }
  return `${lines.join('\n')}\n\n`
}
