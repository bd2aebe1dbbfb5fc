import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { pino } from 'pino'
import { expect, vi } from 'vitest'
import {
  CONNECT_TIMEOUT_MS,
  CONNECTION_WAIT_MS,
  IDLE_IN_TRANSACTION_MS,
  LOCK_TIMEOUT_MS,
  LONG_STATEMENT_TIMEOUT_MS,
  MAX_TRANSACTION_ATTEMPTS,
  READY_TIMEOUT_MS,
  STATEMENT_TIMEOUT_MS,
} from '../../src/domain/limits.ts'
import type { Service } from '../../src/operations/call/service.ts'
import { ReadyCheck } from '../../src/operations/upkeep/ready.ts'
import {
  openPool,
  type Pool,
  type PoolOptions,
  TryAgain,
  type Tx,
  transaction,
} from '../../src/store/connection/database.ts'
import { isOutage } from '../../src/store/connection/outage.ts'
import { directly } from '../harness/database.ts'
import type { Bound, World } from './bound.ts'

const IDLE = 'idle_in_transaction_session_timeout'

export const databaseBounds: Bound[] = [
  setting('STATEMENT_TIMEOUT_MS', STATEMENT_TIMEOUT_MS, 'statement_timeout', {}, (tx) =>
    tx.query('select pg_sleep(60)'),
  ),
  setting(
    'LONG_STATEMENT_TIMEOUT_MS',
    LONG_STATEMENT_TIMEOUT_MS,
    'statement_timeout',
    { statementMs: LONG_STATEMENT_TIMEOUT_MS },
    (tx) => tx.query('select pg_sleep(60)'),
  ),
  setting('LOCK_TIMEOUT_MS', LOCK_TIMEOUT_MS, 'lock_timeout', {}, async (tx, other) => {
    await other.query('select pg_advisory_lock(1)')
    await tx.query('select pg_advisory_lock(1)')
  }),
  setting('IDLE_IN_TRANSACTION_MS', IDLE_IN_TRANSACTION_MS, IDLE, {}, async (tx) => {
    await tx.query('begin')
    await once(tx, 'error')
    await tx.query('commit')
  }),
  {
    limit: 'CONNECT_TIMEOUT_MS',
    what: 'how long a server may take to accept a connection',
    works: async () => expect(await connectedAfter(CONNECT_TIMEOUT_MS - 1)).toBe('waits'),
    refused: async () => expect(await connectedAfter(CONNECT_TIMEOUT_MS)).toMatch(/timeout/),
  },
  {
    limit: 'CONNECTION_WAIT_MS',
    what: 'how long a call waits for a connection that others use',
    works: async (world) => expect(await freeAfter(world, CONNECTION_WAIT_MS - 1)).toBe('free'),
    refused: async (world) => expect(await freeAfter(world, CONNECTION_WAIT_MS)).toMatch(/timeout/),
  },
  {
    limit: 'MAX_TRANSACTION_ATTEMPTS',
    what: 'how often a transaction that lost to others is tried',
    works: async (world) => expect(await lostTo(world, MAX_TRANSACTION_ATTEMPTS - 1)).toBe('done'),
    refused: async (world) => expect(await lostTo(world, MAX_TRANSACTION_ATTEMPTS)).toBe('UNAVAILABLE'),
  },
  {
    limit: 'READY_TIMEOUT_MS',
    what: 'how long the database may take to show that it is ready',
    works: async () => expect(await readyAfter(READY_TIMEOUT_MS - 1)).toBe(true),
    refused: async () => expect(await readyAfter(READY_TIMEOUT_MS)).toBe(false),
  },
]

/** Connections run with the bound; what it does is tried with a shorter one. */
function setting(
  limit: Bound['limit'],
  ms: number,
  name: string,
  options: Partial<PoolOptions>,
  tooLong: (tx: Tx, other: Tx) => Promise<unknown>,
): Bound {
  return {
    limit,
    what: `the ${name} of connections`,
    works: (world) =>
      withPool(world, { max: 1, ...options }, async (pool) => {
        const { rows } = await pool.query(
          'select extract(epoch from current_setting($1)::interval)::int * 1000 as ms',
          [name],
        )
        expect(rows).toEqual([{ ms }])
      }),
    refused: (world) =>
      withPool(world, { max: 2, ...options }, async (pool) => {
        const [tx, other] = [await pool.connect(), await pool.connect()]
        await tx.query('select set_config($1, $2, false)', [name, '50'])
        const error = await tooLong(tx, other).catch((error: unknown) => error)
        tx.release(true)
        other.release(true)
        expect(isOutage(error)).toBe(true)
      }),
  }
}

async function withPool<T>(
  { databaseUrl }: World,
  options: PoolOptions,
  use: (pool: Pool) => Promise<T>,
): Promise<T> {
  const pool = openPool({ connectionString: directly(databaseUrl) }, options, pino({ level: 'silent' }))
  try {
    return await use(pool)
  } finally {
    await pool.end()
  }
}

/** What is said after that long by a pool whose server takes the connection and never says a word. */
async function connectedAfter(ms: number): Promise<string> {
  const silent = createServer(() => {}).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const pool = openPool(
      { host: '127.0.0.1', port, user: 'nobody', password: '', database: 'none', ssl: false },
      { max: 1 },
      pino({ level: 'silent' }),
    )
    const told = pool.connect().then(
      () => 'connected',
      (error: Error) => error.message,
    )
    await once(silent, 'connection')
    vi.advanceTimersByTime(ms)
    const said = await Promise.race([told, turns('waits')])
    vi.runAllTimers()
    await told
    return said
  } finally {
    vi.useRealTimers()
    silent.close()
  }
}

/** What a call is told that waits for the only connection, which is free after that long. */
function freeAfter(world: World, ms: number): Promise<string> {
  return withPool(world, { max: 1 }, async (pool) => {
    const first = await pool.connect()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const second = pool.connect().then(
        (tx) => {
          tx.release()
          return 'free'
        },
        (error: Error) => error.message,
      )
      vi.advanceTimersByTime(ms)
      first.release()
      return await second
    } finally {
      vi.useRealTimers()
    }
  })
}

/** What becomes of a transaction that loses so often before it could succeed. */
function lostTo(world: World, times: number): Promise<string> {
  let lost = 0
  return withPool(world, { max: 1 }, (pool) =>
    transaction(pool, async () => {
      if (lost++ < times) throw new TryAgain()
      return 'done'
    }).catch((error) => error.code),
  )
}

/** Whether a database that takes so long to answer counts as ready. */
async function readyAfter(ms: number): Promise<boolean> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const slow = { query: () => new Promise((resolve) => setTimeout(resolve, ms)) }
    const idle = { oldestSeconds: () => 0 }
    const service = { pool: slow, lookups: slow, usage: idle } as unknown as Service
    const looking = new ReadyCheck(service).look()
    await vi.advanceTimersByTimeAsync(ms)
    await vi.advanceTimersByTimeAsync(1)
    return (await looking).ready
  } finally {
    vi.useRealTimers()
  }
}

/** After whatever has happened by now had its turns of the event loop. */
async function turns<T>(value: T): Promise<T> {
  for (let i = 0; i < 20; i++) await new Promise(setImmediate)
  return value
}
