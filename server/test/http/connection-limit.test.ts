import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { StartError } from '../../src/domain/errors.ts'
import { connectionLimit } from '../../src/http/connection-limit.ts'
import { createDatabase, type TestDatabase } from '../harness/database.ts'
import { PATIENCE_MS } from '../harness/patience.ts'
import { closing, openSocket, post } from '../harness/raw.ts'
import { refusedStart, type ServerProcess, spawnServer } from '../harness/server.ts'

const QUERY = post(JSON.stringify({ query: '{ users { id } }' }))

let database: TestDatabase
const sockets: Socket[] = []
beforeAll(async () => {
  database = await createDatabase()
})
afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  await database?.drop()
})

/** What comes back for one request on a new connection; nothing where it was just closed. */
async function ask(url: string, request: string): Promise<string> {
  const socket = await openSocket(url)
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk.toString()
  })
  const closed = closing(socket)
  socket.write(request)
  await closed
  return text
}

async function open(url: string, count: number): Promise<Socket[]> {
  const opened = await Promise.all(Array.from({ length: count }, () => openSocket(url)))
  for (const socket of opened) socket.resume()
  sockets.push(...opened)
  return opened
}

/** Sends a request on a connection that is open already. */
async function askOn(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    socket.once('data', (chunk) => resolve(chunk.toString()))
    socket.write(QUERY)
  })
}

const cpuTicks = ({ process: { pid } }: ServerProcess): number => {
  const [user = 0, system = 0] = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .split(' ')
    .slice(13, 15)
    .map(Number)
  return user + system
}

describe('gap: too many connections', () => {
  let server: ServerProcess
  beforeAll(async () => {
    server = await spawnServer({ DATABASE_URL: database.url, TOLLGATE_MAX_CONNECTIONS: '20' })
  })
  afterAll(() => server?.kill('SIGTERM'))

  it('are turned away with a word when to come back; those that are there are served', async () => {
    const [first, ...others] = await open(server.url, 20)
    expect(await askOn(first as Socket)).toMatch(/^HTTP\/1\.1 200 OK/)
    const refused = await Promise.all(Array.from({ length: 10 }, () => ask(server.url, QUERY)))
    for (const answer of refused) expect(answer).toMatch(/^HTTP\/1\.1 503 .*\r\nRetry-After: 1\r\n/s)
    expect(await askOn(first as Socket)).toMatch(/^HTTP\/1\.1 200 OK/)
    // However many are refused, it is logged once.
    expect(server.output().match(/too many connections/g)).toHaveLength(1)

    for (const socket of others) socket.destroy()
    await vi.waitFor(async () => expect((await fetch(`${server.url}/healthz`)).status).toBe(200), PATIENCE_MS)
    const metrics = await (await fetch(`${server.url}/metrics`)).text()
    // Early health checks were refused as well.
    expect(metrics).toMatch(/^tollgate_connections_cut_total\{reason="limit"\} [1-9]\d$/m)
    expect(metrics).toMatch(/^tollgate_connections [1-9]$/m)
  })
})

const OPEN_FILES = 512

// Only Linux shows how many files a process has open, and lets the limit of a running one be lowered.
describe.runIf(process.platform === 'linux')('gap: the limit of open files', () => {
  let server: ServerProcess
  let first: Socket
  beforeAll(async () => {
    server = await spawnServer({ DATABASE_URL: database.url }, { openFiles: OPEN_FILES })
    ;[first] = (await open(server.url, 1)) as [Socket]
  })
  afterAll(() => server?.kill('SIGTERM'))

  const openFiles = () => readdirSync(`/proc/${server.process.pid}/fd`).length

  /** Connected clients are served, and the process is not busy with those it refuses. */
  async function expectServiceUnder(connections: number): Promise<Socket[]> {
    const many = await open(server.url, connections)
    for (let i = 0; i < 20; i++) expect(await askOn(first)).toContain('{"data":{"users":')
    const before = cpuTicks(server)
    await sleep(300)
    expect(cpuTicks(server) - before).toBeLessThan(20)
    return many
  }

  async function expectRecovery(many: Socket[]): Promise<void> {
    for (const socket of many) socket.destroy()
    await vi.waitFor(async () => expect((await fetch(`${server.url}/readyz`)).status).toBe(200), PATIENCE_MS)
    expect(await askOn(first)).toContain('{"data":{"users":')
    expect(server.output().length).toBeLessThan(10_000)
    expect(server.output()).not.toMatch(/"level":(50|60)/)
  }

  it('is not reached by connections', async () => {
    const many = await expectServiceUnder(OPEN_FILES + 100)
    expect(openFiles()).toBeLessThan(OPEN_FILES - 20)
    await expectRecovery(many)
  })

  it('once reached, costs new connections and nothing else', async () => {
    await vi.waitFor(() => expect(openFiles()).toBeLessThan(100), PATIENCE_MS)
    execFileSync('prlimit', ['--pid', String(server.process.pid), `--nofile=${openFiles() + 10}`])
    await expectRecovery(await expectServiceUnder(100))
  })

  it('refuses more connections than it leaves room for, in one line', async () => {
    expect(() => connectionLimit(1_000, 1_024)).toThrow(
      new StartError(
        'TOLLGATE_MAX_CONNECTIONS is 1000, but the limit of 1024 open files only allows 928. Raise the limit (ulimit -n), or set a lower value.',
      ),
    )
    const { code, stderr } = await refusedStart({ DATABASE_URL: database.url, TOLLGATE_MAX_CONNECTIONS: '0' })
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'tollgate: TOLLGATE_MAX_CONNECTIONS must be a number from 1 to 1000000; it is "0".\n',
    })
  })
})
