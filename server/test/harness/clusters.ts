import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rm, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { expect } from 'vitest'
import { StartError } from '../../src/domain/errors.ts'
import type { Log } from '../../src/embedded-postgres/folders.ts'
import { isPostmaster } from '../../src/embedded-postgres/postmaster.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/embedded-postgres/start.ts'
import { builtScript } from './scripts.ts'
import { copyUsedData } from './used-data.ts'

type Connection = EmbeddedPostgres['connection']
type Report =
  | { connection: Connection; admin: Connection; pid: number; refused?: never }
  | { refused: string; connection?: never }

const fixture = builtScript('hold-postgres')
export const isRoot = process.getuid?.() === 0
export const nobody = { uid: 65534, gid: 65534 }
/** A clone below a folder of root's own cannot be run by others, whatever the service does. */
export const othersMayRead = isRoot && spawnSync('test', ['-r', fixture], nobody).status === 0

export const cleanups: (() => Promise<unknown>)[] = []

/** To be called after each test. */
export async function cleanUp(): Promise<void> {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
}

/** A folder that every user may enter, with all that a test puts there or has running on it. */
export async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-test-'))
  await chmod(folder, 0o755)
  cleanups.push(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

export async function makeDataDir(...parts: string[]): Promise<string> {
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

/** One in which PostgreSQL has run before: setting up its files takes most of a first start. */
export async function usedDataDir(...parts: string[]): Promise<string> {
  const dataDir = await makeDataDir(...parts)
  await mkdir(dirname(dataDir), { recursive: true })
  await copyUsedData(dataDir)
  return dataDir
}

export function locationOf(dataDir: string): string | undefined {
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

export async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  const began = performance.now()
  while (!(await condition())) {
    if (performance.now() - began > 50_000) throw new Error('waited in vain')
    await sleep(20)
  }
}

export async function start(dataDir: string, log: Log = () => {}) {
  const postgres = await startEmbeddedPostgres({ dataDir, log })
  cleanups.push(() => postgres.stop())
  return postgres
}

/** Runs a server process of its own; `report` is what became of its start. */
export function hold(dataDir: string, options: { uid?: number; gid?: number; env?: NodeJS.ProcessEnv } = {}) {
  const child: ChildProcess = spawn(process.execPath, [fixture, dataDir], {
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

export async function query(connection: Connection, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ ...connection, ssl: false })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

export const answers = (connection: Connection) =>
  query(connection, 'select 1').then(
    () => true,
    () => false,
  )

export const write = (connection: Connection) =>
  query(connection, 'create table kept (value int); insert into kept values (42)')

export const expectKept = async (connection: Connection) =>
  expect(await query(connection, 'select value from kept')).toEqual([{ value: 42 }])

export const ownerIsHeld = async (admin: Connection) =>
  (await query({ ...admin, database: 'postgres' }, "select from pg_locks where locktype = 'advisory'"))
    .length === 1

export async function expectRefusal(dataDir: string, owner?: number): Promise<void> {
  const error = await startEmbeddedPostgres({ dataDir, log: () => {} }).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(StartError)
  expectRefusalLine((error as StartError).message, dataDir, owner)
}

export function expectRefusalLine(line: string | undefined, dataDir: string, owner?: number): void {
  expect(line).toContain('Another Tollgate server')
  expect(line).toContain(dataDir)
  expect(line).not.toContain('\n')
  if (owner !== undefined) expect(line).toContain(`process ${owner})`)
}
