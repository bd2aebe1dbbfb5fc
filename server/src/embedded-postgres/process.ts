import { type ChildProcess, spawn } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { StartError } from '../domain/errors.ts'
import { ADMIN, readPasswords } from './access.ts'
import type { Account } from './account.ts'
import { type Binaries, type Log, port } from './folders.ts'
import { failureIn, keepLastLines } from './output.ts'
import { isPostmaster, type PostmasterFile, readPostmasterFile, sessionsLeftIn } from './postmaster.ts'
import { readServerUrl } from './server-url.ts'

export interface Instance {
  readonly dataDir: string
  readonly cluster: string
  readonly socketDir: string
  readonly account: Account
  readonly binaries: Binaries
}

export interface Running {
  readonly child: ChildProcess
  readonly exited: Promise<void>
  lock: Lock
}

/** The connection that holds the owner's lock, and the moment it is lost. */
interface Lock {
  readonly client: Client
  readonly lost: Promise<void>
}

/** A transient failure: another process is still releasing the cluster, or acquiring it. */
export class Busy extends Error {
  /** Sessions of a killed postmaster still run and keep its memory in use. */
  get bySessions(): boolean {
    return /shared memory block/.test(this.message)
  }
}

const pollInterval = 20
/** How long a server that has just started (or restarted) PostgreSQL has to take the owner's lock. */
const steadyTime = 500
const unansweredLimit = 60_000
const stopPatience = 10_000

// None of the server's environment: it may contain secrets, or PG* variables that would affect PostgreSQL.
export const environment = { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }

function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

async function connect(
  { dataDir }: Instance,
  socketDir: string,
  role: 'owner' | 'starter',
): Promise<Lock | undefined> {
  // Read each time: another starter may have set them in the meantime.
  const passwords = await readPasswords(dataDir)
  const client = new Client({
    host: socketDir,
    port,
    user: ADMIN,
    password: passwords?.admin,
    // Advisory locks are per database, and the application never uses this one.
    database: 'postgres',
    ssl: false,
    application_name: `tollgate ${role} ${process.pid}`,
    connectionTimeoutMillis: 5_000,
  })
  const lost = new Promise<void>((resolve) => {
    client.once('end', resolve)
    client.on('error', () => resolve())
  })
  return client.connect().then(
    () => ({ client, lost }),
    () => undefined,
  )
}

const tryLock = ({ client }: Lock): Promise<boolean> =>
  client.query<{ locked: boolean }>('select pg_try_advisory_lock(1) as locked').then(
    ({ rows }) => rows[0]?.locked === true,
    () => false,
  )

/** The server that owns the PostgreSQL behind this socket, if it answers. A starter about to stop it does not count. */
async function askOwner(
  instance: Instance,
  socketDir: string,
): Promise<{ owner: string | undefined } | undefined> {
  const connection = socketDir ? await connect(instance, socketDir, 'starter') : undefined
  if (!connection) return undefined
  const result = connection.client.query<{ owner: string }>(
    `select split_part(application_name, ' ', 3) as owner from pg_stat_activity join pg_locks using (pid)
     where locktype = 'advisory' and granted and application_name like 'tollgate owner %'
       and database = (select oid from pg_database where datname = current_database())`,
  )
  try {
    return { owner: (await result).rows[0]?.owner }
  } catch {
    return undefined
  } finally {
    await connection.client.end().catch(() => {})
  }
}

/**
 * Returns when no PostgreSQL runs on the cluster; stops one whose server was killed. One with a live server is never
 * touched: that server holds the lock, or will within the settling time.
 */
export async function clearTheWay(
  instance: Instance,
  options: { asOwner: boolean; log: Log; signal: AbortSignal },
): Promise<void> {
  const { cluster, dataDir } = instance
  const tooLong = AbortSignal.timeout(unansweredLimit)
  let seen = ''
  let steady = AbortSignal.timeout(steadyTime)
  for (;;) {
    options.signal.throwIfAborted()
    const file = await readPostmasterFile(cluster)
    if (!file) return
    const answer = await askOwner(instance, file.socketDir)
    const alive = await isPostmaster(file.pid, cluster)
    if (answer?.owner) {
      const url = await readServerUrl(dataDir)
      throw new StartError(
        `Another Tollgate server (process ${answer.owner})${url === null ? '' : ` at ${url}`} is using the data folder ${dataDir}. Stop it first, or set TOLLGATE_DATA_DIR to another folder.`,
      )
    }

    const sight = `${file.pid} ${alive} ${answer !== undefined}`
    if (sight !== seen) [seen, steady] = [sight, AbortSignal.timeout(steadyTime)]
    if (answer && alive) {
      if (steady.aborted && (await stopOrphan(file, instance, options.log))) return
    } else if (!answer && !alive) {
      // PostgreSQL itself overrides the file of a dead process, but not one whose id another process has now.
      const blocks = Number.isNaN(file.pid) || exists(file.pid)
      if (steady.aborted && blocks) await removeLockFiles(file, cluster)
      if (steady.aborted || (options.asOwner && !blocks)) return
    }
    if (tooLong.aborted)
      throw new StartError(
        `PostgreSQL (process ${file.pid}) is running on ${cluster} but cannot be controlled. Stop that process, or set TOLLGATE_DATA_DIR to another folder.`,
      )
    await sleep(pollInterval)
  }
}

async function removeLockFiles({ pid, socketDir }: PostmasterFile, cluster: string): Promise<void> {
  // Another starter may have done this in the meantime, and have its own PostgreSQL there.
  const now = await readPostmasterFile(cluster)
  if (!now || !Object.is(now.pid, pid)) return
  if (socketDir) await rm(join(socketDir, `.s.PGSQL.${port}.lock`), { force: true })
  await rm(join(cluster, 'postmaster.pid'), { force: true })
}

/** Holding the lock while it stops keeps other starters from doing the same. */
async function stopOrphan(file: PostmasterFile, instance: Instance, log: Log): Promise<boolean> {
  const { pid, socketDir } = file
  const { cluster } = instance
  const lock = await connect(instance, socketDir, 'starter')
  if (!lock) return false
  try {
    if (!(await tryLock(lock))) return false
    log('Stopping the PostgreSQL left running by a killed server', { pid })
    for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
      if (exists(pid)) process.kill(pid, signal)
      const tooLong = AbortSignal.timeout(stopPatience)
      while (!tooLong.aborted) {
        if (!(await isPostmaster(pid, cluster))) return true
        await sleep(pollInterval)
      }
    }
    return false
  } finally {
    await lock.client.end().catch(() => {})
  }
}

/**
 * Ends the sessions that a killed postmaster left behind. An idle session exits by itself; one running a statement
 * would keep PostgreSQL from starting until it is done. Its work is rolled back, as after any crash.
 */
export async function endSessionsLeft({ cluster }: Instance, log: Log): Promise<void> {
  for (const pid of await sessionsLeftIn(cluster)) {
    log('Terminating an orphaned PostgreSQL backend process', { pid }, 'warn')
    try {
      process.kill(pid, 'SIGKILL')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  }
}

const isAlive = (child: ChildProcess) => child.exitCode === null && child.signalCode === null

/** Starts PostgreSQL and returns when it answers and is locked for this process. */
export async function launch(instance: Instance, log: Log, signal: AbortSignal): Promise<Running> {
  const settings = {
    listen_addresses: '',
    // A list of folders, where quotes keep commas and blanks from splitting one.
    unix_socket_directories: `"${instance.socketDir.replaceAll('"', '""')}"`,
    unix_socket_permissions: '0700',
    port,
    logging_collector: 'off',
    log_destination: 'stderr',
    log_line_prefix: '',
    log_min_messages: 'log',
    log_checkpoints: 'off',
  }
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  // A separate session: Ctrl-C in the terminal must end the server first, and PostgreSQL after it.
  const child = spawn(instance.binaries.postgres, ['-D', instance.cluster, ...args], {
    cwd: '/',
    detached: true,
    env: environment,
    stdio: ['ignore', 'ignore', 'pipe'],
    ...instance.account,
  })
  const output = keepLastLines(child.stderr)
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve())
    child.once('error', (error) => {
      output.lines.push(error.message)
      resolve()
    })
  })
  const reminder = setInterval(() => log('PostgreSQL is still starting', { pid: child.pid }), 10_000)
  try {
    const lock = await holdLock(child, instance, signal)
    if (lock) {
      output.forward(log)
      return { child, exited, lock }
    }
    // Backends that outlive a killed postmaster hold the pipe open.
    await Promise.race([output.closed, sleep(200)])
    const reason = failureIn(output.lines) ?? `exited with ${child.signalCode ?? `code ${child.exitCode}`}`
    const stoppedByOthers = child.exitCode === 0 || child.signalCode !== null
    if (stoppedByOthers || /lock file .*(already exists|is empty)|shared memory block/.test(reason))
      throw new Busy(reason)
    throw new StartError(
      `PostgreSQL did not start in ${instance.cluster} (${reason}). Fix the problem, set TOLLGATE_DATA_DIR to another folder, or set DATABASE_URL to your own PostgreSQL.`,
    )
  } catch (error) {
    await terminate(child, exited)
    throw error
  } finally {
    clearInterval(reminder)
  }
}

/** Takes the owner's lock as soon as `child` answers; undefined when it exits before. */
export async function holdLock(
  child: ChildProcess,
  instance: Instance,
  signal: AbortSignal,
): Promise<Lock | undefined> {
  while (isAlive(child)) {
    signal.throwIfAborted()
    const file = await readPostmasterFile(instance.cluster)
    // Another starter's PostgreSQL would answer on the same socket.
    const lock =
      file?.status === 'ready' && file.pid === child.pid
        ? await connect(instance, instance.socketDir, 'owner')
        : undefined
    if (lock) {
      if (await tryLock(lock)) return lock
      // Held by a starter that took this one for an orphan and is about to stop it.
      await lock.client.end().catch(() => {})
    }
    await sleep(pollInterval)
  }
  return undefined
}

/** Fast shutdown: ends the sessions, writes a checkpoint. */
export async function terminate(child: ChildProcess, exited: Promise<void>): Promise<void> {
  if (!isAlive(child)) return
  child.kill('SIGINT')
  const impatience = setTimeout(() => child.kill('SIGQUIT'), stopPatience)
  await exited
  clearTimeout(impatience)
}

/**
 * A plain `kill` makes PostgreSQL refuse new sessions until the last one has ended, and the lock's session never does.
 * This forces a fast shutdown so that it can be restarted.
 */
export async function endSlowShutdown({ child, exited }: Running, { cluster }: Instance): Promise<void> {
  const file = await readPostmasterFile(cluster)
  if (file?.status === 'stopping' && file.pid === child.pid) await terminate(child, exited)
}
