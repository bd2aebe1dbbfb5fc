import { execFile } from 'node:child_process'
import { chown, rm } from 'node:fs/promises'
import { totalmem } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Client } from 'pg'
import { StartError } from '../domain/errors.ts'
import {
  type Account,
  type Binaries,
  clearLeftovers,
  type Log,
  locateBinaries,
  placeCluster,
  port,
  putInPlace,
  socketFolder,
} from './embedded-postgres-places.ts'
import {
  Busy,
  clearTheWay,
  endSlowShutdown,
  environment,
  holdLock,
  launch,
  type Place,
  type Running,
  terminate,
  user,
} from './embedded-postgres-process.ts'

export interface EmbeddedPostgres {
  /** Connection settings for `pg`: a unix socket directory as host. */
  readonly connection: { host: string; port: number; user: string; database: string }
  /** The postmaster now running; changes after a restart. */
  readonly pid: number
  /** Ends the sessions and stops PostgreSQL; may be called again. */
  stop(): Promise<void>
}

const database = 'tollgate'
const patience = 60_000
const retryDelay = 200
const slowRetryDelay = 10_000

/**
 * Runs a PostgreSQL of the server's own on `dataDir` and keeps it running until `stop`.
 *
 * One server owns the folder at a time: it holds an advisory lock for as long as it lives, on a connection
 * that breaks when it dies. PostgreSQL itself outlives a killed server; the next one finds it without an
 * owner, stops it and starts its own.
 */
export async function startEmbeddedPostgres(options: {
  dataDir: string
  log: Log
}): Promise<EmbeddedPostgres> {
  const { dataDir, log } = options
  if (process.platform === 'win32')
    throw new StartError(
      'The built-in PostgreSQL does not run on Windows: set DATABASE_URL to a PostgreSQL of your own.',
    )

  const controller = new AbortController()
  const { signal } = controller
  try {
    const place = await prepare(dataDir, log)
    const state: State = { running: await startFirst(place, log, signal) }
    const supervisor = supervise(place, state, log, signal)
    return {
      connection: { host: place.socketDir, port, user, database },
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
      `The built-in PostgreSQL could not start in ${dataDir} (${reason}): set TOLLGATE_DATA_DIR to another folder, or DATABASE_URL to a PostgreSQL of your own.`,
      { cause: error },
    )
  }
}

interface State {
  running: Running
}

async function prepare(dataDir: string, log: Log): Promise<Place> {
  const { cluster, account } = await placeCluster(dataDir, log)
  const binaries = await locateBinaries(account)
  await createCluster(cluster, account, binaries)
  return { dataDir, cluster, account, binaries, socketDir: await socketFolder(cluster, account) }
}

/** An eighth of the memory, within reason: what it does not hold is read from the system's cache at some cost. */
function sharedBuffersMb(): number {
  return Math.min(1024, Math.max(128, Math.floor(totalmem() / 8 / 1024 / 1024)))
}

async function createCluster(cluster: string, account: Account, binaries: Binaries): Promise<void> {
  await putInPlace(cluster, 'PG_VERSION', async (temp) => {
    if (account) await chown(temp, account.uid, account.gid)
    // The builtin locale sorts and folds the same on every platform and C library.
    const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
    const access = [`--username=${user}`, '--auth-local=trust', '--auth-host=reject']
    const settings = [
      '--set=max_connections=100',
      `--set=shared_buffers=${sharedBuffersMb()}MB`,
      // A page is written to the log whole when it is first touched after a checkpoint: fewer of them, fewer pages.
      '--set=checkpoint_timeout=15min',
      '--set=max_wal_size=2GB',
    ]
    const args = ['-D', temp, ...locale, ...access, ...settings, '--no-instructions']
    await promisify(execFile)(binaries.initdb, args, { cwd: '/', env: environment, ...account })
  }).catch((error: Error & { stderr?: string }) => {
    const reason =
      (error.stderr || error.message).split('\n').find((line) => line.trim()) ?? 'no reason given'
    throw new StartError(
      `PostgreSQL could not set up its files in ${cluster} (${reason.trim()}): mend that, or set TOLLGATE_DATA_DIR to another folder or DATABASE_URL to a PostgreSQL of your own.`,
    )
  })
}

async function startFirst(place: Place, log: Log, signal: AbortSignal): Promise<Running> {
  const began = performance.now()
  for (;;) {
    try {
      await clearTheWay(place, { asOwner: false, log, signal })
      const running = await launch(place, log, signal)
      await furnish(place, running)
      return running
    } catch (error) {
      if (!(error instanceof Busy) || performance.now() - began > patience) throw error
      await sleep(retryDelay)
    }
  }
}

async function furnish(place: Place, { child, exited, lock }: Running): Promise<void> {
  try {
    await createDatabase(lock.client)
    await clearLeftovers(place.cluster)
  } catch (error) {
    await terminate(child, exited)
    throw error
  }
}

async function createDatabase(client: Client): Promise<void> {
  const { rowCount } = await client.query('select from pg_database where datname = $1', [database])
  if (rowCount === 0) await client.query(`create database ${database}`)
}

async function supervise(place: Place, state: State, log: Log, signal: AbortSignal): Promise<void> {
  const stopped = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
  const check = setInterval(() => endSlowShutdown(state.running, place).catch(() => {}), 1_000)
  while (!signal.aborted) {
    await Promise.race([state.running.exited, state.running.lock.lost, stopped])
    if (signal.aborted) break
    await recover(place, state, log, signal).catch(async (error) => {
      if (signal.aborted) return
      log('PostgreSQL could not be looked after', { reason: String(error) })
      await sleep(retryDelay)
    })
  }
  clearInterval(check)
  await terminate(state.running.child, state.running.exited)
  await state.running.lock.client.end().catch(() => {})
  if (place.socketDir !== place.cluster) await rm(place.socketDir, { recursive: true, force: true })
}

async function recover(place: Place, state: State, log: Log, signal: AbortSignal): Promise<void> {
  const { child } = state.running
  // A crashed session makes PostgreSQL drop all of them, and the lock with them, without exiting itself.
  const lock = await holdLock(child, place, signal)
  if (lock) {
    state.running.lock = lock
    return
  }
  log('PostgreSQL stopped unexpectedly: starting it again', {
    code: child.exitCode,
    signal: child.signalCode,
  })
  state.running = await restart(place, log, signal)
  log('PostgreSQL is running again', { pid: state.running.child.pid })
}

async function restart(place: Place, log: Log, signal: AbortSignal): Promise<Running> {
  const began = performance.now()
  for (let attempt = 1; ; attempt++) {
    try {
      // The folder may have been swept away, if it is a temporary one.
      await socketFolder(place.cluster, place.account)
      await clearTheWay(place, { asOwner: true, log, signal })
      return await launch(place, log, signal)
    } catch (error) {
      signal.throwIfAborted()
      const hopeless = performance.now() - began > patience
      const reason = error instanceof Error ? error.message : String(error)
      log(
        hopeless ? 'PostgreSQL does not start: requests fail until it does' : 'PostgreSQL is not back yet',
        {
          attempt,
          reason,
        },
      )
      await sleep(hopeless ? slowRetryDelay : retryDelay, undefined, { signal })
    }
  }
}
