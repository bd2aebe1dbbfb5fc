import pg from 'pg'
import type { Logger } from 'pino'

/** A pool or one of its connections: what a plain store function takes. */
export type Db = Pick<pg.ClientBase, 'query'> | Pick<pg.Pool, 'query'>
export type Pool = pg.Pool
export type Tx = pg.PoolClient

const TIMESTAMPTZ = 1184
const INT8 = 20

// Times are milliseconds and counts are numbers on our side. Counts are bounded by 2^53-1 in the schema, and
// connections run in UTC, so both conversions are exact.
pg.types.setTypeParser(TIMESTAMPTZ, parseTimestamp)
pg.types.setTypeParser(INT8, Number)

export type Connection =
  | { connectionString: string }
  | { host: string; port: number; user: string; password: string; database: string; ssl: false }

/**
 * For statements that look up a batch of keys: whatever the statistics say (a table that was empty a minute ago,
 * one that has grown tenfold since), the right plan is to walk the indexes, and it is made once.
 */
const KEY_LOOKUPS = [
  'plan_cache_mode=force_generic_plan',
  'enable_seqscan=off',
  'enable_hashjoin=off',
  'enable_mergejoin=off',
  'enable_bitmapscan=off',
  'jit=off',
]

const LOOK_UP_KEYS = KEY_LOOKUPS.map((setting) => `set local ${setting}`).join(';')

/** The same for the rest of a transaction on any connection. */
export async function lookUpKeys(tx: Tx): Promise<void> {
  await tx.query(LOOK_UP_KEYS)
}

interface PoolOptions {
  max: number
  keyLookups?: boolean
}

export function openPool(connection: Connection, { max, keyLookups }: PoolOptions, log: Logger): Pool {
  const settings = ['timezone=UTC', ...(keyLookups ? KEY_LOOKUPS : [])]
  const pool = new pg.Pool({
    ...connection,
    max,
    application_name: 'tollgate',
    options: settings.map((setting) => `-c ${setting}`).join(' '),
    // Also how long a caller waits for a connection while others use them all.
    connectionTimeoutMillis: 30_000,
  })
  // A dropped idle connection raises an error event, which ends the process unless somebody listens.
  pool.on('error', (error) => log.warn({ err: error }, 'idle database connection lost'))
  // One that is in use fails its query too, and is reported there.
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

const SERIALIZATION_FAILURE = '40001'
const DEADLOCK = '40P01'
const UNIQUE_VIOLATION = '23505'

export function violates(error: unknown, constraint: string): boolean {
  return (
    error instanceof pg.DatabaseError && error.code === UNIQUE_VIOLATION && error.constraint === constraint
  )
}

/** Whether PostgreSQL ended a statement, and all that goes with it, for the sake of somebody else's. */
export function endedForAnother(error: unknown): boolean {
  return (
    error instanceof pg.DatabaseError && (error.code === SERIALIZATION_FAILURE || error.code === DEADLOCK)
  )
}

/** Thrown inside a transaction to have all of it run again. */
export class TryAgain extends Error {}

/** Runs `work` in one transaction; all of it is tried again when PostgreSQL had to end it for another's sake. */
export async function transaction<T>(pool: Pool, work: (tx: Tx) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await attemptTransaction(pool, work)
    } catch (error) {
      const passing = endedForAnother(error) || error instanceof TryAgain
      if (!passing || attempt === 5) throw error
    }
  }
}

async function attemptTransaction<T>(pool: Pool, work: (tx: Tx) => Promise<T>): Promise<T> {
  const tx = await pool.connect()
  try {
    await tx.query('begin')
    const result = await work(tx)
    await tx.query('commit')
    tx.release()
    return result
  } catch (error) {
    // A connection that cannot even roll back is of no more use to the pool.
    await tx.query('rollback').then(
      () => tx.release(),
      (broken: Error) => tx.release(broken),
    )
    throw error
  }
}

/** A time as a parameter of type timestamptz. */
export function timestamp(ms: number): string {
  // A batch names one and the same moment again and again.
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
  let ms = 0
  for (let at = 20, worth = 100; at < end && worth >= 1; at++, worth /= 10) ms += digit(at) * worth
  return Date.UTC(100 * two(0) + two(2), two(5) - 1, two(8), two(11), two(14), two(17), ms)
}
