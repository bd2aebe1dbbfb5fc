import pg from 'pg'
import type { Logger } from 'pino'
import { unavailable } from '../../domain/errors.ts'
import {
  CONNECTION_WAIT_MS,
  IDLE_IN_TRANSACTION_MS,
  LOCK_TIMEOUT_MS,
  MAX_TRANSACTION_ATTEMPTS,
  STATEMENT_TIMEOUT_MS,
} from '../../domain/limits.ts'
import {
  ONE_PLACE,
  type PlacesFactory,
  type PoolPlaces,
  type ServerSlot,
  type SessionPlaces,
} from './places.ts'
import type { Primary } from './primary.ts'
import { endedForAnother, lacksPartition, refersToNothing } from './refusals.ts'
import { applySettings, ServiceClient } from './service-client.ts'
import { SilentConnections } from './silent-connections.ts'

export interface Pool extends pg.Pool {
  readonly places: PoolPlaces
  connect(): Promise<Tx>
  connect(callback: Parameters<pg.Pool['connect']>[0]): void
}
export interface Tx extends pg.PoolClient {
  readonly places: SessionPlaces
}

const TIMESTAMPTZ = 1184
const INT8 = 20

// Times are milliseconds and counts are numbers on our side. Counts are bounded by 2^53-1 in the schema, so both
// conversions are exact.
pg.types.setTypeParser(TIMESTAMPTZ, parseTimestamp)
pg.types.setTypeParser(INT8, Number)

export type Connection =
  | { connectionString: string; primary?: Primary }
  | { host: string; port: number; user: string; password: string; database: string; ssl: false }

/**
 * For statements that look up a batch of keys. Index scans are the right plan whatever the statistics say (a table may
 * have been empty a minute ago), and it is planned once.
 */
const KEY_LOOKUPS = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_bitmapscan: 'off',
  jit: 'off',
}

const LOOK_UP_KEYS = Object.entries(KEY_LOOKUPS)
  .map(([name, value]) => `set local ${name} = ${value}`)
  .join(';')

/** The same for the rest of a transaction on any connection. */
export async function lookUpKeys(tx: Tx): Promise<void> {
  await tx.query(LOOK_UP_KEYS)
}

export interface PoolOptions {
  max: number
  keyLookups?: boolean
  /** how long one statement may take; Infinity: no limit */
  statementMs?: number
  /** the part of it that may be spent waiting for a lock */
  lockMs?: number
  /** where the rows of users are */
  places?: PlacesFactory
  /** the schema, if not the usual one */
  searchPath?: string
}

/** A statement about one of several places takes minutes at most. A longer one waits for a server that hangs. */
export const PLACE_STATEMENT_MS = 15 * 60_000

/** Transit time of a response, in addition to that of its statement. */
const ON_THE_WAY_MS = 1_000
/** Time for connections to close by themselves when the service stops. */
const CONNECTION_END_MS = 1_000
/** An idle connection is probed after this time, to detect one dropped by the network. */
const KEEP_ALIVE_PROBE_MS = 10_000

export function openPool(
  connection: Connection,
  {
    max,
    keyLookups,
    statementMs = STATEMENT_TIMEOUT_MS,
    lockMs = LOCK_TIMEOUT_MS,
    places = ONE_PLACE,
    searchPath,
  }: PoolOptions,
  log: Logger,
): Pool {
  const { primary = null } = 'primary' in connection ? connection : {}
  const silent = new SilentConnections(statementMs + ON_THE_WAY_MS, () => void primary?.doubtNow())
  const unlimited = statementMs === Number.POSITIVE_INFINITY
  const settings = {
    statement_timeout: unlimited ? '0' : String(statementMs),
    lock_timeout: unlimited ? '0' : String(Math.min(lockMs, statementMs)),
    idle_in_transaction_session_timeout: unlimited ? '0' : String(IDLE_IN_TRANSACTION_MS),
    ...(keyLookups && KEY_LOOKUPS),
    ...(searchPath !== undefined && { search_path: searchPath }),
  }
  const pool = new (class extends pg.Pool {
    readonly places = places.ofPool(this)
    override end(): Promise<void>
    override end(done: () => void): void
    override end(done?: () => void): Promise<void> | void {
      const ended = silent.end(super.end(), CONNECTION_END_MS)
      return done ? void ended.then(done) : ended
    }
  })({
    ...connection,
    Client: ServiceClient,
    max,
    application_name: 'tollgate',
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_PROBE_MS,
    // Wait for a free connection.
    connectionTimeoutMillis: CONNECTION_WAIT_MS,
    onConnect: async (client) => {
      silent.watch(client)
      Object.assign(client, { places: places.ofSession(client as pg.PoolClient, pool.places) })
      await applySettings(client, settings)
    },
  })
  // Errors of idle connections; one in use fails its query. While the service stops, PostgreSQL may be stopping too.
  pool.on('error', (error) => {
    if (!pool.ending) log.warn({ err: error }, 'an idle database connection was lost')
  })
  return pool as Pool
}

/** Thrown inside a transaction to retry all of it. */
export class TryAgain extends Error {}

/** When the caller of a transaction stops waiting for it. */
type Deadline = { readonly passed: boolean }

/**
 * Runs `work` in one transaction, and retries it if PostgreSQL aborted it in favour of another. Nothing is committed
 * after the deadline, when the caller has received an error.
 */
export async function transaction<T>(
  pool: Pool,
  work: (tx: Tx) => Promise<T>,
  deadline: Deadline | null = null,
): Promise<T> {
  let admission: ServerSlot | null = null
  for (let attempt = 1; ; attempt++) {
    try {
      return await attemptTransaction(pool, work, deadline, admission)
    } catch (error) {
      admission = await pool.places.admission(error)
      const passing =
        admission !== null ||
        endedForAnother(error) ||
        error instanceof TryAgain ||
        (attempt === 1 && refersToNothing(error)) ||
        (attempt === 1 && (await pool.places.refreshed(error)))
      if (!passing) throw error
      if (attempt < MAX_TRANSACTION_ATTEMPTS) continue
      admission?.release()
      throw lacksPartition(error) ? error : unavailable('Too many concurrent changes; retry.')
    }
  }
}

async function attemptTransaction<T>(
  pool: Pool,
  work: (tx: Tx) => Promise<T>,
  deadline: Deadline | null,
  admission: ServerSlot | null,
): Promise<T> {
  const tx = await pool.connect().catch((error: unknown) => {
    admission?.release()
    throw error
  })
  tx.places.begin(true, admission)
  try {
    await tx.query('begin')
    const result = await work(tx)
    if (deadline?.passed) throw unavailable('The request timed out; nothing was changed. Retry.')
    await tx.query('commit')
    tx.places.end()
    tx.release()
    return result
  } catch (error) {
    const broken = await tx.query('rollback').then(
      () => undefined,
      (failure: Error) => failure,
    )
    tx.places.end()
    // A connection that cannot even roll back is useless to the pool.
    tx.release(broken)
    throw error
  }
}

/** The result of `work`. If it fails, its writes are rolled back and `instead` returns a result or throws. */
export async function withSavepoint<T>(
  tx: Tx,
  work: () => Promise<T>,
  instead: (error: unknown) => T,
): Promise<T> {
  await tx.query('savepoint effect')
  try {
    const result = await work()
    // Savepoints may be nested: one left behind would hide the outer one.
    await tx.query('release savepoint effect')
    return result
  } catch (error) {
    const answer = instead(error)
    await tx.query('rollback to savepoint effect; release savepoint effect')
    return answer
  }
}

/** A transaction without retries, for work that cannot be repeated. */
export function transactionOnce<T>(pool: Pool, work: (client: Tx) => Promise<T>): Promise<T> {
  return onOneConnection(pool, 'begin', work, 'commit')
}

/**
 * Runs `work` on one snapshot of the database and rolls back. The snapshot is taken by the first statement that reads:
 * locks may be taken before.
 */
export function atOneMoment<T>(
  pool: Pool,
  access: 'read only' | 'read write',
  work: (client: Tx) => Promise<T>,
): Promise<T> {
  return onOneConnection(
    pool,
    `begin transaction isolation level repeatable read, ${access}`,
    work,
    'rollback',
  )
}

/** The work may fail in the middle of a copy: then its connection is closed, which rolls everything back. */
async function onOneConnection<T>(
  pool: Pool,
  begin: string,
  work: (client: Tx) => Promise<T>,
  end: 'commit' | 'rollback',
): Promise<T> {
  const client = await pool.connect()
  try {
    client.places.begin(false, null)
    await client.query(begin)
    const result = await work(client)
    await client.query(end)
    client.release()
    return result
  } catch (error) {
    client.release(true)
    throw error
  }
}

/** A time as a parameter of type timestamptz. */
export function timestamp(ms: number): string {
  // A batch repeats the same time often.
  if (ms !== lastTimestamp.ms) lastTimestamp = { ms, text: new Date(ms).toISOString() }
  return lastTimestamp.text
}
let lastTimestamp = { ms: 0, text: new Date(0).toISOString() }
export const timestampOrNull = (ms: number | null): string | null => (ms === null ? null : timestamp(ms))

/** `2026-01-31 12:00:00.5+00`, as PostgreSQL writes it in UTC. `Date.parse` takes three times as long. */
export function parseTimestamp(text: string): number {
  const digit = (at: number) => text.charCodeAt(at) - 48
  const two = (at: number) => 10 * digit(at) + digit(at + 1)
  const end = text.length - 3
  if (!text.endsWith('+00') || text[4] !== '-') return parseAnyTimestamp(text)
  let ms = 0
  for (let at = 20, worth = 100; at < end && worth >= 1; at++, worth /= 10) ms += digit(at) * worth
  return Date.UTC(100 * two(0) + two(2), two(5) - 1, two(8), two(11), two(14), two(17), ms)
}

const TIMESTAMP =
  /^(?<local>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?:\.(?<fraction>\d+))?(?<sign>[+-])(?<hours>\d\d)(?::(?<minutes>\d\d))?(?::(?<seconds>\d\d))?$/

/** The same in any time zone of the connection: the offset is explicit. */
function parseAnyTimestamp(text: string): number {
  const parts = TIMESTAMP.exec(text)?.groups
  if (!parts) throw new Error(`PostgreSQL returned a time that is not in ISO format: ${text}`)
  const { local = '', fraction = '', sign, hours = 0, minutes = 0, seconds = 0 } = parts
  const ms = Number(fraction.slice(0, 3).padEnd(3, '0'))
  const offset = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1_000
  return Date.parse(`${local.replace(' ', 'T')}Z`) + ms - (sign === '-' ? -offset : offset)
}
