import { execFile } from 'node:child_process'
import { chown, realpath, rm, writeFile } from 'node:fs/promises'
import { totalmem } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { StartError } from '../domain/errors.ts'
import {
  AccessError,
  ADMIN,
  DATABASE,
  draftPasswords,
  furnishAccess,
  keepDraft,
  type Passwords,
  readPasswords,
  replaceLostPasswords,
  SERVICE,
} from './access.ts'
import type { Account } from './account.ts'
import {
  type Binaries,
  clearLeftovers,
  clusterOf,
  createAtomically,
  type Log,
  locateBinaries,
  locateCluster,
  port,
  socketFolder,
} from './folders.ts'
import { isPostmaster, readPostmasterFile } from './postmaster.ts'
import {
  Busy,
  clearTheWay,
  endSessionsLeft,
  endSlowShutdown,
  environment,
  holdLock,
  type Instance,
  launch,
  type Running,
  terminate,
} from './process.ts'
import { forgetServerUrl } from './server-url.ts'

/** Connection settings for `pg`: a unix socket directory as host. */
export interface SocketConnection {
  host: string
  port: number
  user: string
  password: string
  database: string
}

export interface EmbeddedPostgres {
  /** for the service: a role that owns the database and is no superuser */
  readonly connection: SocketConnection
  /** for administration: the superuser */
  readonly admin: SocketConnection
  /** The postmaster now running; changes after a restart. */
  readonly pid: number
  /** Ends the sessions and stops PostgreSQL; may be called again. */
  stop(): Promise<void>
}

const patience = 60_000
const retryDelay = 200
const slowRetryDelay = 10_000

/**
 * Runs the server's own PostgreSQL on `dataDir` and keeps it running until `stop`.
 *
 * One server owns the folder at a time: it holds an advisory lock for as long as it lives, on a connection
 * that breaks when it dies. PostgreSQL itself outlives a killed server; the next one finds it without an
 * owner, stops it and starts its own.
 */
export async function startEmbeddedPostgres(options: {
  dataDir: string
  log: Log
  /** the account under which root starts it; null: chosen automatically */
  osUser?: string | null
}): Promise<EmbeddedPostgres> {
  const { dataDir, log, osUser = null } = options
  if (process.platform === 'win32')
    throw new StartError(
      'The built-in PostgreSQL does not run on Windows. Set DATABASE_URL to your own PostgreSQL.',
    )

  const controller = new AbortController()
  const { signal } = controller
  try {
    const instance = await prepare(dataDir, osUser, log)
    const state: State = { running: await startFirst(instance, log, signal) }
    const supervisor = supervise(instance, state, log, signal)
    const passwords = await passwordsOf(instance.dataDir)
    const at = { host: instance.socketDir, port, database: DATABASE }
    return {
      connection: { ...at, user: SERVICE, password: passwords.service },
      admin: { ...at, user: ADMIN, password: passwords.admin },
      get pid() {
        return state.running.child.pid ?? 0
      },
      stop() {
        controller.abort()
        return supervisor
      },
    }
  } catch (error) {
    if (error instanceof StartError) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new StartError(
      `The built-in PostgreSQL could not start in ${dataDir} (${reason}). Set TOLLGATE_DATA_DIR to another folder, or set DATABASE_URL to your own PostgreSQL.`,
      { cause: error },
    )
  }
}

interface State {
  running: Running
}

async function prepare(dataDir: string, osUser: string | null, log: Log): Promise<Instance> {
  const { cluster, account } = await locateCluster(dataDir, log, { osUser })
  const binaries = await locateBinaries(account)
  await createCluster(dataDir, cluster, account, binaries)
  return { dataDir, cluster, account, binaries, socketDir: await socketFolder(cluster, account) }
}

async function passwordsOf(dataDir: string): Promise<Passwords> {
  const passwords = await readPasswords(dataDir)
  if (!passwords) throw new Error(`the PostgreSQL passwords are missing from ${dataDir}`)
  return passwords
}

/** A superuser connection to the PostgreSQL of this data folder; undefined where none runs. */
export async function connectionToRunning(dataDir: string): Promise<SocketConnection | undefined> {
  const cluster = await clusterOf(await realpath(dataDir))
  const file = await readPostmasterFile(cluster)
  if (!file || !(await isPostmaster(file.pid, cluster))) return undefined
  const { admin } = await passwordsOf(dataDir)
  return { host: file.socketDir, port, user: ADMIN, password: admin, database: DATABASE }
}

/** An eighth of the memory, within bounds. Other reads go through the system's cache. */
function sharedBuffersMb(): number {
  return Math.min(1024, Math.max(128, Math.floor(totalmem() / 8 / 1024 / 1024)))
}

async function createCluster(
  dataDir: string,
  cluster: string,
  account: Account,
  binaries: Binaries,
): Promise<void> {
  let made = false
  await createAtomically(cluster, 'PG_VERSION', async (temp) => {
    if (account) await chown(temp, account.uid, account.gid)
    const passwords = (await readPasswords(dataDir)) ?? (await draftPasswords(dataDir))
    // A name that is cleaned up with the other leftovers if this process is killed.
    const passwordFile = `${temp}.password`
    await writeFile(passwordFile, passwords.admin, { mode: 0o600 })
    if (account) await chown(passwordFile, account.uid, account.gid)
    // The builtin locale sorts and folds the same on every platform and C library.
    const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
    const access = [
      `--username=${ADMIN}`,
      `--pwfile=${passwordFile}`,
      '--auth-local=scram-sha-256',
      '--auth-host=reject',
    ]
    const settings = [
      '--set=max_connections=100',
      `--set=shared_buffers=${sharedBuffersMb()}MB`,
      // After a checkpoint the first change of a page writes all of it to the WAL: fewer checkpoints, fewer pages.
      '--set=checkpoint_timeout=15min',
      '--set=max_wal_size=2GB',
    ]
    const args = ['-D', temp, ...locale, ...access, ...settings, '--no-instructions']
    await promisify(execFile)(binaries.initdb, args, { cwd: '/', env: environment, ...account }).finally(() =>
      rm(passwordFile, { force: true }),
    )
    made = true
  }).catch((error: Error & { stderr?: string }) => {
    const reason =
      (error.stderr || error.message).split('\n').find((line) => line.trim()) ?? 'no reason given'
    throw new StartError(
      `PostgreSQL could not initialize its files in ${cluster} (${reason.trim()}). Fix the problem, set TOLLGATE_DATA_DIR to another folder, or set DATABASE_URL to your own PostgreSQL.`,
    )
  })
  if (made) await keepDraft(dataDir)
}

async function startFirst(instance: Instance, log: Log, signal: AbortSignal): Promise<Running> {
  const tooLong = AbortSignal.timeout(patience)
  for (let attempt = 1; ; attempt++) {
    try {
      await clearTheWay(instance, { asOwner: false, log, signal })
      await secure(instance, log)
      const running = await launch(instance, log, signal)
      await furnish(instance, running)
      return running
    } catch (error) {
      if (!(error instanceof Busy) || tooLong.aborted) throw error
      await endLateSessions(instance, error, attempt, log)
      await sleep(retryDelay)
    }
  }
}

/** The sessions have had a second to exit by themselves. */
async function endLateSessions(instance: Instance, error: unknown, attempt: number, log: Log): Promise<void> {
  if (error instanceof Busy && error.bySessions && attempt % 5 === 0) await endSessionsLeft(instance, log)
}

async function secure(instance: Instance, log: Log): Promise<void> {
  try {
    if (await replaceLostPasswords(instance)) log('PostgreSQL has new passwords; they are in the data folder')
  } catch (error) {
    if (!(error instanceof AccessError)) throw error
    if (/lock file|shared memory block/.test(error.message)) throw new Busy(error.message)
    throw new StartError(
      `The PostgreSQL passwords in ${instance.cluster} could not be set (${error.message}). Fix the problem, set TOLLGATE_DATA_DIR to another folder, or set DATABASE_URL to your own PostgreSQL.`,
    )
  }
}

async function furnish(instance: Instance, { child, exited, lock }: Running): Promise<void> {
  try {
    await furnishAccess(lock.client, await passwordsOf(instance.dataDir))
    await clearLeftovers(instance.cluster)
  } catch (error) {
    await terminate(child, exited)
    throw error
  }
}

async function supervise(instance: Instance, state: State, log: Log, signal: AbortSignal): Promise<void> {
  const stopped = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
  const check = setInterval(() => endSlowShutdown(state.running, instance).catch(() => {}), 1_000)
  while (!signal.aborted) {
    await Promise.race([state.running.exited, state.running.lock.lost, stopped])
    if (signal.aborted) break
    await recover(instance, state, log, signal).catch(async (error) => {
      if (signal.aborted) return
      log('PostgreSQL supervision failed', { reason: String(error) }, 'error')
      await sleep(retryDelay)
    })
  }
  clearInterval(check)
  await forgetServerUrl(instance.dataDir)
  await terminate(state.running.child, state.running.exited)
  await state.running.lock.client.end().catch(() => {})
  if (instance.socketDir !== instance.cluster) await rm(instance.socketDir, { recursive: true, force: true })
}

async function recover(instance: Instance, state: State, log: Log, signal: AbortSignal): Promise<void> {
  const { child } = state.running
  // A crashed session makes PostgreSQL drop all of them, and the lock with them, without exiting itself.
  const lock = await holdLock(child, instance, signal)
  if (lock) {
    state.running.lock = lock
    return
  }
  const { exitCode: code, signalCode } = child
  log('PostgreSQL stopped unexpectedly; restarting it', { code, signal: signalCode }, 'error')
  state.running = await restart(instance, log, signal)
  log('PostgreSQL is running again', { pid: state.running.child.pid }, 'warn')
}

async function restart(instance: Instance, log: Log, signal: AbortSignal): Promise<Running> {
  const tooLong = AbortSignal.timeout(patience)
  for (let attempt = 1; ; attempt++) {
    try {
      // The folder may have been deleted, if it is a temporary one.
      await socketFolder(instance.cluster, instance.account)
      await clearTheWay(instance, { asOwner: true, log, signal })
      return await launch(instance, log, signal)
    } catch (error) {
      signal.throwIfAborted()
      const hopeless = tooLong.aborted
      const reason = error instanceof Error ? error.message : String(error)
      if (hopeless)
        log('PostgreSQL failed to restart; requests fail until it is running', { attempt, reason }, 'error')
      else log('PostgreSQL is not running yet', { attempt, reason }, 'warn')
      await endLateSessions(instance, error, attempt, log)
      await sleep(hopeless ? slowRetryDelay : retryDelay, undefined, { signal })
    }
  }
}
