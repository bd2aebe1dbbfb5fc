import { parseArgs } from 'node:util'
import { parseUrl } from '../../src/domain/url.ts'
import { audits } from './audits.ts'
import { connect, type Target } from './context.ts'
import { type Outcome, runAudits } from './run.ts'

const USAGE = `usage: npm run audit -- --url URL --key KEY [--email EMAIL --password PASSWORD] [--only PREFIX]

  --url       base URL of the service, such as http://localhost:4000
  --key       Admin API key
  --email, --password
              dashboard member, for audits that need the dashboard (publishing, cancelling, test clocks)
  --only      run only the audits whose ID starts with this prefix, such as S5 or G.IDEM
`
const AT_ONCE = 8

class UsageError extends Error {}

function targetOf({ url, key, email, password }: ReturnType<typeof optionsOf>): Target {
  if (!url || !key) throw new UsageError('--url and --key are required')
  if (!/^https?:\/\//.test(url) || !parseUrl(url)) {
    throw new UsageError(`--url must be an http or https URL; it is ${url}`)
  }
  if (!email !== !password) throw new UsageError('--email and --password must be used together')
  return { url: url.replace(/\/+$/, ''), key, owner: email && password ? { email, password } : null }
}

function optionsOf(args: string[]) {
  const option = { type: 'string' } as const
  try {
    const options = { url: option, key: option, email: option, password: option, only: option }
    return parseArgs({ args, options }).values
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

async function main(): Promise<number> {
  const options = optionsOf(process.argv.slice(2))
  const target = targetOf(options)
  const chosen = audits.filter(({ id }) => id.startsWith(options.only ?? ''))
  if (chosen.length === 0) throw new UsageError(`no audit ID starts with ${options.only}`)
  const contexts = await connect(target)
  const counts = { held: 0, failed: 0, 'needs owner': 0 }
  await runAudits(chosen, contexts, AT_ONCE, ({ id, says }, outcome) => {
    counts[outcome.kind]++
    console.log(line(id, says, outcome))
  })
  console.log(
    `\n${chosen.length} audits: ${counts.held} held, ${counts.failed} failed, ${counts['needs owner']} need --email and --password`,
  )
  return counts.failed > 0 ? 1 : 0
}

function line(id: string, says: string, outcome: Outcome): string {
  switch (outcome.kind) {
    case 'held':
      return `✓ ${id}`
    case 'needs owner':
      return `– ${id}  needs --email and --password`
    case 'failed':
      return `✗ ${id}  ${says}\n    ${messageOf(outcome.error).replaceAll('\n', '\n    ')}`
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

try {
  process.exitCode = await main()
} catch (error) {
  console.error(messageOf(error))
  if (error instanceof UsageError) console.error(`\n${USAGE}`)
  process.exitCode = error instanceof UsageError ? 2 : 1
}
