import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { adminSchema } from '../../src/graphql/admin/schema.ts'
import { clientSchema } from '../../src/graphql/client/schema.ts'
import { dashboardSchema } from '../../src/graphql/dashboard/schema.ts'
import { type Answer, Client, signedIn } from '../harness/client.ts'
import { createDatabase, type TestDatabase } from '../harness/database.ts'
import { exampleCalls, replacements } from '../harness/example-calls.ts'
import { closing, exchange, openSocket, statusesOf } from '../harness/raw.ts'
import {
  API_KEY,
  adminClient,
  OWNER,
  OWNER_SETTINGS,
  type ServerProcess,
  spawnServer,
} from '../harness/server.ts'
import { hostileBodies } from './hostile/bodies.ts'
import { endless, hostileConnections, pipelined } from './hostile/connections.ts'

const MOST_GROWTH_MB = 150
/** Twenty, and the word that there were more: what is wrong a thousand times is not told a thousand times. */
const MOST_ERRORS = 21

let database: TestDatabase
let server: ServerProcess
let admin: Client
let dashboard: Client
let user: Client
let memoryBefore: number | null

beforeAll(async () => {
  database = await createDatabase()
  // A heap in which nothing that grows without bound would fit.
  const NODE_OPTIONS = '--max-old-space-size=128'
  server = await spawnServer({ ...OWNER_SETTINGS, DATABASE_URL: database.url, NODE_OPTIONS })
  admin = adminClient(server.url, API_KEY)
  dashboard = await signedIn(server.url, OWNER)
  await admin.data('mutation { createUser(input: {id: "u"}) { id } }')
  const { generateUserToken } = await admin.data('mutation { generateUserToken(userId: "u") { token } }')
  user = new Client(`${server.url}/client/graphql`, { Authorization: generateUserToken.token })
  for (let i = 0; i < 20; i++) await admin.data('{ features { id } }')
  memoryBefore = memoryMb()
})
afterAll(async () => {
  await server?.kill('SIGTERM')
  await database?.drop()
})

/** What the service holds, where the system tells. */
function memoryMb(): number | null {
  try {
    const status = readFileSync(`/proc/${server.process.pid}/status`, 'utf8')
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024
  } catch {
    return null
  }
}

/** 200, JSON, and no internal error. */
async function answerOf(response: Response): Promise<Answer> {
  const answer = { status: response.status, ...((await response.json()) as Omit<Answer, 'status'>) }
  expect(answer.status).toBe(200)
  expect(answer.errors?.map(({ extensions }) => extensions.code) ?? []).not.toContain('INTERNAL_SERVER_ERROR')
  return answer
}

/** Others are still answered. */
async function expectService(): Promise<void> {
  expect(await admin.data('{ user(id: "u") { id } }')).toEqual({ user: { id: 'u' } })
}

// A document used a third time is compiled, which is another code path.
const OFTEN_ENOUGH = [1, 2, 3]

describe('spec §7 rule 1: hostile bodies are answered with 200', () => {
  it.for(hostileBodies)('$name: $code', async ({ body, code, headers }) => {
    for (const _time of OFTEN_ENOUGH) {
      const { data, errors } = await answerOf(await admin.with(headers ?? {}).post(body))
      expect(errors?.[0]?.extensions.code ?? (data && 'data')).toBe(code)
      expect(errors?.length ?? 0).toBeLessThanOrEqual(MOST_ERRORS)
    }
  })

  const NASTY = [
    '',
    '\u0000',
    'a\u0000b',
    '\ud800',
    'x\udfff',
    '\u202e',
    '__proto__',
    'constructor',
    '\u{1f600}'.repeat(9_999),
  ]
  const schemas = [
    { api: 'Admin', schema: adminSchema(), client: () => admin },
    { api: 'client', schema: clientSchema(), client: () => user },
    { api: 'dashboard', schema: dashboardSchema(), client: () => dashboard },
  ]
  const calls = schemas.flatMap(({ api, schema, client }) =>
    exampleCalls(schema)
      // It would end the session that the others need.
      .filter(({ name }) => name !== 'signOut')
      .map((call) => ({ api, client, ...call })),
  )
  it.for(calls)('$api API, $name: nasty text in the place of each string', async ({
    client,
    query,
    variables,
  }) => {
    for (const nasty of NASTY) {
      const bodies = replacements(variables, nasty).map((replaced) =>
        JSON.stringify({ query, variables: replaced }),
      )
      await Promise.all(bodies.map(async (body) => answerOf(await client().post(body))))
    }
  })
})

describe('gap: memory', () => {
  it('documents by the hundred that never come again are not all kept', async () => {
    const before = memoryMb()
    const ids = '"" '.repeat(950)
    for (let i = 0; i < 500; i++) {
      const query = `{ canUseFeatures(userId: "${i}", featureIds: [${ids}]) { access } } #${'x'.repeat(30_000)}`
      await answerOf(await admin.post(JSON.stringify({ query })))
    }
    const after = memoryMb()
    if (before !== null && after !== null) expect(after - before).toBeLessThan(MOST_GROWTH_MB)
  })
})

describe('spec §7: hostile connections are answered or closed', () => {
  it.for(hostileConnections)('$name', async ({ sent, hangUp, statuses }) => {
    for (const status of statusesOf(await exchange(server.url, sent, { hangUp }))) {
      expect(statuses).toContain(status)
    }
    await expectService()
  })

  it('nothing was smuggled in', async () => {
    const { users } = await admin.data('{ users { id } }')
    expect(users).not.toContainEqual({ id: 'smuggled' })
  })

  it('answers pipelined requests, all of them and in order', async () => {
    expect(statusesOf(await exchange(server.url, pipelined(50)))).toEqual(Array(50).fill(200))
  })

  const STREAMS = [
    ['in chunks', '/graphql', API_KEY, 'Transfer-Encoding: chunked\r\n'],
    ['in chunks, without a key', '/graphql', 'none', 'Transfer-Encoding: chunked\r\n'],
    ['of a length', '/graphql', API_KEY, 'Content-Length: 1073741824\r\n'],
    ['to the dashboard', '/dashboard/graphql', '', 'Transfer-Encoding: chunked\r\n'],
    ['to the client API', '/client/graphql', '', 'Transfer-Encoding: chunked\r\n'],
    ['to nowhere', '/nowhere', '', 'Transfer-Encoding: chunked\r\n'],
    ['to a page', '/setup', '', 'Content-Length: 1073741824\r\n'],
    ['to a health check', '/healthz', '', 'Transfer-Encoding: chunked\r\n'],
    ['to the metrics', '/metrics', '', 'Transfer-Encoding: chunked\r\n'],
    ['to the readiness check', '/readyz', '', 'Transfer-Encoding: chunked\r\n'],
  ] as const
  it.for(STREAMS)('cuts off 1 GB %s', async ([, path, key, headers]) => {
    const socket = await openSocket(server.url)
    socket.resume()
    socket.write(endless(path, key, headers))
    const sent = await pour(socket, headers.startsWith('Transfer') ? 'chunked' : 'plain')
    expect(sent).toBeLessThan(64 * 1024 * 1024)
  })

  it('answers others while hundreds of connections are slow', async () => {
    const beginnings = [
      'POST /graphql HTTP/1.1\r\nHost: x\r\n',
      `POST /graphql HTTP/1.1\r\nHost: x\r\nAuthorization: ${API_KEY}\r\nContent-Length: 900000\r\n\r\n{"query":`,
      '',
    ]
    const slow: Socket[] = []
    for (let i = 0; i < 300; i++) {
      const socket = await openSocket(server.url)
      socket.write(beginnings[i % beginnings.length] ?? '')
      slow.push(socket)
    }
    for (let i = 0; i < 20; i++) await expectService()
    for (const socket of slow) socket.destroy()
  })
})

describe('gap: what nobody thought of', () => {
  const VALID = exampleCalls(adminSchema())

  it('random bodies', async () => {
    const body = fc.oneof(
      fc.json(),
      fc.string({ unit: 'binary' }),
      fc
        .record(
          { query: fc.anything(), variables: fc.anything(), operationName: fc.anything() },
          { requiredKeys: [] },
        )
        .map((value) => JSON.stringify(value) ?? ''),
    )
    await fc.assert(
      fc.asyncProperty(body, async (text) => void (await answerOf(await admin.post(text)))),
      { numRuns: 150 },
    )
  })

  it('valid documents with something changed', async () => {
    const changed = fc
      .record({
        call: fc.constantFrom(...VALID),
        at: fc.nat(),
        length: fc.nat({ max: 12 }),
        inserted: fc.oneof(
          fc.constantFrom(
            '{',
            '}',
            '(',
            ')',
            '[',
            ']',
            '$',
            '!',
            '@',
            '...',
            '"',
            '"""',
            ':',
            'null',
            '__typename',
          ),
          fc.string({ unit: 'binary', maxLength: 8 }),
        ),
        value: fc.jsonValue(),
      })
      .map(({ call, at, length, inserted, value }) => {
        const from = at % (call.query.length + 1)
        const names = Object.keys(call.variables)
        const name = names[at % names.length] ?? 'none'
        return {
          query: call.query.slice(0, from) + inserted + call.query.slice(from + length),
          variables: at % 2 === 0 ? call.variables : { ...call.variables, [name]: value },
        }
      })
    await fc.assert(
      fc.asyncProperty(
        changed,
        async (request) => void (await answerOf(await admin.post(JSON.stringify(request)))),
      ),
      { numRuns: 300 },
    )
  })
})

describe('after all that', () => {
  it('the service has logged no fault, holds no more memory than it should, and answers', async () => {
    expect(server.process.exitCode).toBeNull()
    expect(server.output()).not.toMatch(/"level":(50|60)/)
    const memory = memoryMb()
    if (memory !== null && memoryBefore !== null) expect(memory - memoryBefore).toBeLessThan(MOST_GROWTH_MB)
    await expectService()
  })
})

/** Sends up to 1 GB as fast as it is taken, and returns how much went out before the connection was closed. */
async function pour(socket: Socket, framing: 'chunked' | 'plain'): Promise<number> {
  const data = Buffer.alloc(64 * 1024, 0x20)
  const piece =
    framing === 'plain' ? data : Buffer.concat([Buffer.from('10000\r\n'), data, Buffer.from('\r\n')])
  const closed = closing(socket)
  let sent = 0
  while (!socket.destroyed && sent < 1024 ** 3) {
    const room = socket.write(piece)
    sent += piece.length
    if (!room) await Promise.race([new Promise((drained) => socket.once('drain', drained)), closed])
  }
  socket.destroy()
  return sent
}
