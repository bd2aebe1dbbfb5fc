import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type DataFolder, makeDataFolder } from '../harness/data-folder.ts'
import { freePort } from '../harness/free-port.ts'
import { API_KEY, adminClient } from '../harness/server.ts'

// The packed server, installed by npm into an empty folder. Needs the npm registry or a filled cache.

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const run = promisify(execFile)
/** The account without permissions; only root can run a process as another user. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : null

let outer: string
let project: string
let data: DataFolder | undefined
let service: ChildProcess | undefined
let files: string[]

beforeAll(async () => {
  outer = await mkdtemp(join(tmpdir(), 'tollgate-package-'))
  await chmod(outer, 0o755)
  project = join(outer, 'project')
  await mkdir(project)
  await run('npm', ['pack', '--silent', '--workspace', 'server', '--pack-destination', outer], { cwd: ROOT })
  const tarball = join(outer, (await readdir(outer)).find((name) => name.endsWith('.tgz')) ?? '')
  files = (await run('tar', ['-tzf', tarball])).stdout.trim().split('\n')
  await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', tarball], { cwd: project })
}, 600_000)
afterEach(async () => {
  if (service && service.exitCode === null && service.signalCode === null) {
    const gone = once(service, 'close')
    service.kill('SIGKILL')
    await gone
  }
  await data?.remove()
  data = undefined
})
afterAll(() => rm(outer, { recursive: true, force: true }))

interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

const environment = (env: Record<string, string>) => ({
  PATH: process.env.PATH,
  HOME: outer,
  TMPDIR: tmpdir(),
  ...env,
})

function spawnTollgate(args: string[], env: Record<string, string> = {}, account = {}, cwd = project) {
  const bin = join(project, 'node_modules/.bin/tollgate')
  return spawn(bin, args, { cwd, env: environment(env), stdio: ['ignore', 'pipe', 'pipe'], ...account })
}

async function tollgate(...[args, ...options]: Parameters<typeof spawnTollgate>): Promise<Ended> {
  const child = spawnTollgate(args, ...options)
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  const [code] = await once(child, 'close')
  return { code, stdout, stderr }
}

/** Starts the service and waits until it is ready. */
async function start(env: Record<string, string>): Promise<ChildProcess> {
  const child = spawnTollgate(['start'], { TOLLGATE_API_KEY: API_KEY, TOLLGATE_DRAIN_MS: '0', ...env })
  service = child
  await untilReady(child)
  return child
}

async function untilReady(child: ChildProcess): Promise<void> {
  let output = ''
  await new Promise<void>((ready, failed) => {
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk: Buffer) => {
        output += chunk.toString()
        if (output.includes('Tollgate is ready')) ready()
      })
    child.once('exit', (code) => failed(new Error(`tollgate start ended with ${code}: ${output}`)))
  })
}

describe('the package', () => {
  it('contains the programs and the pages, and nothing else', () => {
    const top = files
      .map((name) => name.replace(/^package\//, ''))
      .filter((name) => !/^dist\/(dashboard|docs)\//.test(name))
    expect(top.toSorted()).toEqual([
      'LICENSE',
      'README.md',
      'bin/tollgate.js',
      'dist/cli.js',
      'dist/data-tools.js',
      'dist/doctor.js',
      'dist/main.js',
      'dist/telemetry.js',
      'dist/third-party-licences.txt',
      'package.json',
    ])
    expect(files).toContain('package/dist/dashboard/index.html')
    expect(files).toContain('package/dist/docs/guides/metered-api.html')
    expect(files.filter((name) => name.endsWith('.map'))).toEqual([])
  })

  it.each([
    '1',
    '2',
  ])('starts with its own database and dashboard, with %s workers, and ends on SIGTERM', async (workers) => {
    const port = await freePort()
    const child = await start({ PORT: port, TOLLGATE_WORKERS: workers })
    data = await makeDataFolder(join(project, 'data'))
    const url = `http://127.0.0.1:${port}`
    expect(
      await adminClient(url, API_KEY).data(
        '{ canUseFeature(userId: "ada", featureId: "api-calls") { access reasonCode } }',
      ),
    ).toEqual({ canUseFeature: { access: false, reasonCode: 'USER_NOT_FOUND' } })
    const page = await (await fetch(`${url}/`)).text()
    const [, script = ''] = /<script type="module"[^>]* src="([^"]+)"/.exec(page) ?? []
    expect((await fetch(new URL(script, url))).status).toBe(200)
    expect((await fetch(`${url}/docs/start/run`)).status).toBe(200)
    expect((await fetch(`${url}/readyz`)).status).toBe(200)

    const again = await tollgate(['start'], { PORT: port })
    expect(again).toEqual({
      code: 1,
      stdout: '',
      stderr: `tollgate: Tollgate is already running at ${url} on the data folder ${data.path}. Stop it first, or set PORT and TOLLGATE_DATA_DIR to start another server.\n`,
    })
    const file = join(outer, `backup-${workers}.gz`)
    expect((await tollgate(['backup', file])).code).toBe(0)
    expect((await tollgate(['restore', '--check', file])).stdout).toContain('is valid')

    child.kill('SIGTERM')
    expect(await once(child, 'close')).toEqual([0, null])
    expect(await data.postmaster()).toBeNull()
  })

  it('ends with npx', async () => {
    const port = await freePort()
    const npx = spawn('npx', ['tollgate', 'start'], {
      cwd: project,
      env: environment({ PORT: port, TOLLGATE_DRAIN_MS: '0', TOLLGATE_API_KEY: API_KEY }),
      stdio: ['ignore', 'pipe', 'inherit'],
      // A group of its own, so that nobody but npx gets the signal.
      detached: true,
    })
    service = npx
    await untilReady(npx)
    data = await makeDataFolder(join(project, 'data'))
    npx.kill('SIGTERM')
    // The service holds the other end of the pipe until it has ended.
    await once(npx, 'close')
    expect(await data.postmaster()).toBeNull()
    await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow('fetch failed')
  })

  it('names a data folder without write permission, and writes nothing', async () => {
    const denied = join(outer, 'denied')
    await mkdir(denied)
    if (NOBODY) await chown(denied, NOBODY.uid, NOBODY.gid)
    await chmod(denied, 0o555)
    const env = { PORT: '0', TOLLGATE_DATA_DIR: denied, TOLLGATE_LOG_LEVEL: 'error' }
    expect(await tollgate(['start'], env, NOBODY ?? {})).toEqual({
      code: 1,
      stdout: '',
      stderr: `tollgate: The data folder ${denied} is not writable (EACCES). Change its permissions, or set TOLLGATE_DATA_DIR to a writable folder.\n`,
    })
    expect(await readdir(denied)).toEqual([])
  })
})

describe('the command line', () => {
  it('prints its version', async () => {
    const { version } = JSON.parse(await readFile(join(ROOT, 'server/package.json'), 'utf8'))
    expect(await tollgate(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
  })

  it('lists its commands, each of which explains itself', async () => {
    const help = await tollgate(['--help'])
    expect([help.code, help.stderr]).toEqual([0, ''])
    const names = [...help.stdout.matchAll(/^ {2}([a-z]+) {2,}\S/gm)].map(([, name = '']) => name)
    expect(names.length).toBeGreaterThan(5)
    for (const name of names) {
      const { code, stdout, stderr } = await tollgate([name, '--help'])
      expect([code, stderr]).toEqual([0, ''])
      expect(stdout).toMatch(new RegExp(`^Usage: tollgate ${name} ?`))
    }
  })

  it.each([
    [['frobnicate'], "Unknown command 'frobnicate'."],
    [['__proto__'], "Unknown command '__proto__'."],
    [[], 'No command given.'],
  ])('answers %j in one line', async (args, problem) => {
    expect(await tollgate(args)).toEqual({
      code: 1,
      stdout: '',
      stderr: `tollgate: ${problem} Run tollgate --help to list the commands.\n`,
    })
    expect(existsSync(join(outer, 'data'))).toBe(false)
  })

  it.each([
    ['the package', () => join(project, 'node_modules/@tollgate/server/bin/tollgate.js')],
    ['a clone', () => join(ROOT, 'scripts/start.mjs')],
  ])('%s names the version of Node that it needs, on an older one', async (_, program) => {
    const old = `Object.defineProperty(process.versions, 'node', { value: '20.18.3' }); await import(${JSON.stringify(program())})`
    const failed = await run(process.execPath, ['--input-type=module', '-e', old]).catch((error) => error)
    expect([failed.code, failed.stderr]).toEqual([
      1,
      'tollgate: Node.js 20.19 or later is required; this is 20.18.3. Install a newer version from https://nodejs.org.\n',
    ])
  })
})
