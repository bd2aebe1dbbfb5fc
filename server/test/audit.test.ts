import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startEmbeddedPostgres } from '../src/embedded-postgres/start.ts'
import { ID_SCHEME } from './audit/audit.ts'
import { audits } from './audit/audits.ts'
import { type Contexts, connect } from './audit/context.ts'
import { runAudit } from './audit/run.ts'
import { builtScript } from './harness/scripts.ts'
import { API_KEY, OWNER, startTestServer, type TestServer } from './harness/server.ts'

interface Running {
  server: TestServer
  stop(): Promise<void>
}

/** The service gets only its URL, as for any external PostgreSQL. */
async function onAnExternalDatabase(): Promise<Running> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tollgate-external-'))
  const postgres = await startEmbeddedPostgres({ dataDir, log: () => {} })
  const stopPostgres = async () => {
    await postgres.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
  const { host, port, user, password, database } = postgres.connection
  const databaseUrl = `postgresql://${user}:${password}@localhost/${database}?host=${encodeURIComponent(host)}&port=${port}`
  try {
    const server = await startTestServer({ databaseUrl })
    return {
      server,
      async stop() {
        await server.stop()
        await stopPostgres()
      },
    }
  } catch (error) {
    await stopPostgres()
    throw error
  }
}

// On the database of the test run the command below goes through all of them.
describe('the audit on an external PostgreSQL', () => {
  let running: Running
  let contexts: Contexts
  beforeAll(async () => {
    running = await onAnExternalDatabase()
    contexts = await connect({ url: running.server.url, key: API_KEY, owner: OWNER })
  })
  afterAll(() => running?.stop())

  it.each(
    audits.map((audit) => [audit.id, audit.section, audit] as const),
  )('%s (%s)', async (_id, _section, audit) => {
    const outcome = await runAudit(audit, contexts)
    if (outcome.kind === 'failed') throw outcome.error
    expect(outcome.kind).toBe('held')
  })
})

describe('the list of audits', () => {
  it('has ids that are unique and follow the scheme', () => {
    const ids = audits.map((audit) => audit.id)
    expect(ids.filter((id) => !ID_SCHEME.test(id))).toEqual([])
    expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([])
  })

  it('names for each the section it comes from, in one sentence', () => {
    for (const { id, section, says } of audits) {
      expect(section, id).toMatch(id.startsWith('S') ? /^spec §\d/ : /^(gap: |spec §\d)/)
      expect(says, id).toMatch(/^[^\n]+\.$/)
    }
  })
})

describe('npm run audit', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startTestServer()
  })
  afterAll(() => server?.stop())

  it('holds with a key and an owner', async () => {
    const owner = ['--email', OWNER.email, '--password', OWNER.password]
    const { code, output } = await audit(['--url', server.url, '--key', API_KEY, ...owner], FROM_SOURCE)
    expect(output).toMatch(new RegExp(`${audits.length} audits: ${audits.length} held, 0 failed, 0 need`))
    for (const { id } of audits) expect(output).toContain(`✓ ${id}\n`)
    expect(code).toBe(0)
  })

  it('leaves out what needs an owner when there is none', async () => {
    const { code, output } = await audit(['--url', server.url, '--key', API_KEY])
    expect(output).toContain('– S7.T.several-tiers  needs --email and --password')
    expect(output).toMatch(/: \d+ held, 0 failed, \d+ need --email and --password/)
    expect(code).toBe(0)
  })

  it('fails with a wrong key', async () => {
    const { code, output } = await audit(['--url', server.url, '--key', 'tg_wrong'])
    expect(output).toContain('✗ S5.A1.bare-key')
    expect(code).toBe(1)
  })

  it('fails with a wrong password', async () => {
    const { code, output } = await audit([
      ...['--url', server.url, '--key', API_KEY],
      ...['--email', 'nobody@example.com', '--password', 'wrong password'],
    ])
    expect(output).toContain('sign-in failed')
    expect(code).toBe(1)
  })

  it('says so when nothing answers', async () => {
    const { code, output } = await audit(['--url', 'http://127.0.0.1:1', '--key', API_KEY])
    expect(output).toContain('http://127.0.0.1:1 does not answer')
    expect(code).toBe(1)
  })

  it.each([
    ['no arguments', []],
    ['no key', ['--url', 'http://localhost:4000']],
    ['an email without a password', ['--url', 'http://localhost', '--key', 'k', '--email', 'a@example.com']],
    ['a URL that is none', ['--url', 'localhost', '--key', 'k']],
    ['an unknown option', ['--colour', 'red']],
  ])('tells how it is used when given %s', async (_, args) => {
    const { code, output } = await audit(args)
    expect(output).toContain('usage: npm run audit -- --url URL --key KEY')
    expect(code).toBe(2)
  })
})

/** As `npm run audit` does it. */
const FROM_SOURCE = ['--import', 'tsx', fileURLToPath(new URL('audit/cli.ts', import.meta.url))]

function audit(
  args: string[],
  script = [builtScript('cli')],
): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...script, ...args], {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        output += chunk
      })
    }
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, output }))
  })
}
