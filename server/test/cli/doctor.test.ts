import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { examine } from '../../src/doctor/doctor.ts'
import type { Finding } from '../../src/doctor/finding.ts'
import { REAL_CLOCKS } from '../harness/clocks.ts'
import { builtTollgate } from '../harness/command-line.ts'
import { createDatabase, createEmptyDatabase, directly, rowsOf } from '../harness/database.ts'
import { freePort } from '../harness/free-port.ts'
import { MASTER_KEY_SETTINGS, startTestServer } from '../harness/server.ts'

let folder: string
let port: string
const servers: Server[] = []

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-doctor-'))
  port = await freePort()
})
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
  await rm(folder, { recursive: true, force: true })
})

async function find(
  env: Record<string, string>,
  check: string,
  options: { limitMs?: number; skew?: number } = {},
) {
  const clocks = { ...REAL_CLOCKS, wall: () => REAL_CLOCKS.wall() + (options.skew ?? 0) }
  const found = await examine(
    { PORT: port, TOLLGATE_DATA_DIR: join(folder, 'data'), ...env },
    clocks,
    options.limitMs,
  )
  return found.filter((finding) => finding.check === check)
}

/** A stand-in for Stripe, or a public URL. */
async function answering(status: number, body: string): Promise<string> {
  const server = createServer((_, response) => response.writeHead(status).end(body))
  servers.push(server)
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const status = (findings: Finding[]) => findings.map((finding) => finding.status)

describe('settings', () => {
  it('that are invalid or misspelt are named, and the rest is examined as far as possible', async () => {
    expect(await find({ TOLLGATE_WORKERS: 'many' }, 'Settings')).toEqual([
      {
        check: 'Settings',
        status: 'problem',
        message: 'TOLLGATE_WORKERS must be a number from 1 to 64; it is "many".',
        fix: null,
      },
    ])
    expect(status(await find({ TOLLGATE_WORKERS: 'many' }, 'Node.js'))).toEqual(['ok'])
    expect(await find({ TOLLGATE_WROKERS: '2' }, 'Settings')).toMatchObject([
      { status: 'warning', message: expect.stringContaining('did you mean TOLLGATE_WORKERS?') },
    ])
  })
})

describe('the port', () => {
  it('may be free, taken by a stranger, or serve Tollgate', async () => {
    expect(await find({}, 'Listening')).toMatchObject([
      { status: 'ok', message: expect.stringMatching(/is free/) },
    ])
    const stranger = createTcpServer().listen(Number(port), '127.0.0.1')
    await new Promise((listening) => stranger.once('listening', listening))
    try {
      expect(await find({}, 'Listening')).toMatchObject([
        { status: 'problem', message: expect.stringMatching(/already in use/) },
      ])
    } finally {
      stranger.close()
    }
    const server = await startTestServer()
    try {
      const here = { PORT: new URL(server.url).port }
      expect(await find(here, 'Listening')).toMatchObject([
        { status: 'ok', message: expect.stringMatching(/running .* and is ready/) },
      ])
      expect(status(await find({ ...here, TOLLGATE_PUBLIC_URL: server.url }, 'Public URL'))).toEqual(['ok'])
      const wrong = await answering(200, 'parked domain')
      expect(status(await find({ ...here, TOLLGATE_PUBLIC_URL: wrong }, 'Public URL'))).toEqual(['problem'])
    } finally {
      await server.stop()
    }
    expect(status(await find({ TOLLGATE_PUBLIC_URL: 'http://127.0.0.1:9' }, 'Public URL'))).toEqual([
      'skipped',
    ])
  })
})

describe('the data folder', () => {
  const data = () => join(folder, 'data')

  it('may be missing, and is not created', async () => {
    expect(await find({}, 'Data folder')).toMatchObject([
      { status: 'ok', message: expect.stringMatching(/does not exist yet/) },
    ])
    expect(await find({}, 'Database')).toMatchObject([
      { status: 'skipped', message: expect.stringMatching(/not running/) },
    ])
    expect(await find({}, 'Master key')).toMatchObject([{ status: 'ok' }])
    await expect(chmod(data(), 0o700)).rejects.toThrow('ENOENT')
  })

  it('must be a folder, that others cannot write to, with secrets that they cannot read', async () => {
    await writeFile(data(), '')
    expect(status(await find({}, 'Data folder'))).toEqual(['problem'])
    await rm(data())
    await mkdir(data(), { mode: 0o700 })
    expect(status(await find({}, 'Data folder'))).toEqual(['ok'])
    await writeFile(join(data(), 'pgpass'), '')
    await chmod(join(data(), 'pgpass'), 0o644)
    expect(await find({}, 'Data folder')).toMatchObject([
      { status: 'problem', fix: `chmod 600 ${join(data(), 'pgpass')}` },
    ])
    await chmod(data(), 0o777)
    expect(await find({}, 'Data folder')).toMatchObject([{ status: 'warning', fix: `chmod go-w ${data()}` }])
  })
})

describe('the database', () => {
  it('is examined with its settings, its schema and its clock', async () => {
    const database = await createDatabase()
    const env = { DATABASE_URL: directly(database.url) }
    try {
      for (const check of ['Database', 'Schema', 'Connections', 'Clock'])
        expect([check, status(await find(env, check))]).toEqual([check, ['ok']])
      // The tests' own server runs without fsync, if it is the embedded one.
      expect(await find(env, 'Durability')).toHaveLength(1)
      expect(status(await find(env, 'Clock', { skew: 10_000 }))).toEqual(['warning'])
      expect(await find(env, 'Clock', { skew: -3_600_000 })).toMatchObject([
        { status: 'problem', message: expect.stringMatching(/3600\.\d s ahead of/) },
      ])
      expect(status(await find({ ...env, TOLLGATE_WORKERS: '64' }, 'Connections'))).toEqual(['warning'])
      expect(status(await find(env, 'Data folder'))).toEqual(['skipped'])
      expect(status(await find(env, 'Master key'))).toEqual(['warning'])
      expect(status(await find({ ...env, ...MASTER_KEY_SETTINGS }, 'Master key'))).toEqual(['ok'])
      const connectionString = directly(database.url)
      await rowsOf({ connectionString }, `insert into schema_migration (name) values ('999-future')`)
      expect(await find(env, 'Database')).toMatchObject([
        { status: 'problem', message: expect.stringMatching(/newer version/) },
      ])
    } finally {
      await database.drop()
    }
  })

  it('may be empty, and stays so', async () => {
    const database = await createEmptyDatabase()
    const connectionString = directly(database.url)
    try {
      expect(await find({ DATABASE_URL: connectionString }, 'Schema')).toMatchObject([
        { status: 'ok', message: expect.stringMatching(/is empty/) },
      ])
      expect(
        await rowsOf(
          { connectionString },
          `select from pg_class where relnamespace = 'public'::regnamespace`,
        ),
      ).toEqual([])
    } finally {
      await database.drop()
    }
  })

  it('that cannot be reached is a problem, without its password', async () => {
    const [found] = await find({ DATABASE_URL: 'postgresql://u:hunter22@127.0.0.1:9/x' }, 'Database')
    expect(found).toMatchObject({ status: 'problem', message: expect.stringMatching(/unreachable/) })
    expect(JSON.stringify(found)).not.toContain('hunter22')
  })
})

describe('the master key', () => {
  it('must be readable, in the right format, and not for everyone', async () => {
    const file = join(folder, 'key')
    const env = { TOLLGATE_MASTER_KEY_FILE: file }
    expect(await find(env, 'Master key')).toMatchObject([
      { status: 'problem', message: expect.stringMatching(/\(ENOENT\)/) },
    ])
    await writeFile(file, 'short')
    expect(await find(env, 'Master key')).toMatchObject([
      { status: 'problem', message: expect.stringMatching(/must be 32 bytes/) },
    ])
    await writeFile(file, Buffer.alloc(32, 'k').toString('base64'))
    await chmod(file, 0o644)
    expect(await find(env, 'Master key')).toMatchObject([{ status: 'warning', fix: `chmod 600 ${file}` }])
    await chmod(file, 0o440)
    expect(status(await find(env, 'Master key'))).toEqual(['ok'])
  })
})

describe('Stripe', () => {
  const account = { STRIPE_SECRET_KEY: 'sk_test_secret_of_the_doctor', STRIPE_WEBHOOK_SECRET: 'whsec_x' }

  it.each([
    [200, {}, 'ok', /accepts the test key/],
    [403, {}, 'ok', /accepts the test key/],
    [401, {}, 'problem', /rejects the test key/],
    [503, {}, 'warning', /HTTP 503/],
    [200, { STRIPE_WEBHOOK_SECRET: '' }, 'warning', /STRIPE_WEBHOOK_SECRET is not set/],
    [200, { STRIPE_WEBHOOK_SECRET: 'sk_x' }, 'warning', /does not start with whsec_/],
  ])('that answers with %d, with %j: %s', async (code, changed, expected, message) => {
    const env = { ...account, ...changed, STRIPE_API_BASE: await answering(code, '{}') }
    const [found] = await find(env, 'Stripe')
    expect(found).toMatchObject({ status: expected, message: expect.stringMatching(message) })
    expect(JSON.stringify(found)).not.toContain(account.STRIPE_SECRET_KEY)
  })

  it('that is not reachable is a problem; without a public URL it cannot deliver', async () => {
    const env = { ...account, STRIPE_API_BASE: 'http://127.0.0.1:9' }
    expect(status(await find(env, 'Stripe'))).toEqual(['problem'])
    expect(await find(env, 'Public URL')).toMatchObject([
      { status: 'warning', message: expect.stringMatching(/cannot deliver webhook events/) },
    ])
  })
})

it('a check that takes too long is a problem, and the others are not delayed', async () => {
  const silent = createServer(() => {})
  servers.push(silent)
  await new Promise<void>((listening) => silent.listen(0, '127.0.0.1', listening))
  const env = {
    STRIPE_SECRET_KEY: 'sk_test_x',
    STRIPE_API_BASE: `http://127.0.0.1:${(silent.address() as AddressInfo).port}`,
  }
  expect(await find(env, 'Stripe', { limitMs: 300 })).toMatchObject([
    { status: 'problem', message: 'There is no result after 0.3 s.' },
  ])
})

describe('the command', () => {
  it('exits with 2 if something needs attention, for people and as JSON', async () => {
    const env = { PORT: port, TOLLGATE_DATA_DIR: folder, TOLLGATE_WROKERS: '2' }
    const { code, stdout, stderr } = await builtTollgate(['doctor'], env)
    expect([code, stderr]).toEqual([2, ''])
    expect(stdout).toMatch(/^! Settings +TOLLGATE_WROKERS is not/m)
    expect(stdout).toMatch(/^ +→ Correct the name, or unset the variable\.$/m)
    expect(stdout).toMatch(/\n0 problems, [1-9] warnings?\.\n$/)
    const report = await builtTollgate(['doctor', '--json'], env)
    expect(report.code).toBe(2)
    expect(JSON.parse(report.stdout)).toMatchObject({
      ok: false,
      problems: 0,
      warnings: expect.any(Number),
      checks: expect.arrayContaining([
        { check: 'Settings', status: 'warning', message: expect.any(String), fix: expect.any(String) },
      ]),
    })
  })
})
