import { type GraphQLObjectType, type GraphQLSchema, getNamedType, isObjectType } from 'graphql'

export type Root = 'query' | 'mutation'

/** The names of all operations of a schema: a table of tests that lacks one of them is out of date. */
export function operationNames(schema: GraphQLSchema, root: Root): string[] {
  return Object.keys(rootOf(schema, root).getFields())
}

/** None, if the schema does not have the operation. */
export const argumentNames = (schema: GraphQLSchema, root: Root, name: string): string[] =>
  rootOf(schema, root)
    .getFields()
    [name]?.args.map((arg) => arg.name) ?? []

const documents = new WeakMap<GraphQLSchema, Map<string, string>>()

/** An operation that selects every field there is and takes every argument from a variable of the same name. */
export function wholeOperation(schema: GraphQLSchema, root: Root, name: string): string {
  const known = documents.get(schema) ?? new Map<string, string>()
  documents.set(schema, known)
  const document = known.get(`${root} ${name}`) ?? writtenOut(schema, root, name)
  known.set(`${root} ${name}`, document)
  return document
}

function writtenOut(schema: GraphQLSchema, root: Root, name: string): string {
  const field = rootOf(schema, root).getFields()[name]
  if (!field) throw new Error(`there is no ${root} ${name}`)
  const declared = field.args.map((arg) => `$${arg.name}: ${arg.type}`).join(', ')
  const passed = field.args.map((arg) => `${arg.name}: $${arg.name}`).join(', ')
  const within = (text: string) => (text === '' ? '' : `(${text})`)
  const type = getNamedType(field.type)
  return `${root} ${within(declared)} { ${name}${within(passed)} ${isObjectType(type) ? wholeSelection(type) : ''} }`
}

function wholeSelection(type: GraphQLObjectType): string {
  const fields = Object.values(type.getFields()).map((field) => {
    const inner = getNamedType(field.type)
    return isObjectType(inner) ? `${field.name} ${wholeSelection(inner)}` : field.name
  })
  return `{ __typename ${fields.join(' ')} }`
}

function rootOf(schema: GraphQLSchema, root: Root): GraphQLObjectType {
  const type = root === 'query' ? schema.getQueryType() : schema.getMutationType()
  if (!type) throw new Error(`the schema has no ${root}`)
  return type
}
