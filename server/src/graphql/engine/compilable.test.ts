import fc from 'fast-check'
import {
  type ExecutionResult,
  execute,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLObjectType,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  parse,
  validate,
} from 'graphql'
import { expect, it } from 'vitest'
import { badUserInput } from '../../domain/errors.ts'
import { buildAdminSchema } from '../admin/schema.ts'
import { Executable } from './executable.ts'

// For any document, compiled code and graphql-js call the resolvers with the same arguments and turn what these return
// or throw into the same answer.

let calledCompiled = false
const schema = tracingSchema()

/** The Admin API with resolvers that return their arguments, and fail on the text "fail". */
function tracingSchema() {
  const schema = buildAdminSchema()
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue
    for (const field of Object.values(type.getFields())) {
      field.resolve = (source: { trace: string } | undefined, args, _context, { path }) => {
        // Only graphql-js includes the type of each step in a path.
        calledCompiled ||= path.typename === undefined
        const trace = `${source?.trace ?? ''}/${field.name}${sortedJson(args)}`
        if (trace.includes('fail')) {
          if (trace.length % 2 === 0) throw badUserInput(trace)
          return Promise.reject(badUserInput(trace))
        }
        const one = leafOf(field, trace) ?? { trace }
        const value = isListType(getNullableType(field.type)) ? [one, one] : one
        return trace.length % 3 === 0 ? Promise.resolve(value) : value
      }
    }
  }
  return schema
}

function leafOf(field: GraphQLField<unknown, unknown>, trace: string): unknown {
  const type = getNamedType(field.type)
  if (isEnumType(type)) return type.getValues()[0]?.value
  const leaves: Record<string, unknown> = { String: trace, Boolean: true, Float: 2.5, Int: 7, SafeInt: 8 }
  return type.name === 'JSON' ? { trace } : leaves[type.name]
}

const byName = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1)

const sortedJson = (value: unknown) =>
  JSON.stringify(value, (_, inner) =>
    inner && typeof inner === 'object' && !Array.isArray(inner) ? Object.entries(inner).sort(byName) : inner,
  )

/** A piece of a document, and the variables it uses. */
interface Piece {
  text: string
  declared: string[]
  values: Record<string, unknown>
}

const plain = (text: string): Piece => ({ text, declared: [], values: {} })

function joined(pieces: readonly Piece[], around: (text: string) => string): Piece {
  return {
    text: around(pieces.map(({ text }) => text).join(' ')),
    declared: pieces.flatMap(({ declared }) => declared),
    values: Object.assign({}, ...pieces.map(({ values }) => values)),
  }
}

// Two variables or aliases of one name must agree: numbering them keeps documents valid.
let numbers = 0

const SCALARS: Record<string, unknown[]> = {
  String: ['ann', 'fail', ''],
  Int: [0, 3, -1],
  SafeInt: [0, 2 ** 40, -1],
  Boolean: [true, false],
  JSON: [{}, { a: [1, null, { b: 'c' }] }],
}

/** A valid value for a variable. */
function fitting(type: GraphQLInputType): fc.Arbitrary<unknown> {
  if (isListType(type)) {
    const item = presentOf(type.ofType)
    return fc.oneof(fc.array(item, { maxLength: 3 }), item)
  }
  if (isEnumType(type)) return fc.constantFrom(...type.getValues().map(({ name }) => name))
  if (!isInputObjectType(type)) return fc.constantFrom(...(SCALARS[String(type)] ?? []))
  const fields = Object.values(type.getFields())
  const required = fields.filter((field) => isNonNullType(field.type)).map(({ name }) => name)
  return fc.record(Object.fromEntries(fields.map((field) => [field.name, presentOf(field.type)])), {
    requiredKeys: required,
  })
}

/** Mostly a valid one. */
function presentOf(type: GraphQLInputType): fc.Arbitrary<unknown> {
  const misfit = { weight: 1, arbitrary: fc.constantFrom<unknown>(null, 'odd', 1.5, [], {}) }
  const fits = { weight: 40, arbitrary: fitting(getNullableType(type)) }
  return isNonNullType(type)
    ? fc.oneof(fits, misfit)
    : fc.oneof(fits, misfit, { weight: 4, arbitrary: fc.constant(null) })
}

/** A variable that is given, or omitted where allowed. */
function variable(type: GraphQLInputType): fc.Arbitrary<Piece> {
  const given = fc.option(presentOf(type), { freq: isNonNullType(type) ? 30 : 4, nil: undefined })
  return given.map((value) => {
    const name = `v${++numbers}`
    return {
      text: `$${name}`,
      declared: [`$${name}: ${type}`],
      values: value === undefined ? {} : { [name]: value },
    }
  })
}

/** A value written into the document, with variables inside. */
function literal(type: GraphQLInputType): fc.Arbitrary<Piece> {
  const inner = getNullableType(type)
  if (isListType(inner)) {
    const items = fc.array(argumentValue(inner.ofType), { maxLength: 2 })
    return items.map((pieces) => joined(pieces, (text) => `[${text}]`))
  }
  if (isInputObjectType(inner)) {
    const fields = Object.values(inner.getFields()).map((field) => {
      const given = argumentValue(field.type).map((piece) =>
        joined([piece], (text) => `${field.name}: ${text}`),
      )
      return isNonNullType(field.type) ? given : fc.oneof(given, fc.constant(plain('')))
    })
    return fc.tuple(...fields).map((pieces) => joined(pieces, (text) => `{ ${text} }`))
  }
  if (isEnumType(inner)) return fc.constantFrom(...inner.getValues().map(({ name }) => plain(name)))
  if (inner.name === 'JSON') return fc.constantFrom(plain('{ a: 1, b: [x, null] }'), plain('{}'))
  return fc.constantFrom(...(SCALARS[inner.name] ?? [])).map((value) => plain(JSON.stringify(value)))
}

const argumentValue = (type: GraphQLInputType): fc.Arbitrary<Piece> =>
  fc.oneof({ weight: 4, arbitrary: variable(type) }, { weight: 1, arbitrary: literal(type) })

function selection(type: GraphQLObjectType, most: number): fc.Arbitrary<Piece> {
  const one = fc.constantFrom(...Object.values(type.getFields())).chain(field)
  const part = fc.oneof(
    { weight: 20, arbitrary: one },
    { weight: 1, arbitrary: fc.constant(plain('__typename')) },
    { weight: 1, arbitrary: one.map((piece) => joined([piece], (text) => `... on ${type} { ${text} }`)) },
  )
  return fc
    .array(part, { minLength: 1, maxLength: most })
    .map((parts) => joined(parts, (text) => `{ ${text} }`))
}

const rarely = <Usual, Rare>(weight: number, usual: Usual[], rare: Rare[]) =>
  fc.oneof(
    { weight, arbitrary: fc.constantFrom(...usual) },
    { weight: 1, arbitrary: fc.constantFrom(...rare) },
  )

function field(of: GraphQLField<unknown, unknown>): fc.Arbitrary<Piece> {
  const type = getNamedType(of.type)
  const inner = isObjectType(type) ? selection(type, 3) : fc.constant(plain(''))
  const alias = rarely(4, [null], ['a', 'then', 'constructor', 'toString', 'with_score', '__proto__'])
  const directive = rarely(30, [''], ['@skip(if: true)', '@include(if: true)'])
  const args = of.args.map((arg) =>
    argumentValue(arg.type).map((piece) => joined([piece], (text) => `${arg.name}: ${text}`)),
  )
  return fc.tuple(alias, fc.tuple(...args), directive, inner).map(([alias, args, directive, inner]) => {
    const own = alias === '__proto__' ? alias : `${alias ?? 'f'}${++numbers}`
    const called =
      args.length > 0 ? joined(args, (text) => `${own}: ${of.name}(${text})`) : plain(`${own}: ${of.name}`)
    return joined([called, plain(directive), inner], (text) => text)
  })
}

/** As text, so that the order of keys counts; the order of several errors is arbitrary. */
const written = ({ data, errors }: ExecutionResult) =>
  JSON.stringify({ data, errors: errors?.map((error) => JSON.stringify(error)).sort() }, null, 1)

it.each([
  { root: 'query', type: schema.getQueryType() },
  { root: 'mutation', type: schema.getMutationType() },
])('spec §4: any $root is executed alike, compiled or not', async ({ root, type }) => {
  if (!type) throw new Error(`there is no ${root}`)
  let compiled = 0
  await fc.assert(
    fc.asyncProperty(selection(type, 2), async ({ text, declared, values }) => {
      const document = parse(`${root} ${declared.length > 0 ? `(${declared.join(', ')})` : ''} ${text}`)
      if (validate(schema, document).length > 0) return
      const executable = new Executable(schema, document)
      const options = { maxCoercionErrors: 1 }
      const expected = written(await execute({ schema, document, variableValues: values, options }))
      calledCompiled = false
      for (let use = 1; use <= 3; use++)
        expect(written(await executable.run({}, values, null))).toBe(expected)
      if (calledCompiled) compiled++
    }),
    { numRuns: 250 },
  )
  expect(compiled).toBeGreaterThan(25)
})
