import { request } from 'node:http'
import { expect } from 'vitest'
import {
  MAX_ALIASES,
  MAX_BODY_BYTES,
  MAX_DEPTH,
  MAX_DOCUMENT_BYTES,
  MAX_HEADER_BYTES,
  MAX_IDEMPOTENCY_KEY_CHARACTERS,
  MAX_REQUEST_ID_CHARACTERS,
  MAX_ROOT_FIELDS,
  MAX_TOKENS,
} from '../../src/domain/limits.ts'
import type { Answer, Client } from '../harness/client.ts'
import { API_KEY } from '../harness/server.ts'
import {
  answerTo,
  type Bound,
  CREATE_USER,
  expectAnswer,
  RECORD_USAGE,
  valueBound,
  type World,
} from './bound.ts'

const ask = ({ admin }: World, query: string) => admin.ask(query)
const times = (count: number, text: (i: number) => string) => Array.from({ length: count }, (_, i) => text(i))

const body = (bytes: number): string => JSON.stringify({ query: '{ features { id } }' }).padEnd(bytes)

/** Padded with a comment, of which every character but the ASCII ones takes three bytes. */
function documentOf(bytes: number, filler: string): string {
  const query = '{ features { id } } #'
  const left = bytes - query.length
  const wide = Buffer.byteLength(filler)
  return query + filler.repeat(Math.floor(left / wide)) + 'x'.repeat(left % wide)
}

/** `mutation { createUser ( input : { id : "" metadata : { list : [ 0 … ] } } ) { id } }`, in tokens. */
function tokens(count: number, id: string): string {
  const rest = 24
  return `mutation { createUser(input: {id: "${id}", metadata: {list: [${'0 '.repeat(count - rest)}]}}) { id } }`
}

function nested(levels: number): string {
  const inner = levels - 2
  return `{ __type(name: "Feature") {${' ofType {'.repeat(inner)} name ${'}'.repeat(inner)}}}`
}

export const requestBounds: Bound[] = [
  valueBound(
    'MAX_BODY_BYTES',
    'the body, its length announced',
    { within: MAX_BODY_BYTES, beyond: MAX_BODY_BYTES + 1 },
    ({ admin }, bytes) => answerTo(admin, body(bytes)),
    /body must be at most 1048576 bytes/,
  ),
  valueBound(
    'MAX_BODY_BYTES',
    'the body, sent in chunks',
    { within: MAX_BODY_BYTES, beyond: MAX_BODY_BYTES + 1 },
    ({ url }, bytes) => inChunks(url, body(bytes)),
    /body must be at most 1048576 bytes/,
  ),
  ...['x', '中'].map((filler) =>
    valueBound(
      'MAX_DOCUMENT_BYTES',
      `the document, filled with ${filler}`,
      { within: MAX_DOCUMENT_BYTES, beyond: MAX_DOCUMENT_BYTES + 1 },
      (world, bytes) => ask(world, documentOf(bytes, filler)),
      /query must be at most 65536 bytes/,
    ),
  ),
  valueBound(
    'MAX_TOKENS',
    'tokens of the document',
    { within: MAX_TOKENS, beyond: MAX_TOKENS + 1 },
    (world, count) => ask(world, tokens(count, world.fresh())),
    /more that 1000 tokens/,
  ),
  valueBound(
    'MAX_DEPTH',
    'levels of selections',
    { within: MAX_DEPTH, beyond: MAX_DEPTH + 1 },
    (world, levels) => ask(world, nested(levels)),
    /deeper than 20 levels/,
  ),
  valueBound(
    'MAX_DEPTH',
    'levels of selections, through a fragment',
    { within: MAX_DEPTH, beyond: MAX_DEPTH + 1 },
    (world, levels) => ask(world, `{ ...Deep } fragment Deep on Query ${nested(levels)}`),
    /deeper than 20 levels/,
  ),
  valueBound(
    'MAX_ALIASES',
    'aliases',
    { within: MAX_ALIASES, beyond: MAX_ALIASES + 1 },
    (world, count) => ask(world, `{ features { ${times(count, (i) => `a${i}: id`).join(' ')} } }`),
    /more than 50 aliases/,
  ),
  valueBound(
    'MAX_ALIASES',
    'aliases, counted wherever their fragment is spread',
    { within: MAX_ALIASES / 2, beyond: MAX_ALIASES / 2 + 1 },
    (world, count) =>
      ask(
        world,
        `{ features { ...A } packages { features { id } } more: features { ...B } }
         fragment A on Feature { ${times(count - 1, (i) => `a${i}: id`).join(' ')} id }
         fragment B on Feature { ...A b: name }`,
      ),
    /more than 50 aliases/,
  ),
  valueBound(
    'MAX_ROOT_FIELDS',
    'top-level fields',
    { within: MAX_ROOT_FIELDS, beyond: MAX_ROOT_FIELDS + 1 },
    (world, count) => ask(world, `{ ${'__typename '.repeat(count)} }`),
    /more than 50 top-level fields/,
  ),
  valueBound(
    'MAX_ROOT_FIELDS',
    'top-level fields, counted wherever their fragment is spread',
    { within: MAX_ROOT_FIELDS / 2, beyond: MAX_ROOT_FIELDS / 2 + 1 },
    (world, count) => ask(world, `{ ...F ...F } fragment F on Query { ${'__typename '.repeat(count)} }`),
    /more than 50 top-level fields/,
  ),
  valueBound(
    'MAX_IDEMPOTENCY_KEY_CHARACTERS',
    'the Idempotency-Key header',
    { within: MAX_IDEMPOTENCY_KEY_CHARACTERS, beyond: MAX_IDEMPOTENCY_KEY_CHARACTERS + 1 },
    ({ admin, fresh }, length) =>
      admin
        .with({ 'Idempotency-Key': fresh().padEnd(length, 'é') })
        .ask(CREATE_USER, { input: { id: fresh() } }),
    /Idempotency-Key must be 1 to 255 characters/,
  ),
  valueBound(
    'MAX_IDEMPOTENCY_KEY_CHARACTERS',
    'the key of a usage event',
    { within: MAX_IDEMPOTENCY_KEY_CHARACTERS, beyond: MAX_IDEMPOTENCY_KEY_CHARACTERS + 1 },
    ({ admin, fresh }, length) =>
      admin.ask(RECORD_USAGE, {
        input: {
          userId: 'nobody',
          featureId: 'nothing',
          delta: 1,
          idempotencyKey: fresh().padEnd(length, '中'),
        },
      }),
    /idempotencyKey must be 1 to 255 characters/,
  ),
  {
    limit: 'MAX_REQUEST_ID_CHARACTERS',
    what: 'an X-Request-Id; a longer one is not taken over',
    works: async ({ admin }) => expect(await takesOver(admin, MAX_REQUEST_ID_CHARACTERS)).toBe(true),
    refused: async ({ admin }) => expect(await takesOver(admin, MAX_REQUEST_ID_CHARACTERS + 1)).toBe(false),
  },
  {
    limit: 'MAX_HEADER_BYTES',
    what: 'the headers; beyond it there is no request yet to answer with 200',
    works: async ({ url }) => expectAnswer(await withHeader(url, MAX_HEADER_BYTES - 1_024)),
    refused: async ({ url }) => {
      const { status } = await withHeader(url, MAX_HEADER_BYTES)
      if (status !== 431) throw new Error(`expected 431, got ${status}`)
    },
  },
]

function inChunks(url: string, text: string): Promise<Answer> {
  return post(url, {}, (send) => {
    const half = text.length >> 1
    send.write(text.slice(0, half))
    send.end(text.slice(half))
  })
}

async function takesOver(admin: Client, length: number): Promise<boolean> {
  const id = 'x'.repeat(length)
  const { headers } = await admin.with({ 'X-Request-Id': id }).post(body(100))
  return headers.get('x-request-id') === id
}

function withHeader(url: string, bytes: number): Promise<Answer> {
  return post(url, { 'X-Padding': 'x'.repeat(bytes) }, (send) => send.end(body(100)))
}

function post(
  url: string,
  headers: Record<string, string>,
  write: (send: ReturnType<typeof request>) => void,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const send = request(
      `${url}/graphql`,
      { method: 'POST', headers: { Authorization: API_KEY, ...headers } },
      (response) => {
        let text = ''
        response.on('data', (chunk: Buffer) => {
          text += chunk.toString()
        })
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, ...(text ? JSON.parse(text) : {}) }),
        )
      },
    )
    send.on('error', reject)
    write(send)
  })
}
