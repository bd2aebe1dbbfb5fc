import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { StartError } from '../../src/domain/errors.ts'
import { readPlainHead } from '../../src/http/plain-request.ts'
import { readConfig } from '../../src/settings/config.ts'
import { ODD_REQUEST } from '../harness/odd-requests.ts'
import { closing, openSocket, post } from '../harness/raw.ts'
import { API_KEY, startTestServer, type TestServer } from '../harness/server.ts'
import { hostileBodies } from './hostile/bodies.ts'
import { hostileConnections, pipelined } from './hostile/connections.ts'

// The same bytes to two services, one with the short path for plain requests and one without it.

let [on, off] = [] as TestServer[]
beforeAll(async () => {
  const services = ['on', 'off'].map((TOLLGATE_PLAIN_HTTP) =>
    startTestServer({ env: { TOLLGATE_PLAIN_HTTP } }),
  )
  ;[on, off] = await Promise.all(services)
  for (const server of [on, off]) {
    const names = Array.from({ length: 50 }, (_, i) => `u${i}: createUser(input: { id: "u${i}" }) { id }`)
    for (const part of ['a', 'b', 'c']) {
      await server?.admin.data(`mutation { ${names.join(' ').replaceAll('id: "', `id: "${part}`)} }`)
    }
  }
})
afterAll(async () => {
  await on?.stop()
  await off?.stop()
})

const LAST = 'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'

/** Everything that comes back for these pieces, each in a packet of its own, and a last request after them. */
async function answered(
  server: TestServer | undefined,
  pieces: (string | Buffer)[],
  pause: number,
): Promise<string> {
  const socket = await openSocket(server?.url ?? '')
  socket.setNoDelay(true)
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
  })
  const closed = closing(socket)
  for (const piece of pieces) {
    if (socket.writable) socket.write(piece)
    await sleep(pause)
  }
  if (socket.writable) socket.end(LAST)
  await closed
  return text
}

/** What came back, but for what differs from one answer to the next; the order of headers means nothing. */
function essence(text: string): string[] {
  return text.split(/(?=HTTP\/1\.1 \d{3} )/).map((answer) => {
    const [head = '', ...body] = answer
      .replace(/^(Date|X-Request-Id|RateLimit-Remaining|RateLimit-Reset): .*\r\n/gm, '')
      .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'uuid')
      .split('\r\n\r\n')
    return [...head.split('\r\n').sort(), '', ...body].join('\r\n')
  })
}

/** In ms. What is sent after a request that closes its connection has it refused, where no answer is on its way yet. */
const PAUSES = [15, 150, 1_500]

async function expectAlike(...pieces: (string | Buffer)[]): Promise<string[]> {
  let [short, long]: string[][] = []
  for (const pause of PAUSES) {
    const answers = await Promise.all([on, off].map((server) => answered(server, pieces, pause)))
    ;[short, long] = answers.map(essence)
    if (isDeepStrictEqual(short, long)) break
  }
  expect(short).toEqual(long)
  return short ?? []
}

const QUERY = JSON.stringify({ query: '{ features { id } }' })
const USERS = JSON.stringify({ query: '{ users { id } }' })
const CREATE = (id: string) =>
  JSON.stringify({ query: `mutation { createUser(input: { id: "${id}" }) { id } }` })

describe('gap: plain requests: TOLLGATE_PLAIN_HTTP=off answers alike', () => {
  it.for(hostileConnections)('a connection with $name', async ({ sent }) => {
    await expectAlike(sent)
  })

  it('bodies of all kinds', async () => {
    const small = hostileBodies.filter(({ body }) => body.length < 10_000)
    const requests = small.map(({ body, headers = {} }) => {
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
      const head = post('', { headers: lines.join('') }).replace(
        /Content-Length: 0/,
        `Content-Length: ${Buffer.byteLength(body)}`,
      )
      return Buffer.concat([Buffer.from(head), Buffer.from(body)])
    })
    while (requests.length > 0) await Promise.all(requests.splice(0, 10).map((bytes) => expectAlike(bytes)))
  })

  it('heads that are plain, or nearly so', async () => {
    const requests = fc.sample(ODD_REQUEST, { numRuns: 300, seed: 11 })
    expect(requests.filter((bytes) => readPlainHead(bytes) !== null).length).toBeGreaterThan(30)
    while (requests.length > 0) await Promise.all(requests.splice(0, 30).map((bytes) => expectAlike(bytes)))
  })

  const JSON_TYPE = 'Content-Type: application/json\r\n'
  it.for<[name: string, pieces: string[], answers: number]>([
    ['a list that is sent in chunks', [post(USERS)], 1],
    ['a list that is sent in chunks, and another request at once', [post(USERS) + post(QUERY)], 2],
    ['three requests, one after the other', [post(QUERY), post(QUERY), post(QUERY)], 3],
    ['fifty requests in one packet', [pipelined(50).replace('Connection: close\r\n', '')], 50],
    [
      'one and a half, and the rest',
      [post(CREATE('v')) + post(CREATE('w')).slice(0, 70), post(CREATE('w')).slice(70)],
      2,
    ],
    ['a head in two packets', [post(QUERY).slice(0, 30), post(QUERY).slice(30)], 1],
    ['a body in two packets', [post(QUERY).slice(0, -5), post(QUERY).slice(-5)], 1],
    ['HTTP/1.0', [post(QUERY).replace('HTTP/1.1', 'HTTP/1.0')], 1],
    [
      'HTTP/1.0 that is to be kept',
      [post(QUERY, { headers: 'Connection: keep-alive\r\n' }).replace('/1.1', '/1.0')],
      1,
    ],
    ['a whole URL for a target', [post(QUERY, { path: 'http://x/graphql' })], 1],
    ['a query string', [post(QUERY, { path: '/graphql?a=b' })], 1],
    ['a fragment', [post(QUERY, { path: '/graphql#a' })], 1],
    ['a wrong key', [post(QUERY).replace(API_KEY, 'wrong')], 1],
    [
      'a proxy that wants to close',
      [post(QUERY, { headers: 'Proxy-Connection: close\r\n' }), post(QUERY)],
      1,
    ],
    [
      'a proxy that wants to go on',
      [post(QUERY, { headers: 'Proxy-Connection: keep-alive\r\n' }), post(QUERY)],
      2,
    ],
    ['headers of 5 KB', [post(QUERY, { headers: `X: ${'x'.repeat(5_000)}\r\n` })], 1],
    ['headers of 20 KB', [post(QUERY, { headers: `X: ${'x'.repeat(20_000)}\r\n` })], 1],
    ['the client API without a token', [post(QUERY, { path: '/client/graphql' })], 1],
    [
      'the client API from a page',
      [post(QUERY, { path: '/client/graphql', headers: 'Origin: https://x.example\r\n' })],
      1,
    ],
    [
      'the dashboard',
      [post(QUERY, { host: '127.0.0.1', path: '/dashboard/graphql', headers: JSON_TYPE })],
      1,
    ],
    ['the dashboard without a type', [post(QUERY, { host: '127.0.0.1', path: '/dashboard/graphql' })], 1],
    ['another path', [post(QUERY, { path: '/graphql/' })], 1],
  ])('%s', async ([, pieces, answers]) => {
    const all = await expectAlike(...pieces)
    // The answer to the last request is not there where the connection was closed before.
    expect([answers, answers + 1]).toContain(all.length)
  })
})

it.for([
  'no',
  'ON',
  '1',
  'true',
])('gap: plain requests: TOLLGATE_PLAIN_HTTP=%s is refused in one line', (text) => {
  expect(() => readConfig({ TOLLGATE_PLAIN_HTTP: text })).toThrow(
    new StartError(`TOLLGATE_PLAIN_HTTP must be on or off; it is "${text}".`),
  )
})
