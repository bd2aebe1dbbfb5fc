import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { HEADERS_TIMEOUT_MS, KEEP_ALIVE_MS } from '../../src/domain/limits.ts'
import type { Exchange } from '../../src/http/exchange.ts'
import { takePlainConnections } from '../../src/http/plain-connections.ts'
import { PATIENCE_MS } from '../harness/patience.ts'
import { closing, listening, openSocket, post } from '../harness/raw.ts'

const QUERY = JSON.stringify({ query: '{ features { id } }' })

describe('a connection', () => {
  const sockets: Socket[] = []
  let server: Server
  afterEach(() => {
    vi.useRealTimers()
    for (const socket of sockets.splice(0)) socket.destroy()
    server.close()
  })

  async function connectTo(handle: (exchange: Exchange) => Promise<void>) {
    server = createServer()
    const broken: unknown[] = []
    let tell: (exchange: Exchange) => void
    const asked = new Promise<Exchange>((resolve) => {
      tell = resolve
    })
    const plain = takePlainConnections(server, {
      handlers: new Map([
        [
          '/graphql',
          (exchange) => {
            tell(exchange)
            return handle(exchange)
          },
        ],
      ]),
      closing: () => !server.listening,
      broke: (error) => broken.push(error),
      headers: '',
      clock: () => Date.now(),
    })
    const { port } = await listening(server)
    const socket = await openSocket(`http://127.0.0.1:${port}`)
    sockets.push(socket)
    return { socket, plain, broken, asked, closed: closing(socket) }
  }

  const answering = async (exchange: Exchange) => exchange.answer(200, 'id', { fine: true })

  it.each([
    ['that says nothing', '', HEADERS_TIMEOUT_MS],
    ['that was answered', post(QUERY), KEEP_ALIVE_MS],
  ])('gap: plain requests: one %s is closed after its time', async (_, sent, ms) => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const { socket, closed } = await connectTo(answering)
    let gone = false
    void closed.then(() => {
      gone = true
    })
    if (sent !== '') {
      socket.write(sent)
      await once(socket, 'data')
    }
    socket.resume()
    vi.advanceTimersByTime(ms - 1_000)
    await sleep(50)
    expect(gone).toBe(false)
    vi.advanceTimersByTime(2_500)
    await closed
  })

  it('gap: plain requests: one that waits for its answer is not idle, and ends with it when the server closes', async () => {
    const { socket, plain, closed, asked } = await connectTo(async () => {})
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk.toString()
    })
    socket.write(post(QUERY))
    const exchange = await asked
    server.close()
    plain.endIdle()
    await sleep(50)
    expect(socket.destroyed).toBe(false)
    await answering(exchange)
    await closed
    expect(text).toContain('Connection: close\r\n')
    expect(text).toContain('{"fine":true}')
  })

  it('gap: plain requests: one whose handler fails is closed, and logged', async () => {
    const { socket, broken, closed } = await connectTo(async () => {
      throw new Error('broken')
    })
    socket.write(post(QUERY))
    await closed
    expect(broken).toEqual([new Error('broken')])
  })

  it('gap: plain requests: one that was gone before its answer is forgotten', async () => {
    const { socket, broken, asked } = await connectTo(async () => {})
    socket.write(post(QUERY))
    const exchange = await asked
    socket.destroy()
    await sleep(20)
    await answering(exchange)
    const left = () => new Promise((resolve) => server.getConnections((_, count) => resolve(count)))
    await vi.waitFor(async () => expect(await left()).toBe(0), PATIENCE_MS)
    expect(broken).toEqual([])
  })

  it('gap: plain requests: a header that would break the answer in two is refused', async () => {
    const { socket, broken, closed } = await connectTo(async (exchange) => {
      exchange.setHeader('X', 'a\r\nSet-Cookie: b')
    })
    socket.write(post(QUERY))
    await closed
    expect(broken).toHaveLength(1)
  })
})
