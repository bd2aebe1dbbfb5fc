import fc from 'fast-check'
import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLObjectType,
  getNamedType,
  isObjectType,
} from 'graphql'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { adminSchema } from '../src/graphql/admin.ts'
import type { Variables } from './harness/client.ts'
import { fourTimes, isCompiled, written } from './harness/differential.ts'
import { furnish } from './harness/furnished.ts'
import { startTestServer, type TestServer } from './harness/server.ts'

// Whatever may be asked is answered alike by graphql-js and by compiled code.

const schema = adminSchema()
const query = schema.getQueryType() as GraphQLObjectType

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
  await furnish(server)
})
afterAll(() => server.stop())

/** A piece of a document, and the variables that it uses. */
interface Piece {
  text: string
  declared: string[]
  values: Variables
}

const plain = (text: string): Piece => ({ text, declared: [], values: {} })

function joined(pieces: readonly Piece[], around: (text: string) => string): Piece {
  return {
    text: around(pieces.map(({ text }) => text).join(' ')),
    declared: pieces.flatMap(({ declared }) => declared),
    values: Object.assign({}, ...pieces.map(({ values }) => values)),
  }
}

const VALUES: Record<string, unknown[]> = {
  String: ['ann', 'bob', 'calls', 'seats', 'export', 'plan', 'DRAFT', 'none', '', null, 7],
  Int: [0, 1, 3, 100, -1, null, 'x'],
  Boolean: [true, false, null],
}

let names = 0

/** One argument: left out where it may be, from a variable, or written out. */
function argument(arg: GraphQLArgument): fc.Arbitrary<Piece> {
  const named = String(getNamedType(arg.type))
  const list = String(arg.type).startsWith('[')
  const one = fc.constantFrom(...(VALUES[named] ?? [null]))
  const value = list ? fc.oneof(fc.array(one, { maxLength: 3 }), one) : one
  const variable = fc.option(value, { nil: undefined }).map((given): Piece => {
    const name = `v${++names}`
    return {
      text: `${arg.name}: $${name}`,
      declared: [`$${name}: ${arg.type}`],
      values: given === undefined ? {} : { [name]: given },
    }
  })
  const literal = value.map((given) => plain(`${arg.name}: ${JSON.stringify(given)}`))
  const absent = fc.constant(plain(''))
  const required = String(arg.type).endsWith('!')
  return fc.oneof({ weight: 8, arbitrary: variable }, literal, required ? variable : absent)
}

function selection(type: GraphQLObjectType, depth: number): fc.Arbitrary<Piece> {
  const fields = fc.constantFrom(...Object.values(type.getFields())).chain((f) => field(f, depth))
  const inline = selectionOnce(type, depth).map((piece) =>
    joined([piece], (text) => `... on ${type} ${text}`),
  )
  const part = fc.oneof(
    { weight: 20, arbitrary: fields },
    { weight: 1, arbitrary: fc.constant(plain('__typename')) },
    { weight: depth > 0 ? 2 : 0, arbitrary: inline },
  )
  return fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => joined(parts, (text) => `{ ${text} }`))
}

function selectionOnce(type: GraphQLObjectType, depth: number): fc.Arbitrary<Piece> {
  return fc
    .constantFrom(...Object.values(type.getFields()))
    .chain((f) => field(f, depth))
    .map((piece) => joined([piece], (text) => `{ ${text} }`))
}

function field(of: GraphQLField<unknown, unknown>, depth: number): fc.Arbitrary<Piece> {
  const type = getNamedType(of.type)
  const inner = isObjectType(type) ? selection(type, depth - 1) : fc.constant(plain(''))
  const alias = fc.option(
    fc.constantFrom('a', 'then', 'constructor', 'toString', 'with_score', '__proto__'),
    {
      freq: 4,
      nil: null,
    },
  )
  const skipped = fc.constantFrom('', '', '', '', '', '', '', '', '@skip(if: true)', '@include(if: true)')
  return fc
    .tuple(alias, fc.tuple(...of.args.map(argument)), skipped, inner)
    .map(([alias, args, directive, inner]) => {
      // Two fields of one name must be the same field: a number of its own keeps an alias from being refused.
      const own = alias === '__proto__' ? alias : `${alias}${++names}`
      const given = args.filter(({ text }) => text !== '')
      const start = `${alias === null ? '' : `${own}: `}${of.name}`
      return joined(
        [
          given.length > 0 ? joined(given, (text) => `${start}(${text})`) : plain(start),
          plain(directive),
          inner,
        ],
        (text) => text,
      )
    })
}

it('spec §4: any query that keeps coming is answered as before', async () => {
  let compiled = 0
  let accepted = 0
  await fc.assert(
    fc.asyncProperty(selection(query, 4), async ({ text, declared, values }) => {
      const document = `query ${declared.length > 0 ? `(${declared.join(', ')})` : ''} ${text}`
      const [, second, , fourth] = await fourTimes(server.admin, document, () => values)
      const usesCompiled = second?.data !== undefined && isCompiled(schema, document)
      if (second?.data !== undefined) accepted++
      if (usesCompiled) compiled++
      // graphql-js drops what fails after the whole answer is lost: how much that is, is a matter of luck.
      const lost = second?.data === null && !usesCompiled
      if (lost) expect(fourth?.data).toBeNull()
      else expect(written(fourth)).toBe(written(second))
    }),
    { numRuns: 250 },
  )
  expect(accepted).toBeGreaterThan(50)
  expect(compiled).toBeGreaterThan(25)
})
