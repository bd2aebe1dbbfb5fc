import { existsSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { StartError } from '../../src/domain/errors.ts'
import { makeDataFolder } from '../harness/data-folder.ts'
import { createEmptyDatabase, rowsOf } from '../harness/database.ts'
import { freePort } from '../harness/free-port.ts'
import { API_KEY, OWNER, refusedStart } from '../harness/server.ts'
import { BARE, GIVEN, printedBy, starts, works } from '../harness/starts.ts'
import { usedDataFolder } from '../harness/used-data.ts'

const { cleanUp, cleanups, newDatabase, start, startProcess } = starts()
afterEach(cleanUp)

async function expectRefused(env: Record<string, string>, line: RegExp): Promise<void> {
  const error = await start(env).catch((error: unknown) => error)
  expect(error).toBeInstanceOf(StartError)
  expect((error as StartError).message).toMatch(line)
  expect((error as StartError).message).not.toContain('\n')
}

describe('a wrong setting stops the start with one line', () => {
  const WRONG: [Record<string, string>, RegExp][] = [
    [{ PORT: 'http' }, /^PORT must be a number from 0 to 65535; it is "http"/],
    [{ PORT: '65536' }, /^PORT must be a number from 0 to 65535; it is "65536"/],
    [{ PORT: '-1' }, /^PORT must be a number/],
    [{ PORT: '80.5' }, /^PORT must be a number/],
    [{ DATABASE_URL: 'mysql://localhost/tollgate' }, /^DATABASE_URL must start with postgres/],
    [{ DATABASE_URL: 'postgres://localhost:port/x' }, /^The database is unreachable: \w.*Check DATABASE_URL/],
    [
      { DATABASE_URL: 'postgres://127.0.0.1:1/x' },
      /^The database is unreachable: .*ECONNREFUSED.*Check DATABASE_URL/,
    ],
    [
      { DATABASE_URL: 'postgres://localhost:1/x' },
      /^The database is unreachable: .*ECONNREFUSED.*Check DATABASE_URL/,
    ],
    [{ TOLLGATE_DATA_DIR: '/dev/null/data', DATABASE_URL: '' }, /[Ss]et TOLLGATE_DATA_DIR/],
    [
      { TOLLGATE_API_KEY: 'two words' },
      /^TOLLGATE_API_KEY must consist of ASCII characters without whitespace/,
    ],
    [
      { TOLLGATE_API_KEY: 'schlüssel' },
      /^TOLLGATE_API_KEY must consist of ASCII characters without whitespace/,
    ],
    [{ TOLLGATE_API_KEY: 'a' }, /^TOLLGATE_API_KEY must have at least 20 characters/],
    [{ TOLLGATE_API_KEY: 'k'.repeat(19) }, /^TOLLGATE_API_KEY must have at least 20 characters/],
    [{ TOLLGATE_METRICS_TOKEN: 'schlüssel' }, /^TOLLGATE_METRICS_TOKEN must consist of ASCII characters/],
    [{ TOLLGATE_OWNER_EMAIL: '' }, /^Set both TOLLGATE_OWNER_EMAIL and TOLLGATE_OWNER_PASSWORD, or neither/],
    [
      { TOLLGATE_OWNER_PASSWORD: '' },
      /^Set both TOLLGATE_OWNER_EMAIL and TOLLGATE_OWNER_PASSWORD, or neither/,
    ],
    [{ TOLLGATE_PUBLIC_URL: 'tollgate.example.com' }, /^TOLLGATE_PUBLIC_URL must be an http or https URL/],
    [
      { TOLLGATE_PUBLIC_URL: 'ftp://tollgate.example.com' },
      /^TOLLGATE_PUBLIC_URL must be an http or https URL/,
    ],
    [{ STRIPE_WEBHOOK_SECRET: 'whsec_x' }, /^STRIPE_WEBHOOK_SECRET requires STRIPE_SECRET_KEY/],
    [{ STRIPE_SECRET_KEY: 'pk_test_x' }, /^STRIPE_SECRET_KEY must be a secret or restricted key/],
    [{ STRIPE_API_BASE: 'localhost:4242' }, /^STRIPE_API_BASE must be an http or https URL/],
    [{ TOLLGATE_LOG_LEVEL: 'loud' }, /^TOLLGATE_LOG_LEVEL must be one of .*; it is loud/],
    [{ TOLLGATE_LOG_FORMAT: 'xml' }, /^TOLLGATE_LOG_FORMAT must be one of auto, text, json; it is xml/],
    [{ TOLLGATE_WORKERS: '0' }, /^TOLLGATE_WORKERS must be a number from 1 to/],
  ]
  it.each(WRONG)('gap: starting: %j', (env, line) =>
    expectRefused({ ...GIVEN, DATABASE_URL: 'postgres://127.0.0.1:1/never-asked', ...env }, line))

  /** Found out with a database at hand. */
  const WRONG_LATER: [Record<string, string>, RegExp][] = [
    [{ HOST: '203.0.113.1' }, /^Cannot listen on 203\.0\.113\.1:0 .*Check HOST and PORT/],
    [
      { TOLLGATE_OWNER_EMAIL: 'nobody' },
      /^TOLLGATE_OWNER_EMAIL or TOLLGATE_OWNER_PASSWORD: email is not a valid email address/,
    ],
    [
      { TOLLGATE_OWNER_PASSWORD: 'short' },
      /^TOLLGATE_OWNER_EMAIL or TOLLGATE_OWNER_PASSWORD: password must be 10 to 1024 characters long/,
    ],
    [
      { TOLLGATE_OWNER_PASSWORD: 'Password123!' },
      /^TOLLGATE_OWNER_EMAIL or TOLLGATE_OWNER_PASSWORD: password is too easy to guess/,
    ],
  ]
  it.each(WRONG_LATER)('gap: starting: %j', async (env, line) =>
    expectRefused({ ...GIVEN, ...(await newDatabase()), ...env }, line))

  it('gap: starting: the process says so on stderr and ends with 1', async () => {
    expect(await refusedStart({ PORT: 'http' })).toEqual({
      code: 1,
      stdout: '',
      stderr: 'tollgate: PORT must be a number from 0 to 65535; it is "http".\n',
    })
  })

  it('gap: starting: a port that is taken', async () => {
    const taken = createServer()
    await new Promise<void>((listening) => taken.listen(0, '127.0.0.1', listening))
    cleanups.push(() => new Promise((closed) => taken.close(closed)))
    const { port } = taken.address() as AddressInfo
    const { code, stderr } = await refusedStart({ ...(await newDatabase()), PORT: String(port) })
    expect(stderr).toBe(
      `tollgate: Port ${port} on 127.0.0.1 is already in use. Stop the other process, or set PORT.\n`,
    )
    expect(code).toBe(1)
  })
})

describe('a start that fails', () => {
  /** A port that somebody else has. */
  async function takenPort(): Promise<{ port: string; free(): Promise<void> }> {
    const taken = createServer()
    await new Promise<void>((listening) => taken.listen(0, '127.0.0.1', listening))
    const free = () => new Promise<void>((closed) => taken.close(() => closed()))
    cleanups.push(free)
    return { port: String((taken.address() as AddressInfo).port), free }
  }

  it.for([
    {},
    { TOLLGATE_WORKERS: '2' },
  ])('gap: starting: on a taken port creates nothing, and the next start prints key and link: %j', async (env) => {
    const database = await newDatabase(createEmptyDatabase)
    const { port } = await takenPort()
    const failed = await refusedStart({ ...BARE, ...database, ...env, PORT: port })
    expect(failed.stderr).toContain(`Port ${port} on 127.0.0.1 is already in use`)
    const TABLES = `select from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`
    expect(await rowsOf({ connectionString: database.DATABASE_URL }, TABLES)).toEqual([])

    const next = await startProcess({ ...BARE, ...database, ...env })
    const { key = '', token } = printedBy(next)
    expect(await works(next, key)).toBe(true)
    expect(token).toBeTruthy()
  })

  it('gap: starting: an owner that is refused makes no key either', async () => {
    const database = await newDatabase(createEmptyDatabase)
    const env = {
      ...BARE,
      ...database,
      TOLLGATE_OWNER_EMAIL: OWNER.email,
      TOLLGATE_OWNER_PASSWORD: 'password',
    }
    await expectRefused(env, /^TOLLGATE_OWNER_EMAIL or TOLLGATE_OWNER_PASSWORD: password/)
    expect((await start({ ...BARE, ...database })).firstStart.apiKey).toBeTruthy()
  })

  it('gap: starting: on a taken port does not create the embedded database', async () => {
    const { port } = await takenPort()
    const folder = await makeDataFolder()
    cleanups.push(folder.remove)
    const data = join(folder.path, 'data')
    const failed = await refusedStart({ PORT: port, TOLLGATE_DATA_DIR: data, DATABASE_URL: '' })
    expect(failed.stderr).toContain(`Port ${port} on 127.0.0.1 is already in use`)
    expect(existsSync(data)).toBe(false)
  })

  it('gap: starting: a second start on the same port names the URL of the first', async () => {
    const folder = await usedDataFolder()
    cleanups.push(folder.remove)
    const env = { TOLLGATE_DATA_DIR: folder.path, PORT: await freePort() }
    const first = await startProcess(env)
    expect((await refusedStart(env)).stderr).toBe(
      `tollgate: Tollgate is already running at ${first.url} on the data folder ${folder.path}. Stop it first, or set PORT and TOLLGATE_DATA_DIR to start another server.\n`,
    )
    expect(await first.kill('SIGKILL')).toBe(null)
    const next = await startProcess({ ...env, PORT: '0' })
    expect(await works(next, API_KEY)).toBe(true)
  })
})
