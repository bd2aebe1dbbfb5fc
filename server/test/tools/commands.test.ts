import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dashboardClient, signedIn } from '../harness/client.ts'
import { type DataFolder, makeDataFolder } from '../harness/data-folder.ts'
import { createEmptyDatabase, rowsOf } from '../harness/database.ts'
import { isProgramPage } from '../harness/page-programs.ts'

// The shell commands of the README and the docs are read from there and run as they stand, in one shell's environment,
// against a service that `npm start` has started. Only the port and the folders are this test's own.

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const DOCS = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
  .map((name) => `docs/${name.split(sep).join('/')}`)
  .filter((name) => name.endsWith('.md') && !isProgramPage(name))
const DOCUMENTS = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'examples/README.md',
  'sdk/README.md',
].concat(DOCS)

/** Commands that are not run here, and why. */
const ELSEWHERE: [RegExp, string][] = [
  [/^npm test|^\w+=\S+ npm test|-- npm test$|^npm run test:\w+/, 'would run this test again'],
  [/^docker /, 'needs Docker'],
  [/^\w+=\S+$/, 'a setting with an example of its value'],
  [
    /^npm run (bench|bench:against|proof|mutants)\b|^npx tsx bench\//,
    'takes minutes; a test of its own runs a part',
  ],
  [/^(TOLLGATE_PICTURES=1 )?npm run day$/, 'takes minutes; dashboard/test/day.test.ts runs one of its days'],
  [/^npm run cluster$/, "needs Patroni, etcd and HAProxy; the proof's scenario patroni brings one up"],
  [/^npm run dev$/, 'server/test/start/dev.test.ts'],
  [/^npm run audit\b/, 'server/test/audit/audit.test.ts'],
  [/^npm run (format|schema)$/, 'changes the sources; format and schema.test.ts check the result'],
  [/^npm run sbom$/, 'server/test/house/licences.test.ts'],
  [/^npx tollgate start$/, 'server/test/cli/package.test.ts'],
  [/^export TOLLGATE_(URL|API_KEY)=/, 'a setting with an example of its value'],
  [/^npm start --prefix examples\/page/, 'sdk/test/examples.test.ts opens it in Chromium'],
  [/^TOLLGATE_STRIPE_TEST_KEY=\S+ npx vitest /, 'needs an account at Stripe'],
  [
    /^npm run ledger -- (check|read) /,
    'needs an archived partition: server/test/ledger/ledger-partitions.test.ts',
  ],
  [/^npm run cells -- (distribute|move) /, 'needs Citus: server/test/cells/remote-cells.test.ts'],
]
/** The section at the end of a document whose commands another test reads and runs. */
const DRILL = {
  document: 'docs/operations/backup.md',
  from: '### Recovery drill',
  test: 'recovery-drill.test.ts',
}

interface Block {
  document: string
  lines: string[]
}

/** Every block of shell commands; a command that is continued is one line. */
function blocksOf(document: string): Block[] {
  let text = readFileSync(join(ROOT, document), 'utf8')
  if (document === DRILL.document) {
    const from = text.indexOf(DRILL.from)
    expect(from).toBeGreaterThan(0)
    text = text.slice(0, from)
  }
  return [...text.matchAll(/^ *```(?:sh|bash|console|shell)\n([\s\S]*?)^ *```/gm)].map(([, block = '']) => ({
    document,
    lines: block
      .replaceAll('\\\n', ' ')
      .split('\n')
      .map((line) => line.replace(/\s+#\s.*$/, '').trim())
      .filter((line) => line !== ''),
  }))
}

const reasonFor = (line: string) => ELSEWHERE.find(([pattern]) => pattern.test(line))?.[1]
const BLOCKS = DOCUMENTS.flatMap(blocksOf)

let folder: DataFolder
let work: string
let url = ''
let service: ChildProcess | undefined
/** What the reader's shell has, as `npm start` printed it. */
let exported: Record<string, string> = {}

beforeAll(async () => {
  // Otherwise `npm start` would install anew, under the tests that are running.
  const [installed, locked] = ['node_modules/.package-lock.json', 'package-lock.json'].map(
    (name) => statSync(join(ROOT, name)).mtimeMs,
  )
  if ((installed ?? 0) < (locked ?? 0)) throw new Error('the packages are out of date: run npm ci first')
  folder = await makeDataFolder()
  work = await mkdtemp(join(tmpdir(), 'tollgate-commands-'))
})
afterAll(async () => {
  if (service?.pid !== undefined) {
    const gone = once(service, 'close')
    process.kill(-service.pid, 'SIGTERM')
    await gone
  }
  await folder?.remove()
  await rm(work, { recursive: true, force: true })
})

const environment = (): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  HOME: work,
  npm_config_cache: process.env.npm_config_cache ?? join(process.env.HOME ?? work, '.npm'),
  npm_config_offline: 'true',
  npm_config_audit: 'false',
  npm_config_update_notifier: 'false',
  TOLLGATE_DATA_DIR: folder.path,
  ...exported,
})

/** With the port and folder of this test in place of those that a reader has. */
const here = (line: string) =>
  line.replaceAll('http://127.0.0.1:4000', url).replaceAll('/tmp/tollgate-session', join(work, 'session'))

/** Runs commands as one shell would, one after the other; it stops at the first that fails. */
async function shell(
  lines: string[],
  { cwd = ROOT, env = {} }: { cwd?: string; env?: Record<string, string> } = {},
): Promise<{ code: number | null; output: string }> {
  const child = spawn('bash', ['-e', '-c', lines.map(here).join('\n')], {
    cwd,
    env: { ...environment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  const [code] = await once(child, 'close')
  return { code, output }
}

/** Starts a command that keeps running, and waits until it has said so. */
async function begin(
  line: string,
  env: Record<string, string>,
  said: RegExp,
): Promise<{ child: ChildProcess; output: string }> {
  const child = spawn('bash', ['-c', line], {
    cwd: ROOT,
    env: { ...environment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, which npm and what it starts are ended with.
    detached: true,
  })
  let output = ''
  await new Promise<void>((ready, failed) => {
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk: Buffer) => {
        output += chunk.toString()
        if (said.test(output)) ready()
      })
    child.once('exit', (code) => failed(new Error(`${line} ended with ${code}: ${output}`)))
  })
  return { child, output }
}

const json = (output: string) =>
  output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))

const blocks = (document: string) => BLOCKS.filter((block) => block.document === document)

describe('every command', () => {
  it('is run below, or is on the list of those that are not', () => {
    const run =
      /^(npm start( --( |$)|$| --prefix examples\/backend)|npm (pack|install) |npm run (backup|restore|move|ledger|cells) |npx tollgate (check|record) |admin|dashboard|curl|-H )/
    const strays = BLOCKS.flatMap(({ document, lines }) =>
      lines.filter((line) => !run.test(line) && !reasonFor(line)).map((line) => `${document}: ${line}`),
    )
    expect(BLOCKS.length).toBeGreaterThan(8)
    expect(strays).toEqual([])
  })

  it('that calls a script or names a test calls one that exists', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    const texts = DOCUMENTS.map((name) => readFileSync(join(ROOT, name), 'utf8')).join('\n')
    const called = [...texts.matchAll(/npm run (?:--silent )?([\w:]+)\b(?! --prefix)/g)].map(
      ([, name = '']) => name,
    )
    const named = [...texts.matchAll(/npm test -- (\S+\.test\.ts)/g)].map(([, path = '']) => path)
    expect(called.filter((name) => !(name in scripts))).toEqual([])
    expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
  })
})

describe('the README, from the first line', () => {
  it('npm start serves, and prints a key and a link', async () => {
    const [first] = blocks('README.md')
    expect(first?.lines).toEqual(['npm start'])
    const started = await begin('npm start', { PORT: '0' }, /TOLLGATE_OWNER_TOKEN=\S+\n/)
    service = started.child
    url = /Admin API\s+(http\S+)\/graphql/.exec(started.output)?.[1] ?? ''
    exported = Object.fromEntries(
      [...started.output.matchAll(/^export (\w+)=(\S+)$/gm)].map(([, name, value]) => [name, value]),
    )
    expect(Object.keys(exported)).toEqual(['TOLLGATE_URL', 'TOLLGATE_API_KEY', 'TOLLGATE_OWNER_TOKEN'])
    expect(exported.TOLLGATE_URL).toBe(url)
  })

  it('two of three are used and access is true; with the third it is false', async () => {
    const [, check, third] = blocks('README.md')
    const lines = [...(check?.lines ?? []), ...(third?.lines ?? [])]
    const { code, output } = await shell(lines)
    expect(code).toBe(0)
    const answers = json(output)
    expect(answers.filter(({ errors }) => errors)).toEqual([])
    expect(answers).toHaveLength(8)
    expect(answers.slice(6)).toEqual([
      { data: { recordUsage: { recorded: true } } },
      { data: { canUseFeature: { access: true, reason: expect.any(String) } } },
    ])
    expect(output.slice(output.lastIndexOf('}\n') + 2)).toBe(
      'Recorded.\nUsed 3 of 3.\nAccess denied: Limit reached: 3 of 3 used; 1 more requested.\nUsed 3 of 3.\nexit code 2\n',
    )
  })
})

describe('what the docs say next', () => {
  const OWNER = { email: 'you@example.com', password: 'a password of yours' }

  it('the example backend meters, after the README as well', async () => {
    const [block] = blocks('examples/README.md')
    const backend = await begin(
      block?.lines[0] ?? '',
      {
        PORT: '0',
        TOLLGATE_URL: url,
        TOLLGATE_OWNER_EMAIL: OWNER.email,
        TOLLGATE_OWNER_PASSWORD: OWNER.password,
      },
      /listens on \S+\n/,
    )
    try {
      const at = /listens on (\S+)/.exec(backend.output)?.[1]
      const answers = []
      for (let i = 0; i < 6; i++)
        answers.push((await fetch(`${at}/api/summaries`, { method: 'POST' })).status)
      expect(answers).toEqual([200, 200, 200, 200, 200, 402])
      expect((await fetch(`${at}/api/token`)).status).toBe(200)
    } finally {
      const gone = once(backend.child, 'close')
      process.kill(-(backend.child.pid ?? 0), 'SIGTERM')
      await gone
    }
  })

  it('the SDK is packed and installed', async () => {
    const [pack, install] = blocks('docs/sdk.md')
    const [clone, project] = [ROOT, join(work, 'project')]
    await mkdir(project)
    await writeFile(
      join(project, 'package.json'),
      '{ "name": "project", "version": "1.0.0", "private": true }',
    )
    // Beside the clone, which this one is not.
    const beside = (lines: string[] = []) => lines.map((line) => line.replace(/ \.\.(?=\/|$)/, ` ${work}`))
    expect(await shell(beside(pack?.lines), { cwd: clone })).toMatchObject({ code: 0 })
    expect(await shell(beside(install?.lines), { cwd: project })).toMatchObject({ code: 0 })
    await writeFile(
      join(project, 'call.mjs'),
      `import { Tollgate } from '@tollgate/sdk/node'
       const { data, error } = await new Tollgate().canUseFeature({ userId: 'ada', featureId: 'api-calls' })
       console.log(error ?? data.access)`,
    )
    const { output } = await shell(['node call.mjs'], { cwd: project, env: { TOLLGATE_URL: url } })
    expect(output).toBe('false\n')
  })

  it('npm start has a way back to a lost key and a lost password', async () => {
    const [back] = blocks('docs/operations.md')
    const dashboard = await signedIn(url, OWNER)
    const { inviteMember } = await dashboard.data(`mutation {
      createApp(id: "shop", name: "Shop") { id }
      inviteMember(email: "ada@example.com", role: OWNER) { url }
    }`)
    await dashboardClient(url).call('acceptInvitation', {
      token: new URL(inviteMember.url).hash.split('=')[1],
      password: OWNER.password,
    })
    expect(back?.lines).toHaveLength(4)
    const { code, output } = await shell(back?.lines ?? [])
    expect(code).toBe(0)
    expect(output.match(/already running/g)).toHaveLength(4)
    expect(output.match(/^export (SHOP_)?TOLLGATE_API_KEY=tg_\S+$/gm)).toHaveLength(2)
    expect(output.match(/\/reset#token=\S+$/gm)).toHaveLength(2)
    expect(output).toContain('reset link for you@example.com')
    expect(output).toContain('reset link for ada@example.com')
  })

  it('a backup of the running service is restored, and moved to another PostgreSQL', async () => {
    const [block] = blocks('docs/operations/backup.md')
    const [backup, check, restore, move, ...more] = block?.lines ?? []
    expect(more).toEqual([])
    const [database, restored] = [await createEmptyDatabase(), await makeDataFolder()]
    const named = (line = '') =>
      line.replace(/ FILE$/, ` ${join(work, 'all.backup')}`).replace(/ postgresql:\S+$/, ` ${database.url}`)
    try {
      expect(await shell([backup, check].map(named))).toMatchObject({ code: 0 })
      const env = { TOLLGATE_DATA_DIR: restored.path }
      expect(await shell([restore, move].map(named), { env })).toMatchObject({ code: 0 })
      const users = await rowsOf({ connectionString: database.url }, 'select id from users')
      expect(users).toContainEqual({ id: 'ada' })
    } finally {
      await restored.remove()
      await database.drop()
    }
  })

  it('the ledger and the cells of the running service are shown and changed', async () => {
    const [ledger, cells] = blocks('docs/operations/ledger-and-cells.md')
    const run = [...(ledger?.lines.slice(0, 2) ?? []), ...(cells?.lines ?? [])]
    const { code, output } = await shell(
      run.map((line) => line.replace(' FOLDER ', ` ${join(work, 'archive')} `)),
    )
    expect({ code, output }).toMatchObject({ code: 0 })
    expect(await shell(['npx tollgate check ada api-calls --json'])).toMatchObject({ code: 2 })
  }, 240_000)
})
