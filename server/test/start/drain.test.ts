import { once } from 'node:events'
import type { Socket } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createDatabase, rowsOf, type TestDatabase } from '../harness/database.ts'
import { PATIENCE_MS } from '../harness/patience.ts'
import { closing, openSocket, post } from '../harness/raw.ts'
import { type ServerProcess, spawnServer } from '../harness/server.ts'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function start(
  env: Record<string, string>,
): Promise<{ server: ServerProcess; database: TestDatabase }> {
  const database = await createDatabase()
  cleanups.push(database.drop)
  const server = await spawnServer({ DATABASE_URL: database.url, TOLLGATE_LOG_LEVEL: 'error', ...env })
  cleanups.push(() => server.kill('SIGKILL'))
  return { server, database }
}

/** A client that sends one request after the other until it is told not to, or the connection ends. */
class Busy {
  sent = 0
  answered: string[] = []
  toldToGo = false
  readonly errors: string[] = []
  readonly closed: Promise<void>
  readonly #socket: Socket
  readonly #name: string
  readonly #odd: string
  #text = ''

  constructor(socket: Socket, name: string, odd: boolean) {
    this.#socket = socket
    this.#name = name
    // With a header that sends it to node:http.
    this.#odd = odd ? 'x_odd: 1\r\n' : ''
    this.closed = closing(socket)
    socket.on('error', (error: NodeJS.ErrnoException) => this.errors.push(error.code ?? error.message))
    socket.on('data', (chunk) => this.#take(chunk.toString()))
    this.#send()
  }

  #send(): void {
    const id = `${this.#name}-${this.sent++}`
    const query = `mutation { createUser(input: { id: "${id}" }) { id } }`
    this.#socket.write(post(JSON.stringify({ query }), { headers: this.#odd }))
  }

  #take(text: string): void {
    this.#text += text
    const [, id] = /\{"data":\{"createUser":\{"id":"([^"]+)"\}\}\}$/.exec(this.#text) ?? []
    if (id === undefined) return
    this.answered.push(id)
    this.toldToGo = this.#text.includes('Connection: close\r\n')
    this.#text = ''
    if (!this.toldToGo) this.#send()
  }
}

async function busyClients(url: string): Promise<Busy[]> {
  const clients = Array.from(
    { length: 12 },
    async (_, i) => new Busy(await openSocket(url), `c${i}`, i % 3 === 0),
  )
  const all = await Promise.all(clients)
  await vi.waitFor(
    () => expect(Math.min(...all.map(({ answered }) => answered.length))).toBeGreaterThan(2),
    PATIENCE_MS,
  )
  return all
}

const usersIn = async ({ url }: TestDatabase) =>
  (await rowsOf<{ id: string }>({ connectionString: url }, 'select id from users')).map(({ id }) => id).sort()

describe('gap: SIGTERM', () => {
  it('says first that it is not ready, then sends every client away with an answer', async () => {
    // Until it is told a second time: however slow the machine is, it is still draining when it is asked.
    const { server, database } = await start({ TOLLGATE_DRAIN_MS: '600000' })
    const idle = await openSocket(server.url)
    const idleErrors: Error[] = []
    idle.on('error', (error) => idleErrors.push(error)).resume()
    const idleClosed = closing(idle)
    const clients = await busyClients(server.url)

    const gone = once(server.process, 'exit')
    server.process.kill('SIGTERM')
    await vi.waitFor(async () => expect((await fetch(`${server.url}/readyz`)).status).toBe(503), PATIENCE_MS)
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)

    await Promise.all(clients.map(({ closed }) => closed))
    server.process.kill('SIGTERM')
    await idleClosed
    expect(await gone).toEqual([0, null])
    for (const { sent, answered, toldToGo, errors } of clients) {
      expect({ answered: answered.length, toldToGo, errors }).toEqual({
        answered: sent,
        toldToGo: true,
        errors: [],
      })
    }
    expect(idleErrors).toEqual([])
    expect(await usersIn(database)).toEqual(clients.flatMap(({ answered }) => answered).sort())
  })

  it('resets nobody even without a drain: what is not answered was not done', async () => {
    const { server, database } = await start({ TOLLGATE_DRAIN_MS: '0' })
    const clients = await busyClients(server.url)
    server.process.kill('SIGTERM')
    await Promise.all(clients.map(({ closed }) => closed))
    for (const { sent, answered, errors } of clients) {
      expect(errors).toEqual([])
      expect(sent - answered.length).toBeLessThanOrEqual(1)
    }
    expect(await usersIn(database)).toEqual(clients.flatMap(({ answered }) => answered).sort())
  })

  it.each(['SIGINT', 'SIGTERM'] as const)('followed by %s does not wait to drain', async (signal) => {
    const { server } = await start({ TOLLGATE_DRAIN_MS: '600000' })
    const gone = once(server.process, 'exit')
    server.process.kill('SIGTERM')
    await vi.waitFor(async () => expect((await fetch(`${server.url}/readyz`)).status).toBe(503), PATIENCE_MS)
    server.process.kill(signal)
    expect(await gone).toEqual([0, null])
  })
})
