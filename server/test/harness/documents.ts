import { readFileSync } from 'node:fs'
import { buildSchema, type GraphQLSchema, getNamedType, isObjectType } from 'graphql'

const schemas = new Map<string, GraphQLSchema>()

/** The committed schema of an API, by the path of its endpoint. */
function schemaAt(path: string): GraphQLSchema {
  const name = { '/graphql': 'admin', '/client/graphql': 'client', '/dashboard/graphql': 'dashboard' }[path]
  if (!name) throw new Error(`no schema for ${path}`)
  const known = schemas.get(name)
  if (known) return known
  const text = readFileSync(new URL(`../../schema/${name}.graphql`, import.meta.url), 'utf8')
  const schema = buildSchema(text)
  schemas.set(name, schema)
  return schema
}

/**
 * A document with one field, whose arguments are variables of the same names. Without a selection, of a field that needs
 * one, it selects the name of the type.
 */
export function documentOf(path: string, field: string, selection: string, args: readonly string[]): string {
  const schema = schemaAt(path)
  for (const root of [schema.getQueryType(), schema.getMutationType()]) {
    const found = root?.getFields()[field]
    if (!found) continue
    const typeOf = (name: string) => found.args.find((arg) => arg.name === name)?.type ?? 'String'
    const declared = args.map((name) => `$${name}: ${typeOf(name)}`).join(', ')
    const passed = args.map((name) => `${name}: $${name}`).join(', ')
    const within = (text: string) => (text === '' ? '' : `(${text})`)
    const selected = selection || (isObjectType(getNamedType(found.type)) ? '{ __typename }' : '')
    return `${root?.name.toLowerCase()} ${within(declared)} { ${field}${within(passed)} ${selected} }`
  }
  throw new Error(`no operation ${field} at ${path}`)
}
