import { gzipSync } from 'node:zlib'
import type { ErrorCode } from '../../../src/domain/errors.ts'

/** A body, and what becomes of it: data, or an error with this code. */
export interface HostileBody {
  name: string
  body: string | Uint8Array<ArrayBuffer>
  code: 'data' | ErrorCode
  headers?: Record<string, string>
}

const DEEP = 10_000
const nest = (open: string, inner: string, close: string, levels = DEEP) =>
  open.repeat(levels) + inner + close.repeat(levels)
const times = (count: number, text: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => text(i)).join(' ')

const asking = (query: string, variables?: string) =>
  `{"query":${JSON.stringify(query)}${variables === undefined ? '' : `,"variables":${variables}`}}`
const FINE = asking('{ features { id } }')
const bytes = (body: Buffer): Uint8Array<ArrayBuffer> => new Uint8Array(body)

type Row = [name: string, body: HostileBody['body'], headers?: Record<string, string>]
const rows = (code: HostileBody['code'], table: Row[]): HostileBody[] =>
  table.map(([name, body, headers]) => ({ name, body, code, ...(headers && { headers }) }))

const UPDATE = 'mutation ($m: JSON) { updateUser(id: "u", input: { metadata: $m }) { metadata } }'
const RECORD =
  'mutation ($d: SafeInt!) { recordUsage(input: { userId: "u", featureId: "f", delta: $d }) { recorded } }'
const USER = 'query ($id: String!) { user(id: $id) { id } }'

/** Each spreads the next one twice: written out, there are 2^60 of the last. */
const BOMB = times(60, (i) => `fragment F${i} on Package { ${i < 59 ? `...F${i + 1} ...F${i + 1}` : 'id'} }`)
const CYCLE = times(90, (i) => `fragment F${i} on Package { id ...F${(i + 1) % 90} }`)
const MESH = times(
  30,
  (i) => `fragment F${i} on Package { ${times(9, (j) => `...F${(i * 7 + j * 3) % 30}`)} }`,
)

export const hostileBodies: HostileBody[] = [
  ...rows('BAD_REQUEST', [
    ['nothing', ''],
    ['white space', ' \n\t '],
    ...[
      'null',
      'true',
      '1',
      '"{ features { id } }"',
      '[]',
      `[${FINE}]`,
      '{}',
      '{"query":',
      'NaN',
      "{'query':''}",
    ].map((text): Row => [text, text]),
    ['a query that is a number', '{"query":1}'],
    ['a query that is an object', '{"query":{"length":1}}'],
    ['a blank query', '{"query":"  "}'],
    ['a query in the prototype', '{"__proto__":{"query":"{ features { id } }"}}'],
    ['an operationName that is a list', '{"query":"{ features { id } }","operationName":["a"]}'],
    ...['1', 'true', '[]', '"[]"', '"1"', '"{"', '"\\"{}\\""'].map(
      (text): Row => [`variables ${text}`, asking('{ features { id } }', text)],
    ),
    ['NUL between tokens of JSON', `{\u0000${FINE.slice(1)}`],
    ['NUL inside a string of JSON', FINE.replace('id', 'i\u0000d')],
    [
      'invalid UTF-8',
      bytes(Buffer.concat([Buffer.from('{"query":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')])),
    ],
    ['half a surrogate in UTF-8', bytes(Buffer.from(FINE.replace('id', 'i\xed\xa0\x80'), 'latin1'))],
    ['UTF-16', bytes(Buffer.from(`\ufeff${FINE}`, 'utf16le'))],
    ['brackets by the ten thousand', nest('[', '', ']')],
    ['brackets to the last byte, never closed', '['.repeat(1_000_000)],
    ['objects by the ten thousand, never closed', '{"a":'.repeat(DEEP)],
    ['a document of 600 KB', asking(`{ features { id } } #${'x'.repeat(600_000)}`)],
    ['gzip', bytes(gzipSync(FINE)), { 'Content-Encoding': 'gzip' }],
    ['a gzip bomb', bytes(gzipSync(Buffer.alloc(50_000_000))), { 'Content-Encoding': 'gzip' }],
    ['a gzip bomb that says nothing', bytes(gzipSync(Buffer.alloc(50_000_000)))],
    ['Brotli', FINE, { 'Content-Encoding': 'br' }],
    ['gzip in gzip', FINE, { 'Content-Encoding': 'gzip, gzip' }],
    ['a blank Idempotency-Key', FINE, { 'Idempotency-Key': ' ' }],
  ]),
  ...rows('GRAPHQL_PARSE_FAILED', [
    ['NUL in the document', asking('{ features\u0000 { id } }')],
    ['half a surrogate in the document', asking('{ features { id } } \ud800')],
    ['half a surrogate in a string', asking('{ user(id: "\ud800") { id } }')],
    ['half a surrogate, escaped', asking('{ user(id: "\\ud800") { id } }')],
    ['a code point past the last', asking('{ user(id: "\\u{110000}") { id } }')],
    ['selections by the ten thousand', asking(nest('{ a ', '', '}'))],
    ['lists by the ten thousand', asking(`{ user(id: ${nest('[', '', ']')}) { id } }`)],
    ['list types by the ten thousand', asking(`query ($a: ${nest('[', 'Int', ']')}) { features { id } }`)],
    ['objects by the ten thousand in metadata', asking(UPDATE.replace('$m }', `${nest('{a:', '1', '}')} }`))],
    ['tokens by the ten thousand', asking(`{ features { ${'id '.repeat(DEEP)} } }`)],
    ['brackets of the document', asking('{'.repeat(60_000))],
    ['aliases by the thousand', asking(`{ ${times(2_000, (i) => `a${i}:features{id}`)} }`)],
    ['directives by the thousand', asking(`{ features ${'@include(if: true) '.repeat(1_000)} { id } }`)],
    ['only a comment', asking(`#${'x'.repeat(60_000)}`)],
    ['lines by the ten thousand', asking(`{${'\n'.repeat(60_000)}`)],
    ['nothing but commas', asking(','.repeat(60_000))],
    ['a block string without end', asking(`{ user(id: """${'"'.repeat(60_000)}`)],
  ]),
  ...rows('GRAPHQL_VALIDATION_FAILED', [
    ['fragments that double 60 times', asking(`{ packages { ...F0 } } ${BOMB}`)],
    ['200 aliases', asking(`{ ${times(150, (i) => `a${i}: features { id }`)} }`)],
    ['fragments in a circle', asking(`{ packages { ...F0 } } ${CYCLE}`)],
    ['fragments all over each other', asking(`{ packages { ...F0 } } ${MESH}`)],
    ['fragments that nobody uses', asking(`{ features { id } } ${BOMB}`)],
    ['the same directive again and again', asking(`{ features ${'@skip(if: false) '.repeat(120)} { id } }`)],
    ['unknown directives', asking(`{ features ${times(400, (i) => `@d${i}`)} { id } }`)],
    ['variables that nobody uses', asking(`query (${times(200, (i) => `$a${i}: Int`)}) { features { id } }`)],
    ['operations of one name', asking('query A { features { id } } '.repeat(100))],
    [
      'a whole number that is none',
      asking('mutation { recordUsage(input: {userId: "u", featureId: "f", delta: 1e400}) { recorded } }'),
    ],
    ['a name of 60 KB', asking(`{ ${'x'.repeat(60_000)} }`)],
    [
      'an Int too large',
      asking('{ canUseFeature(userId: "u", featureId: "f", delta: 99999999999999999999) { access } }'),
    ],
  ]),
  ...rows('BAD_USER_INPUT', [
    [
      'infinite metadata in the document',
      asking(UPDATE.replace('$m }', '{ n: 1e400 } }').replace('($m: JSON) ', '')),
    ],
    ['infinite metadata', asking(UPDATE, '{"m":{"n":-1e400}}')],
    ['metadata by the ten thousand levels', asking(UPDATE, `{"m":${nest('{"a":', '1', '}')}}`)],
    ['metadata by the ten thousand lists', asking(UPDATE, `{"m":{"a":${nest('[', '1', ']')}}}`)],
    ['metadata that is a list', asking(UPDATE, '{"m":[]}')],
    ['metadata that is a string', asking(UPDATE, '{"m":"{}"}')],
    ['a delta past all numbers', asking(RECORD, '{"d":1e400}')],
    ['a delta with a fraction', asking(RECORD, '{"d":0.5}')],
    ['a delta in words', asking(RECORD, '{"d":"NaN"}')],
    ['a delta of many digits', asking(RECORD, '{"d":99999999999999999999}')],
    ['an id of many levels', asking(USER, `{"id":${nest('[', '1', ']')}}`)],
    ['an id that is an object', asking(USER, '{"id":{"toString":"x"}}')],
    [
      'a variable from the prototype',
      asking('query ($constructor: String!) { user(id: $constructor) { id } }', '{}'),
    ],
    [
      'an input with another prototype',
      asking(
        'mutation ($i: UpdateUserInput!) { updateUser(id: "u", input: $i) { id } }',
        '{"i":{"__proto__":{"name":"x"}}}',
      ),
    ],
    [
      'fields by the ten thousand that no input has',
      asking(
        'mutation ($i: CreateUserInput!) { createUser(input: $i) { id } }',
        `{"i":{${Array.from({ length: 80_000 }, (_, i) => `"a${i}":1`).join()}}}`,
      ),
    ],
    [
      'wrong values by the ten thousand',
      asking(
        'query ($ids: [String!]!) { canUseFeatures(userId: "u", featureIds: $ids) { access } }',
        `{"ids":[${'{},'.repeat(200_000)}1]}`,
      ),
    ],
    ['an operation that is not there', '{"query":"query A { features { id } }","operationName":"__proto__"}'],
    ['a subscription', asking('subscription { features { id } }')],
  ]),
  ...rows('USER_NOT_FOUND', [
    ['NUL in a string of the document', asking('{ user(id: "\u0000") { id } }')],
    ['NUL in a variable', asking(USER, '{"id":"\\u0000"}')],
  ]),
  ...rows('data', [
    ['a byte order mark', bytes(Buffer.from(`\ufeff${FINE}`))],
    [
      'keys of the prototype beside the query',
      `{"__proto__":{"a":1},"constructor":{"prototype":{"a":1}},${FINE.slice(1)}`,
    ],
    ['ten thousand levels where nobody looks', `{"x":${nest('[', '', ']')},${FINE.slice(1)}`],
    [
      'ten thousand levels in a variable that is not declared',
      asking('{ features { id } }', `{"x":${nest('[', '', ']')}}`),
    ],
    ['a body that says it is text', FINE, { 'Content-Type': 'text/plain' }],
    ['a body of an unknown type', FINE, { 'Content-Type': 'application/x-unknown; charset=utf-7' }],
    ['identity', FINE, { 'Content-Encoding': 'identity' }],
    ['minus nothing', asking(RECORD, '{"d":-0}')],
    [
      'NUL and half a surrogate in metadata',
      asking(UPDATE, '{"m":{"\\u0000":"\\u0000","\\ud800":["\\udc00"]}}'),
    ],
    [
      'keys of the prototype in metadata',
      asking(UPDATE, '{"m":{"__proto__":{"a":1},"constructor":{"prototype":1}}}'),
    ],
    ['answers named like the prototype', asking('{ __proto__: users { __proto__: id constructor: name } }')],
    [
      'a variable named like the prototype',
      asking('query ($__proto__: String) { users(after: $__proto__) { id } }', '{}'),
    ],
  ]),
]
