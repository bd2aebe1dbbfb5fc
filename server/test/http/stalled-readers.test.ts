import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { guardConnections } from '../../src/http/open-connections.ts'
import { Metrics } from '../../src/operations/upkeep/metrics.ts'
import { createUsers, publishPackage } from '../harness/catalogue.ts'
import { monotonic } from '../harness/clocks.ts'
import { closing, listening, openSocket, post } from '../harness/raw.ts'
import { seedUsers } from '../harness/seed.ts'
import { startTestServer, type TestServer } from '../harness/server.ts'
import { watchStatements } from '../harness/statements.ts'

// Clients that do not read their answers. Those must not pile up, and the clients are cut off.

const STALLED_MS = 1_000
const REQUESTS = 80
/** Of each answer: what the system itself takes in is then a few of them at most. */
const FEATURES = 100
const METADATA_BYTES = 15_000
const MOST_TAKEN_IN = 12

const servers: Record<string, TestServer> = {}
beforeAll(async () => {
  const first = await startTestServer({
    env: { TOLLGATE_STALLED_READER_MS: String(STALLED_MS), TOLLGATE_PLAIN_HTTP: 'on' },
  })
  servers.on = first
  servers.off = await startTestServer({
    databaseUrl: first.databaseUrl,
    env: { TOLLGATE_STALLED_READER_MS: String(STALLED_MS), TOLLGATE_PLAIN_HTTP: 'off' },
  })
  const metadata = { pad: 'x'.repeat(METADATA_BYTES) }
  for (let i = 0; i < FEATURES; i++) {
    await first.admin.call('createFeature', {
      input: { id: `f${i}`, name: 'F', type: 'BINARY', metadata },
    })
  }
  await createUsers(first.admin, ['ann'])
})
afterAll(async () => {
  await servers.off?.stop()
  await servers.on?.stop()
})

const BIG = post(JSON.stringify({ query: '{ features { metadata } }' }))

async function stalled(url: string): Promise<{ socket: Socket; closed: Promise<void> }> {
  const socket = await openSocket(url)
  socket.setNoDelay(true).pause()
  // A client that does not read is not told that the connection is gone; writing is what tells it.
  const poking = setInterval(() => socket.write('\r\n'), 100)
  const closed = closing(socket)
  void closed.then(() => clearInterval(poking))
  return { socket, closed }
}

/** Requests that this service has answered, as it tells itself. */
async function answeredBy({ url }: TestServer): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(/^tollgate_requests_total\{endpoint="admin",outcome="ok"\} (\d+)/m.exec(text)?.[1] ?? 0)
}

describe.each(['on', 'off'])('gap: a client that does not read (short path %s)', (plain) => {
  let server: TestServer
  beforeAll(() => {
    server = servers[plain] as TestServer
  })

  it('gets few of the answers it asked for in one packet, and is cut off; others are served', async () => {
    const before = await answeredBy(server)
    const { socket, closed } = await stalled(server.url)
    socket.write(BIG.repeat(REQUESTS))
    let others = 0
    const serving = (async () => {
      for (; !socket.destroyed; others++) await server.admin.data('{ user(id: "ann") { id } }')
    })()
    await closed
    await serving
    expect(others).toBeGreaterThan(5)
    expect((await answeredBy(server)) - before - others).toBeLessThan(MOST_TAKEN_IN)
  })

  it('gets few of the answers it asked for one after the other, and is cut off', async () => {
    const before = await answeredBy(server)
    const { socket, closed } = await stalled(server.url)
    let sent = 0
    for (; sent < REQUESTS && !socket.destroyed; sent++) {
      socket.write(BIG)
      const answered = vi.waitFor(
        async () => expect((await answeredBy(server)) - before).toBeGreaterThan(sent),
        20_000,
      )
      await Promise.race([answered.catch(() => {}), closed])
    }
    await closed
    expect(sent).toBeLessThan(MOST_TAKEN_IN)
  })

  it('is cut off in the middle of a file', async () => {
    const { socket, closed } = await stalled(server.url)
    const page = await (await fetch(`${server.url}/`)).text()
    const [, script] = /src="(\/assets\/[^"]+\.js)"/.exec(page) ?? []
    socket.write(`GET ${script} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`.repeat(100))
    await closed
  })
})

it('gap: a client that does not read a long list is cut off, and its rows are left unread', async () => {
  const { on: server } = servers as { on: TestServer }
  await publishPackage({ id: 'default', ...server }, 'plan', {})
  await seedUsers(server.databaseUrl, 'default', 8_000, 2_000)
  let chunks = 0
  const stop = watchStatements(({ name }) => {
    if (name === 'list-users') chunks += 1
    return undefined
  })
  const { socket, closed } = await stalled(server.url)
  socket.write(post(JSON.stringify({ query: '{ users { id metadata } }' })))
  await closed
  stop()
  expect(chunks).toBeGreaterThan(0)
  expect(chunks).toBeLessThan(60)
})

it('gap: a client that reads slowly is not cut off', async () => {
  const [bytes, stalledReaderMs] = [24 * 1024 * 1024, 400]
  const server = createServer((_request, response) => response.end(Buffer.alloc(bytes)))
  guardConnections(
    server,
    { maxConnections: 10, stalledReaderMs },
    pino({ level: 'silent' }),
    new Metrics(),
    monotonic,
  )
  const { port } = await listening(server)
  const socket = await openSocket(`http://127.0.0.1:${port}`)
  socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  const started = performance.now()
  let read = 0
  socket.on('data', (chunk) => {
    read += chunk.length
    // Slow enough that the whole takes several times as long as may pass without any of it being read.
    if (performance.now() - started < stalledReaderMs * 4 * (read / bytes)) {
      socket.pause()
      void sleep(10).then(() => socket.resume())
    }
  })
  await once(socket, 'close')
  server.close()
  expect(performance.now() - started).toBeGreaterThan(stalledReaderMs * 2)
  expect(read).toBeGreaterThan(bytes)
})
