import { readFileSync } from 'node:fs'
import { buildSchema, type GraphQLSchema, getNamedType, isNonNullType, isObjectType } from 'graphql'

const NAMES: Record<string, string> = {
  '/graphql': 'admin',
  '/dashboard/admin/graphql': 'admin',
  '/client/graphql': 'client',
  '/dashboard/graphql': 'dashboard',
}

const schemas = new Map<string, GraphQLSchema>()

/** The committed schema of an API, by the path of its endpoint. */
function schemaAt(path: string): GraphQLSchema {
  const name = NAMES[path]
  if (!name) throw new Error(`no schema for ${path}`)
  const known = schemas.get(name)
  if (known) return known
  const text = readFileSync(new URL(`../../schema/${name}.graphql`, import.meta.url), 'utf8')
  const schema = buildSchema(text)
  schemas.set(name, schema)
  return schema
}

/**
 * A document with one field, whose arguments are variables of the same names. `ofApp` is the `appId` of a field that requires
 * one, unless it is given. Without a selection, of a field that needs one, the document selects the name of the type.
 */
export function documentOf(
  path: string,
  [field, selection]: [field: string, selection: string],
  args: Record<string, unknown>,
  ofApp: string | null,
): { document: string; variables: Record<string, unknown> } {
  const schema = schemaAt(path)
  for (const root of [schema.getQueryType(), schema.getMutationType()]) {
    const found = root?.getFields()[field]
    if (!found) continue
    const typeOf = (name: string) => found.args.find((arg) => arg.name === name)?.type
    const adds = ofApp !== null && isNonNullType(typeOf('appId'))
    const variables: Record<string, unknown> = { ...(adds && { appId: ofApp }), ...args }
    const names = Object.keys(variables).filter((name) => variables[name] !== undefined)
    const declared = names.map((name) => `$${name}: ${typeOf(name) ?? 'String'}`).join(', ')
    const passed = names.map((name) => `${name}: $${name}`).join(', ')
    const within = (text: string) => (text === '' ? '' : `(${text})`)
    const selected = selection || (isObjectType(getNamedType(found.type)) ? '{ __typename }' : '')
    const document = `${root?.name.toLowerCase()} ${within(declared)} { ${field}${within(passed)} ${selected} }`
    return { document, variables }
  }
  throw new Error(`no operation ${field} at ${path}`)
}
