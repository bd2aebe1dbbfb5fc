import { hostileBodies } from '../../server/test/http/hostile/bodies.ts'
import type { Random } from '../random.ts'
import { API_KEY } from './node.ts'

/** What is sent, in the pieces in which it is sent. */
export interface HostileRequest {
  pieces: (string | Buffer)[]
  /** It is HTTP, and a POST to /graphql: 200 and JSON must come back. Otherwise it may be refused or cut off. */
  isPost: boolean
}

const QUERIES = [
  ['query ($id: String!) { user(id: $id) { id } }', 'id'],
  ['mutation ($id: String!) { createUser(input: { id: $id }) { id } }', 'id'],
  ['query ($u: String!) { canUseFeature(userId: $u, featureId: "call") { access reasonCode } }', 'u'],
  [
    'mutation ($f: String!) { recordUsage(input: { userId: "ann", featureId: $f, delta: 1 }) { recorded } }',
    'f',
  ],
  ['mutation ($p: [String!]!) { subscribe(userId: "ann", packageIds: $p) { id } }', 'p'],
] as const

const NASTY = [
  '',
  '\u0000',
  '\ud800',
  '\u202e',
  '__proto__',
  'constructor',
  "' or 1=1 --",
  '#{1}',
  '%s%n',
  '🙂',
]

const SMALL = hostileBodies.filter(({ body }) => body.length < 4_000)
const LARGE = hostileBodies.filter(({ body }) => body.length >= 4_000)
/** Share of all requests: each takes the service as long as a hundred others. */
const LARGE_SHARE = 0.002

export function hostileRequest(random: Random): HostileRequest {
  if (random.chance(LARGE_SHARE)) return posted(random, random.pick(LARGE).body)
  switch (random.int(0, 7)) {
    case 0:
      return posted(random, random.pick(SMALL).body)
    case 1:
      return posted(random, random.bytes(random.int(0, 200)))
    case 2:
      return posted(random, damaged(random, valid(random)))
    case 3:
      return posted(random, deep(random))
    case 4:
      return posted(random, valid(random, 'x'.repeat(random.int(1, 5_000))))
    case 5:
      return oddPost(random)
    case 6:
      return noHttp(random)
    default:
      return posted(random, valid(random))
  }
}

/** A well-formed request for something nasty. */
function valid(random: Random, value: string = random.pick(NASTY)): Buffer {
  const [query, name] = random.pick(QUERIES)
  const given = random.pick<unknown>([value, value, value, [value], { [value]: value }, null, 1e308, true])
  const variables = { [name]: given }
  return Buffer.from(
    JSON.stringify({ query, variables: random.chance(0.5) ? JSON.stringify(variables) : variables }),
  )
}

function damaged(random: Random, body: Buffer): Buffer {
  const bytes = Buffer.from(body)
  for (let times = random.int(1, 4); times > 0; times--)
    bytes[random.int(0, bytes.length - 1)] = random.int(0, 255)
  return random.chance(0.3) ? bytes.subarray(0, random.int(0, bytes.length)) : bytes
}

function deep(random: Random): Buffer {
  const levels = random.int(2, 400)
  const [open, close] = random.pick([
    ['{ a ', '}'],
    ['{ ... on Query ', '}'],
    ['[', ']'],
    ['{ a(b: { c: ', '}) }'],
  ] as const)
  const text = open.repeat(levels) + close.repeat(random.chance(0.8) ? levels : random.int(0, levels))
  const body = random.chance(0.7)
    ? JSON.stringify({ query: text })
    : `{"query":"{ features { id } }","variables":{"a":${'['.repeat(levels)}${']'.repeat(levels)}}}`
  return Buffer.from(body)
}

const HEAD = `Host: x\r\nAuthorization: ${API_KEY}\r\n`

function posted(random: Random, body: string | Uint8Array): HostileRequest {
  const bytes = Buffer.from(body)
  const type = random.pick(['application/json', 'text/plain', 'application/x-unknown; charset=utf-7', ''])
  const head = `POST /graphql HTTP/1.1\r\n${HEAD}${type && `Content-Type: ${type}\r\n`}Content-Length: ${bytes.length}\r\n\r\n`
  return { pieces: [Buffer.concat([Buffer.from(head), bytes])], isPost: true }
}

/** Valid HTTP that no ordinary client sends. */
function oddPost(random: Random): HostileRequest {
  const body = valid(random)
  const sized = `Content-Length: ${body.length}\r\n`
  const post = (headers: string) => `POST /graphql HTTP/1.1\r\n${HEAD}${headers}\r\n`
  const whole = (headers: string) => [Buffer.concat([Buffer.from(post(headers)), body])]
  switch (random.int(0, 6)) {
    case 0: {
      const cut = random.int(0, body.length)
      return { pieces: [post(sized), body.subarray(0, cut), body.subarray(cut)], isPost: true }
    }
    case 1: {
      const chunk = (part: Buffer) => `${part.length.toString(16)}\r\n${part.toString('latin1')}\r\n`
      const chunks = Buffer.from(`${chunk(body)}0\r\n\r\n`, 'latin1')
      return { pieces: [post('Transfer-Encoding: chunked\r\n'), chunks], isPost: true }
    }
    case 2:
      return { pieces: whole(`${sized}Expect: 100-continue\r\n`), isPost: true }
    case 3:
      return {
        pieces: whole(`${sized.toLowerCase()}X-Odd:${'\t'.repeat(random.int(1, 9))}\r\n`),
        isPost: true,
      }
    case 4:
      return { pieces: whole(`${sized}Idempotency-Key: ${'k'.repeat(random.int(1, 400))}\r\n`), isPost: true }
    case 5:
      return { pieces: whole(`${sized}X-Request-Id: \xe9\xff\r\nProxy-Connection: close\r\n`), isPost: true }
    default:
      return {
        pieces: whole(`${sized}Content-Encoding: ${random.pick(['gzip', 'br', 'x'])}\r\n`),
        isPost: true,
      }
  }
}

function noHttp(random: Random): HostileRequest {
  const lines = [
    `${random.pick(['GET', 'PUT', 'DELETE', 'TRACE'])} /graphql HTTP/1.1\r\n${HEAD}\r\n`,
    `POST /graphql HTTP/1.1\r\n${HEAD}Content-Length: -1\r\n\r\n`,
    `POST /graphql HTTP/1.1\r\n${HEAD}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    `POST /graphql HTTP/9.9\r\n${HEAD}\r\n`,
    `POST /graphql HTTP/1.1\r\n${HEAD}X: a\u0000b\r\nContent-Length: 0\r\n\r\n`,
    random.bytes(random.int(1, 300)),
  ]
  return { pieces: [random.pick(lines)], isPost: false }
}
