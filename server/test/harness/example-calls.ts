import {
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isRequiredArgument,
} from 'graphql'
import type { Variables } from './client.ts'

/** One operation of a schema as a caller would send it. */
export interface ExampleCall {
  name: string
  query: string
  variables: Variables
  /** the arguments that may be left out */
  optional: string[]
}

/** Every operation there is, with variables that fit their types: a new one is found without a word here. */
export function exampleCalls(schema: GraphQLSchema, values: Record<string, unknown> = {}): ExampleCall[] {
  const calls = (kind: string, fields: Record<string, GraphQLField<unknown, unknown>> = {}) =>
    Object.values(fields).map(({ name, args, type }) => {
      const declared = args.map((arg) => `$${arg.name}: ${arg.type}`).join(', ')
      const passed = args.map((arg) => `${arg.name}: $${arg.name}`).join(', ')
      const selection = isLeafType(getNamedType(type)) ? '' : ' { __typename }'
      const call = args.length > 0 ? `${name}(${passed})` : name
      return {
        name,
        query: `${kind} ${declared && `(${declared})`} { ${call}${selection} }`,
        variables: Object.fromEntries(args.map((arg) => [arg.name, exampleOf(arg.name, arg.type, values)])),
        optional: args.filter((arg) => !isRequiredArgument(arg)).map((arg) => arg.name),
      }
    })
  return [
    ...calls('query', schema.getQueryType()?.getFields()),
    ...calls('mutation', schema.getMutationType()?.getFields()),
  ]
}

/** What `values` has under that name, or something of the type and form; of an enum always a value of its own. */
function exampleOf(name: string, type: GraphQLInputType, values: Record<string, unknown>): unknown {
  const nullable = getNullableType(type)
  if (isEnumType(nullable)) return nullable.getValues()[0]?.name
  if (name in values) return values[name]
  if (name === 'entity') return 'team:7'
  if (name === 'entities') return ['team:7']
  // A revert says nothing else.
  if (name === 'revertOf') return null
  if (isListType(nullable)) return [exampleOf('', nullable.ofType, values)]
  if (isInputObjectType(nullable)) {
    const fields = Object.values(nullable.getFields())
    return Object.fromEntries(fields.map((field) => [field.name, exampleOf(field.name, field.type, values)]))
  }
  const scalars: Record<string, unknown> = { Boolean: false, Int: 1, SafeInt: 1, JSON: { key: 'x' } }
  return scalars[String(nullable)] ?? 'x'
}

/** The same variables again and again, each time with another of their strings, or keys of JSON, replaced. */
export function replacements(variables: Variables, nasty: string): Variables[] {
  const found: Variables[] = []
  const visit = (value: unknown, rebuild: (changed: unknown) => unknown): void => {
    if (typeof value === 'string') found.push(rebuild(nasty) as Variables)
    else if (Array.isArray(value)) visit(value[0], (changed) => rebuild([changed]))
    else if (typeof value === 'object' && value !== null) {
      for (const [key, child] of Object.entries(value)) {
        visit(child, (changed) => rebuild({ ...value, [key]: changed }))
        if (key === 'key') found.push(rebuild({ [nasty]: child }) as Variables)
      }
    }
  }
  visit(variables, (changed) => changed)
  return found
}
