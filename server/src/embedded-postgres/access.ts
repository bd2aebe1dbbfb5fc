import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { link, open, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Client } from 'pg'
import type { Account } from './account.ts'
import { type Binaries, port } from './folders.ts'

/** The superuser created by `initdb`: for administration, never for requests. */
export const ADMIN = 'tollgate'
/** The role the service connects as: it owns its database and may do nothing else. */
export const SERVICE = 'tollgate_service'
export const DATABASE = 'tollgate'

export interface Passwords {
  admin: string
  service: string
}

interface Instance {
  dataDir: string
  cluster: string
  account: Account
  binaries: Binaries
}

const isMissing = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT'

const randomPassword = () => randomBytes(24).toString('hex')

// In PGPASSFILE format, so that an operator can use the file with psql.
const asLines = ({ admin, service }: Passwords): string =>
  [
    [ADMIN, admin],
    [SERVICE, service],
  ]
    .map(([role, password]) => `*:${port}:*:${role}:${password}\n`)
    .join('')

const fileOf = (dataDir: string) => join(dataDir, 'pgpass')
const draftOf = (dataDir: string) => join(dataDir, 'pgpass.new')

/** The passwords of a data folder's PostgreSQL; undefined if it has none yet. */
export function readPasswords(dataDir: string): Promise<Passwords | undefined> {
  return readFrom(fileOf(dataDir))
}

async function readFrom(file: string): Promise<Passwords | undefined> {
  const text = await readFile(file, 'utf8').catch((error) => {
    if (isMissing(error)) return undefined
    throw error
  })
  if (text === undefined) return undefined
  const of = (role: string) => text.match(new RegExp(`^[^#\\n]*:${role}:([0-9a-f]+)$`, 'm'))?.[1]
  const [admin, service] = [of(ADMIN), of(SERVICE)]
  if (!admin || !service) throw new Error(`${file} has no password for ${admin ? SERVICE : ADMIN}`)
  return { admin, service }
}

/**
 * Passwords about to be set, the same for all processes that start at once. They are kept in a draft file until
 * PostgreSQL has them: a start killed in between leaves nothing that the next one would trust.
 */
export async function draftPasswords(dataDir: string): Promise<Passwords> {
  const draft = draftOf(dataDir)
  for (;;) {
    const found = await readFrom(draft)
    if (found) return found
    const own = `${draft}-${randomBytes(8).toString('hex')}`
    await writeFile(own, asLines({ admin: randomPassword(), service: randomPassword() }), { mode: 0o600 })
    try {
      await sync(own)
      await link(own, draft)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    } finally {
      await rm(own, { force: true })
    }
  }
}

/** PostgreSQL has them now. */
export async function keepDraft(dataDir: string): Promise<void> {
  await link(draftOf(dataDir), fileOf(dataDir)).catch((error) => {
    if (!isMissing(error) && error.code !== 'EEXIST') throw error
  })
  await sync(dataDir)
  await rm(draftOf(dataDir), { force: true })
}

async function sync(path: string): Promise<void> {
  const handle = await open(path)
  await handle.sync().finally(() => handle.close())
}

/**
 * Sets new passwords if those of a cluster were lost. PostgreSQL must not be running: it is run in single-user mode, where
 * nobody can connect. Every step may be repeated. False: nothing to do.
 */
export async function replaceLostPasswords(instance: Instance): Promise<boolean> {
  const { dataDir } = instance
  // The draft first: once the passwords are in place, no other draft can win.
  const draft = await draftPasswords(dataDir)
  if (await readPasswords(dataDir)) {
    await rm(draftOf(dataDir), { force: true })
    return false
  }
  await setPasswords(instance, draft)
  await keepDraft(dataDir)
  return true
}

/** Thrown with PostgreSQL's message, which never contains a password. */
export class AccessError extends Error {}

async function setPasswords({ cluster, account, binaries }: Instance, passwords: Passwords): Promise<void> {
  // In this mode a line is a statement.
  const statements = [
    `alter role ${ADMIN} login superuser password '${passwords.admin}'`,
    createServiceRole(),
    `alter role ${SERVICE} password '${passwords.service}'`,
  ]
  const settings = [
    'logging_collector=off',
    'log_destination=stderr',
    'log_line_prefix=',
    'log_statement=none',
  ]
  const quiet = ['log_min_error_statement=panic', ...settings].flatMap((setting) => ['-c', setting])
  const child = spawn(binaries.postgres, ['--single', '-D', cluster, ...quiet, 'postgres'], {
    cwd: '/',
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
    stdio: ['pipe', 'ignore', 'pipe'],
    ...account,
  })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString()
  })
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  // A process that exits before reading everything says why on stderr.
  child.stdin.on('error', () => {})
  child.stdin.end(statements.map((statement) => `${statement};\n`).join(''))
  const code = await ended
  const complaint = said.split('\n').find((line) => /^(ERROR|FATAL|PANIC):/.test(line))
  if (complaint || code !== 0) throw new AccessError(complaint ?? `exited with code ${code}`)
}

const createServiceRole = () =>
  `do $$ begin if not exists (select from pg_roles where rolname = '${SERVICE}') then create role ${SERVICE} login; end if; end $$`

/** Creates the service's role and database if missing. */
export async function furnishAccess(admin: Client, passwords: Passwords): Promise<void> {
  const { rows } = await admin.query<{ role: boolean; database: boolean; shut: boolean }>(
    `select exists (select from pg_roles where rolname = $1) as role,
       exists (select from pg_database where datname = $2) as database,
       not has_database_privilege('public', 'postgres', 'connect') as shut`,
    [SERVICE, DATABASE],
  )
  const [found] = rows
  if (!found?.role) await admin.query(`create role ${SERVICE} login password '${passwords.service}'`)
  if (!found?.database) await admin.query(`create database ${DATABASE} owner ${SERVICE}`)
  // The lock on the data folder is taken in this database.
  if (!found?.shut) await admin.query('revoke connect, temporary on database postgres from public')
}
