import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { pino } from 'pino'
import { expect, vi } from 'vitest'
import {
  DRAIN_MS,
  HEADERS_TIMEOUT_MS,
  IDEMPOTENCY_KEPT_HOURS,
  KEEP_ALIVE_MS,
  MAX_CONNECTIONS,
  MAX_KEPT_DAYS,
  MAX_PIPELINED_REQUESTS,
  MAX_PREPARED_WAIT_MS,
  REQUEST_TIMEOUT_MS,
  SHUTDOWN_GRACE_MS,
  STALLED_READER_MS,
  UPLOAD_TIMEOUT_MS,
} from '../../src/domain/limits.ts'
import { readBody } from '../../src/http/body.ts'
import { closeServer } from '../../src/http/close-server.ts'
import { connectionLimit } from '../../src/http/connection-limit.ts'
import { Turns } from '../../src/http/in-turn.ts'
import { guardConnections, OpenConnections } from '../../src/http/open-connections.ts'
import { takePlainConnections } from '../../src/http/plain-connections.ts'
import { httpServer } from '../../src/http/server.ts'
import type { Service } from '../../src/operations/call/service.ts'
import { addCells } from '../../src/operations/upkeep/cells.ts'
import { Metrics } from '../../src/operations/upkeep/metrics.ts'
import { readConfig } from '../../src/settings/config.ts'
import { CELL_TABLES } from '../../src/store/cells/cells.ts'
import { openPool, type Pool } from '../../src/store/connection/database.ts'
import { awaitCommits } from '../../src/store/connection/distributed-commits.ts'
import type { HomeDb } from '../../src/store/connection/places.ts'
import { pruneReceipts } from '../../src/store/jobs/prune.ts'
import { monotonic } from '../harness/clocks.ts'
import { createPlainDatabase, directly } from '../harness/database.ts'
import { promised } from '../harness/promised.ts'
import type { Bound, World } from './bound.ts'

export const connectionBounds: Bound[] = [
  timeout(
    'HEADERS_TIMEOUT_MS',
    HEADERS_TIMEOUT_MS,
    'headersTimeout',
    'POST /graphql HTTP/1.1\r\nHost: x\r\n',
  ),
  timeout(
    'UPLOAD_TIMEOUT_MS',
    UPLOAD_TIMEOUT_MS,
    'requestTimeout',
    'POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"query":',
  ),
  bodyTimeout('a body that is read', () =>
    createServer((request, response) => {
      response.write('begun')
      readBody(request).then(
        () => response.end(),
        () => response.destroy(),
      )
    }),
  ),
  bodyTimeout('a body that nobody reads', newServer),
  timeout('KEEP_ALIVE_MS', KEEP_ALIVE_MS, 'keepAliveTimeout', 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'),
  {
    limit: 'SHUTDOWN_GRACE_MS',
    what: 'how long an answer may take after the service was told to stop',
    works: async () => expect(await answeredAfter(SHUTDOWN_GRACE_MS - 1)).toContain('200 OK'),
    refused: async () => expect(await answeredAfter(SHUTDOWN_GRACE_MS)).toBe(''),
  },
  {
    limit: 'DRAIN_MS',
    what: 'how long requests are taken after the word to stop',
    works: async () => expect(readConfig({ TOLLGATE_DRAIN_MS: '0' }).http.drainMs).toBe(0),
    refused: async () => expect(readConfig({}).http.drainMs).toBe(DRAIN_MS),
  },
  {
    limit: 'MAX_CONNECTIONS',
    what: 'connections at once',
    works: async () => {
      expect(connectionLimit(null, 1_000_000)).toBe(MAX_CONNECTIONS)
      expect(await isAdmitted({ open: 1, most: 2 })).toBe(true)
    },
    refused: async () => {
      expect(connectionLimit(null, 1_000)).toBeLessThan(1_000)
      expect(await isAdmitted({ open: 2, most: 2 })).toBe(false)
    },
  },
  {
    limit: 'STALLED_READER_MS',
    what: 'how long a client may leave its answer unread',
    works: async () => expect(await isKeptUnread(STALLED_READER_MS - 1)).toBe(true),
    refused: async () => expect(await isKeptUnread(STALLED_READER_MS * 1.2)).toBe(false),
  },
  {
    limit: 'MAX_PIPELINED_REQUESTS',
    what: 'how many requests may be sent ahead',
    works: async () => expect(await isTakenAhead(MAX_PIPELINED_REQUESTS)).toBe(true),
    refused: async () => expect(await isTakenAhead(MAX_PIPELINED_REQUESTS + 1)).toBe(false),
  },
  {
    limit: 'IDEMPOTENCY_KEPT_HOURS',
    what: 'how long a key is remembered',
    works: async (world) => expect(await isKept(world, IDEMPOTENCY_KEPT_HOURS * 3600 - 60)).toBe(true),
    refused: async (world) => expect(await isKept(world, IDEMPOTENCY_KEPT_HOURS * 3600 + 60)).toBe(false),
  },
  {
    limit: 'MAX_KEPT_DAYS',
    what: 'how long records can be told to be kept',
    works: async () => expect(keptAudit(MAX_KEPT_DAYS)).toBe(MAX_KEPT_DAYS * 86_400),
    refused: async () => expect(() => keptAudit(MAX_KEPT_DAYS + 1)).toThrow(/from 1 to 36500 or "forever"/),
  },
  {
    limit: 'MAX_CELLS',
    what: 'cells of an installation',
    works: () => withCells(63, async (pool) => expect(await addCells(pool, 1, () => {})).toBe(64)),
    refused: () =>
      withCells(63, (pool) => expect(addCells(pool, 2, () => {})).rejects.toThrow('at most 64 cells')),
  },
  {
    limit: 'MAX_PREPARED_WAIT_MS',
    what: 'for another server to complete what was committed here',
    works: () => expect(awaitCommits(completingAfter(MAX_PREPARED_WAIT_MS), 'c1')).resolves.toBeUndefined(),
    refused: () =>
      expect(awaitCommits(completingAfter(2 * MAX_PREPARED_WAIT_MS), 'c1')).rejects.toThrow(
        'temporarily unavailable',
      ),
  },
]

/** Another server, on which a transaction is being committed for so long; new ones come all the time. */
function completingAfter(ms: number): Pick<Pool, 'query'> {
  const until = performance.now() + ms - 100
  let others = 0
  const query = async () => {
    const names = [`citus_other_${++others}`, ...(performance.now() < until ? ['citus_one'] : [])]
    return { rows: [{ names }] }
  }
  return { query } as unknown as Pick<Pool, 'query'>
}

/** All but the first two have views in place of tables: real ones take as long as fifty other bounds. */
async function withCells(count: number, work: (pool: Pool) => Promise<void>): Promise<void> {
  await withOwnDatabase(async (pool) => {
    await addCells(pool, 1, () => {})
    const views = CELL_TABLES.map((table) => `create view c%1$s.${table} as select * from c0.${table};`)
    await pool.query(`do $$ begin
      for cell in 2..${count - 1} loop
        execute format('create schema c%1$s; ${views.join(' ')}', cell);
        insert into cell (id, schema) values (cell, 'c' || cell);
      end loop;
    end $$`)
    await work(pool)
  })
}

/** The service runs with the bound; what it does is tried with a shorter one. */
function timeout(
  limit: Bound['limit'],
  ms: number,
  setting: 'headersTimeout' | 'requestTimeout' | 'keepAliveTimeout',
  sent: string,
): Bound {
  return {
    limit,
    what: `the server's ${setting}`,
    works: async () => expect(newServer()[setting]).toBe(ms),
    refused: async () => {
      const server = newServer()
      // The headers never get more time than the whole.
      server.headersTimeout = 100
      server[setting] = 100
      const client = await open(server)
      client.socket.write(sent)
      // Half of the bound itself: what is closed by then was closed by the shorter one.
      const closed = await Promise.race([
        client.closed.then(() => true),
        sleep(ms / 2, false, { ref: false }),
      ])
      client.socket.destroy()
      server.close()
      expect(closed).toBe(true)
    },
  }
}

const log = pino({ level: 'silent' })

// What these requests never reach is not there.
function newServer(): Server {
  const service = { log, metrics: new Metrics(), monotonic } as Service
  const folders = { dashboard: '', docs: () => '' }
  return httpServer(service, () => 'http://localhost', folders, readConfig({}).http).server
}

function bodyTimeout(what: string, start: () => Server): Bound {
  return {
    limit: 'REQUEST_TIMEOUT_MS',
    what: `how long a client may take to send ${what}`,
    works: async () => expect(await isTakenAfter(start(), REQUEST_TIMEOUT_MS - 1)).toBe(true),
    refused: async () => expect(await isTakenAfter(start(), REQUEST_TIMEOUT_MS)).toBe(false),
  }
}

/** Whether a request whose body ends that long after it began is answered to the end. */
async function isTakenAfter(server: Server, ms: number): Promise<boolean> {
  const client = await open(server)
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    client.socket.write(
      'POST /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{',
    )
    await once(client.socket, 'data')
    vi.advanceTimersByTime(ms)
    client.socket.write('}')
    await client.closed
  } finally {
    vi.useRealTimers()
    server.close()
  }
  return client.received().endsWith('\r\n0\r\n\r\n')
}

async function open(server: Server) {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket: Socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  await once(socket, 'connect')
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk.toString()
  })
  socket.on('error', () => {})
  // One that was reset is closed as well, after its error.
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  return { socket, closed, received: () => text }
}

/** What a client receives when its answer comes that long after the server was told to close. */
async function answeredAfter(ms: number): Promise<string> {
  const turns = new Turns()
  const server = createServer(turns.inTurn((request, response) => server.emit('asked', request, response)))
  const plain = takePlainConnections(server, {
    handlers: new Map(),
    closing: () => false,
    broke: () => {},
    headers: '',
    clock: () => 0,
  })
  const rules = { maxConnections: 10, stalledReaderMs: STALLED_READER_MS }
  const connections = guardConnections(server, rules, log, new Metrics(), monotonic)
  const client = await open(server)
  client.socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  const [, response] = (await once(server, 'asked')) as [unknown, ServerResponse]
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
  try {
    const closed = closeServer({ server, plain, turns, connections }, readConfig({}).http.graceMs)
    vi.advanceTimersByTime(ms)
    response.setHeader('Connection', 'close').end('late')
    await closed
    await client.closed
  } finally {
    vi.useRealTimers()
  }
  return client.received()
}

const keptAudit = (days: number) => readConfig({ TOLLGATE_KEEP_AUDIT_DAYS: String(days) }).retention.audit

async function isKept({ databaseUrl, fresh }: World, seconds: number): Promise<boolean> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 })
  const key = fresh()
  try {
    await pool.query(
      `insert into idempotency (app_id, scope, key, request, results, created_at)
       values ('default', 'request', $1, '', '{}', now() - make_interval(secs => $2))`,
      [key, seconds],
    )
    await pruneReceipts(pool as unknown as HomeDb, IDEMPOTENCY_KEPT_HOURS * 3600, 1_000)
    return (await pool.query('select from idempotency where key = $1', [key])).rowCount === 1
  } finally {
    await pool.end()
  }
}

/** Whether a connection is still open when nothing of an answer was read for that long. */
async function isKeptUnread(ms: number): Promise<boolean> {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const { stalledReaderMs } = readConfig({}).http
  const connections = new OpenConnections(
    { stalledReaderMs, maxConnections: 1 },
    log,
    new Metrics(),
    monotonic,
  )
  const server = createServer().removeAllListeners('connection')
  try {
    const accepted = once(server, 'connection')
    const client = await open(server)
    client.socket.pause()
    const [socket] = (await accepted) as [Socket]
    connections.admit(socket)
    socket.write(Buffer.alloc(16 * 1024 * 1024))
    // The system takes in what it has room for.
    for (let left = -1; left !== unsent(socket); await sleep(50)) left = unsent(socket)
    vi.advanceTimersByTime(STALLED_READER_MS / 10)
    vi.advanceTimersByTime(ms)
    const kept = !socket.destroyed
    socket.destroy()
    client.socket.destroy()
    return kept
  } finally {
    connections.stop()
    vi.useRealTimers()
    server.close()
  }
}

/** What the system has not taken in yet; `writableLength` counts a chunk until all of it is gone. */
const unsent = (socket: Socket): number =>
  (socket as { _handle?: { writeQueueSize?: number } })._handle?.writeQueueSize ?? 0

/** Whether so many requests are answered that came while one before them was under way. */
async function isTakenAhead(count: number): Promise<boolean> {
  const { promise: held, fulfil: release } = promised()
  const server = createServer(
    new Turns().inTurn((request, response) => {
      if (request.url === '/first') void held.then(() => response.end())
      else response.end()
    }),
  )
  const client = await open(server)
  const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nHost:x\r\n${headers}\r\n`
  client.socket.write(get('/first'))
  await once(server, 'request')
  client.socket.write(get('/').repeat(count - 1) + get('/', 'Connection: close\r\n'))
  // Those above the bound end the connection while the first one is still under way.
  let taken = 1
  server.on('request', () => {
    taken += 1
    if (taken === Math.min(count, MAX_PIPELINED_REQUESTS) + 1) setImmediate(release)
  })
  await client.closed
  server.close()
  return client.received().split('HTTP/1.1 200').length - 1 === count + 1
}

/** Whether one more connection is taken where so many are open. */
async function isAdmitted({ open: count, most }: { open: number; most: number }): Promise<boolean> {
  const server = createServer((_request, response) => response.end())
  const rules = { maxConnections: most, stalledReaderMs: STALLED_READER_MS }
  guardConnections(server, rules, log, new Metrics(), monotonic)
  const client = await open(server)
  const { port } = server.address() as AddressInfo
  const others = Array.from({ length: count - 1 }, () => connect(port, '127.0.0.1'))
  await Promise.all(others.map((socket) => once(socket, 'connect')))
  const answer = await fetch(`http://127.0.0.1:${port}/`)
  for (const socket of [client.socket, ...others]) socket.destroy()
  server.close()
  server.closeAllConnections()
  return answer.status === 200
}

async function withOwnDatabase(work: (pool: Pool) => Promise<void>): Promise<void> {
  const database = await createPlainDatabase()
  const pool = openPool({ connectionString: directly(database.url) }, { max: 2 }, pino({ level: 'silent' }))
  try {
    await work(pool)
  } finally {
    await pool.end()
    await database.drop()
  }
}
