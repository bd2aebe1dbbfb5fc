import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { builtScript } from '../harness/scripts.ts'
import { API_KEY, OWNER, startTestServer, type TestServer } from '../harness/server.ts'
import { ID_SCHEME } from './audit.ts'
import { audits } from './audits.ts'
import { type Contexts, connect } from './context.ts'
import { runAudit } from './run.ts'

// Once here; `npm run proof` goes through them on every kind of installation.
describe('the audit', () => {
  let server: TestServer
  let contexts: Contexts
  beforeAll(async () => {
    server = await startTestServer()
    contexts = await connect({ url: server.url, key: API_KEY, owner: OWNER })
  })
  afterAll(() => server?.stop())

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

  const startingWith = (prefix: string) => audits.filter(({ id }) => id.startsWith(prefix))

  it('holds with a key and an owner', async () => {
    const owner = ['--email', OWNER.email, '--password', OWNER.password]
    const args = ['--url', server.url, '--key', API_KEY, ...owner, '--only', 'S7']
    const { code, output } = await audit(args, FROM_SOURCE)
    const chosen = startingWith('S7')
    expect(chosen.length).toBeGreaterThan(5)
    expect(output).toContain(`${chosen.length} audits: ${chosen.length} held, 0 failed, 0 need`)
    for (const { id } of chosen) expect(output).toContain(`✓ ${id}\n`)
    expect(code).toBe(0)
  })

  it('goes through all of them unless told otherwise', async () => {
    const { code, output } = await audit(['--url', server.url, '--key', 'tg_wrong'])
    for (const { id } of audits)
      expect(output).toMatch(new RegExp(`^[✓✗–] ${id.replaceAll('.', '\\.')}( |$)`, 'm'))
    expect(output).toMatch(new RegExp(`^${audits.length} audits: `, 'm'))
    expect(code).toBe(1)
  })

  it('leaves out what needs an owner when there is none', async () => {
    const { code, output } = await audit(['--url', server.url, '--key', API_KEY, '--only', 'S7.T'])
    expect(output).toContain('– S7.T.several-tiers  needs --email and --password')
    expect(output).toMatch(/: \d+ held, 0 failed, [1-9]\d* need --email and --password/)
    expect(code).toBe(0)
  })

  it('fails with a wrong key', async () => {
    const { code, output } = await audit(['--url', server.url, '--key', 'tg_wrong', '--only', 'S5'])
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
    ['a choice that leaves nothing', ['--url', 'http://localhost', '--key', 'k', '--only', 'S99']],
    ['an unknown option', ['--colour', 'red']],
  ])('tells how it is used when given %s', async (_, args) => {
    const { code, output } = await audit(args)
    expect(output).toContain('usage: npm run audit -- --url URL --key KEY')
    expect(code).toBe(2)
  })
})

/** As `npm run audit` does it. */
const FROM_SOURCE = ['--import', 'tsx', fileURLToPath(new URL('cli.ts', import.meta.url))]

function audit(
  args: string[],
  script = [builtScript('cli')],
): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...script, ...args], {
      cwd: fileURLToPath(new URL('../../..', import.meta.url)),
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
