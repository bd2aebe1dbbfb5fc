import { createServer, type IncomingHttpHeaders } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { readPlainHead } from '../../src/http/plain-request.ts'
import { ODD_REQUEST } from '../harness/odd-requests.ts'
import { PATIENCE_MS } from '../harness/patience.ts'
import { closing, exchange, listening, openSocket, post } from '../harness/raw.ts'
import { API_KEY, startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

/** What a reader made of one request. */
interface Seen {
  path: string | undefined
  headers: IncomingHttpHeaders
  body: string
}

/** What node:http makes of these bytes: the requests in them, and whether it would keep the connection. */
async function readByNode(bytes: Buffer): Promise<{ requests: Seen[]; kept: boolean }> {
  const requests: Seen[] = []
  let kept = false
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('latin1')
    request.on('data', (text) => {
      body += text
    })
    request.on('end', () => {
      requests.push({ path: request.url, headers: request.headers, body })
      kept = response.shouldKeepAlive
      response.end()
    })
  })
  const { port } = await listening(server)
  const socket = await openSocket(`http://127.0.0.1:${port}`)
  socket.resume().end(bytes)
  await closing(socket)
  server.closeAllConnections()
  server.close()
  return { requests, kept }
}

describe('what counts as plain', () => {
  it('gap: plain requests: means the same to node:http', async () => {
    let plain = 0
    await fc.assert(
      fc.asyncProperty(ODD_REQUEST, async (bytes) => {
        const head = readPlainHead(bytes)
        if (!head || bytes.length !== head.bytes.length + head.bodyBytes) return
        plain += 1
        const { path, headers } = head
        const body = bytes.subarray(head.bytes.length).toString('latin1')
        expect(await readByNode(bytes)).toEqual({ requests: [{ path, headers, body }], kept: true })
      }),
      { numRuns: 1_500 },
    )
    expect(plain).toBeGreaterThan(100)
  })

  it('gap: plain requests: is what clients send', () => {
    const head = (headers: string) => Buffer.from(`POST /graphql HTTP/1.1\r\n${headers}\r\n\r\n{}`)
    expect(readPlainHead(head('host: x\r\nconnection: keep-alive\r\ncontent-length: 2'))).toMatchObject({
      path: '/graphql',
      headers: { host: 'x', 'content-length': '2' },
      bodyBytes: 2,
    })
    for (const odd of [
      'Content-Length: 2',
      'Host: x',
      'Host: x\r\nContent-Length: 2\r\nContent-Length: 2',
      'Host: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked',
      'Host: x\r\nContent-Length: 2\r\nConnection: close',
      'Host: x\r\nContent-Length: -2',
      `Host: x\r\nContent-Length: 2\r\nX: ${'x'.repeat(5_000)}`,
    ]) {
      expect(readPlainHead(head(odd)), odd).toBeNull()
    }
  })
})

const QUERY = JSON.stringify({ query: '{ features { id } }' })
const CREATE = (id: string) =>
  JSON.stringify({ query: `mutation { createUser(input: { id: "${id}" }) { id } }` })

describe('the service', () => {
  const server = shared(startTestServer)
  beforeAll(async () => {
    const names = Array.from({ length: 150 }, (_, i) => `u${i}: createUser(input: { id: "u${i}" }) { id }`)
    for (let i = 0; i < names.length; i += 50) {
      await server.admin.data(`mutation { ${names.slice(i, i + 50).join(' ')} }`)
    }
  })

  /** Sends the pieces one after the other, each in a packet of its own; returns what came back in all. */
  async function send(pieces: string[], answers: number): Promise<string[]> {
    const socket = await openSocket(server.url)
    socket.setNoDelay(true)
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk.toString()
    })
    for (const [i, piece] of pieces.entries()) {
      if (i > 0) await sleep(20)
      socket.write(piece)
    }
    await vi.waitFor(() => expect(answersIn(text)).toHaveLength(answers), PATIENCE_MS)
    socket.destroy()
    return answersIn(text)
  }

  /** The whole answers in what came back. */
  const answersIn = (text: string) =>
    text.split(/(?=HTTP\/1\.1 \d{3} )/).filter((answer) => {
      const [head = '', body = ''] = answer.split('\r\n\r\n')
      const length = Number(/^Content-Length: (\d+)/m.exec(head)?.[1])
      return answer.endsWith('\r\n0\r\n\r\n') || Buffer.byteLength(body) === length
    })

  /** An answer without what differs from one to the next. */
  const alike = (answer = '') =>
    answer
      .replace(/^(Date|X-Request-Id|RateLimit-Remaining|RateLimit-Reset): .*\r\n/gm, '')
      .split('\r\n')
      .sort()
      .join('\r\n')

  /** The same with a header that leaves it to node:http. */
  const odd = (request: string) => request.replace('\r\n', '\r\nx_odd: 1\r\n')

  it.each([
    ['a query', post(QUERY)],
    ['umlauts', post(JSON.stringify({ query: '{ user(id: "größe🎉") { id } }' }))],
    ['nonsense', post('nonsense')],
    ['nothing', post('')],
    ['a wrong key', post(QUERY).replace(API_KEY, 'wrong')],
    ['an empty Idempotency-Key', post(QUERY, { headers: 'Idempotency-Key: \r\n' })],
    [
      'a page of another origin',
      post(QUERY, { path: '/client/graphql', headers: 'Origin: https://x.example\r\n' }),
    ],
    [
      'a visitor',
      post('{"query":"{ apps { id } }"}', {
        host: '127.0.0.1',
        path: '/dashboard/graphql',
        headers: 'Content-Type: application/json\r\n',
      }),
    ],
    ['another content type', post(QUERY, { host: '127.0.0.1', path: '/dashboard/graphql' })],
  ])('gap: plain requests: answers %s as it does through node:http', async (_, request) => {
    const [short] = await send([request], 1)
    const [long] = await send([odd(request)], 1)
    expect(alike(short)).toBe(alike(long))
    expect(short).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
    expect(short).toMatch(/\r\nDate: \w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT\r\n/)
  })

  const JSON_TYPE = 'Content-Type: application/json\r\n'
  it.each([
    ['a check', '/v1/check', '{"userId":"u1","featureId":"x"}', JSON_TYPE, 200],
    ['a created user', '/v1/users', '{"id":"größe"}', `${JSON_TYPE}Idempotency-Key: 1\r\n`, 201],
    ['a refused value', '/v1/usage/batch', '{"events":1}', JSON_TYPE, 400],
    ['no type', '/v1/check', '{}', '', 415],
  ] as const)('gap: plain requests: answers %s of REST as it does through node:http', async (...row) => {
    const [, path, body, headers, status] = row
    const request = post(body, { path, headers })
    expect(readPlainHead(Buffer.from(request))).toMatchObject({ path })
    const [short] = await send([request], 1)
    const [long] = await send([odd(request)], 1)
    const essence = (answer?: string) => alike(answer).replace(/"requestId":"[^"]+"/, '')
    expect(essence(short)).toBe(essence(long))
    expect(short).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
  })

  it('gap: plain requests: sends a long list in chunks, as it does through node:http', async () => {
    const request = post(JSON.stringify({ query: '{ users { id } }' }))
    const [short = ''] = await send([request], 1)
    const [long = ''] = await send([odd(request)], 1)
    expect(short).toContain('Transfer-Encoding: chunked')
    const users = (text: string) => [...text.matchAll(/"id":"(u\d+)"/g)].map(([, id]) => id)
    expect(users(short)).toHaveLength(150)
    expect(users(short)).toEqual(users(long))
  })

  it('gap: plain requests: sets cookies', async () => {
    const signIn = post(
      JSON.stringify({
        query: 'mutation { signIn(email: "owner@example.com", password: "correct horse battery") { email } }',
      }),
      { host: '127.0.0.1', path: '/dashboard/graphql', headers: 'Content-Type: application/json\r\n' },
    )
    const [answer = ''] = await send([signIn], 1)
    expect(answer).toMatch(/\r\nSet-Cookie: tollgate_session=[\w-]+; Path=\/; HttpOnly/)
  })

  it.each([
    ['two requests in one packet', (a: string, b: string) => [a + b]],
    ['one and a half, and the rest', (a: string, b: string) => [a + b.slice(0, 70), b.slice(70)]],
    ['the second before the first is answered', (a: string, b: string) => [a, b]],
    ['a head in two packets', (a: string, b: string) => [a.slice(0, 30), a.slice(30), b]],
    ['a body in two packets', (a: string, b: string) => [a.slice(0, -10), a.slice(-10), b]],
    [
      'byte by byte to the end of its first line',
      (a: string, b: string) => [...a.slice(0, 22), a.slice(22), b],
    ],
  ])('gap: plain requests: %s are answered once each, in their order', async (name, pieces) => {
    const [a, b] = [`a ${name}`, `b ${name}`]
    const answers = await send(pieces(post(CREATE(a)), post(CREATE(b))), 2)
    expect(answers.map((answer) => /"id":"([^"]*)"/.exec(answer)?.[1])).toEqual([a, b])
  })

  it('gap: plain requests: a connection goes from plain ones to others and on', async () => {
    const chunked = `POST /graphql HTTP/1.1\r\nHost: x\r\nAuthorization: ${API_KEY}\r\nTransfer-Encoding: chunked\r\n\r\n${QUERY.length.toString(16)}\r\n${QUERY}\r\n0\r\n\r\n`
    const answers = await send(
      [post(QUERY), post(QUERY), chunked, post(QUERY), 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'],
      5,
    )
    expect(answers.slice(0, 4).map((answer) => answer.split('\r\n\r\n')[1])).toEqual(
      Array(4).fill('{"data":{"features":[]}}'),
    )
    expect(answers[4]).toMatch(/^HTTP\/1\.1 200 OK/)
  })

  it('gap: plain requests: a client that stops sending after a request still gets its answer', async () => {
    expect(await exchange(server.url, post(QUERY), { hangUp: true })).toContain('{"data":{"features":[]}}')
  })

  it('gap: plain requests: heads that change from request to request are parsed again', async () => {
    const other = (key: string) => post(QUERY).replace(API_KEY, key)
    const wrong = API_KEY.replace(/.$/, 'x')
    const answers = await send([other(API_KEY), other(wrong), other(API_KEY)], 3)
    expect(answers.map((answer) => answer.includes('UNAUTHENTICATED'))).toEqual([false, true, false])
  })
})
