import {
  buildSchema,
  type GraphQLArgument,
  type GraphQLEnumType,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
} from 'graphql'
import { blocks, code, table, text } from './markdown.ts'

type Api = 'admin' | 'client' | 'dashboard'

const INTRODUCTIONS: Record<Api, { title: string; about: string }> = {
  admin: {
    title: 'Admin API',
    about: `The API of your backend: \`POST /graphql\`, with an API key in \`Authorization\`.
Every POST gets status 200; errors are in \`errors\` ([errors](/reference/errors.md)). A mutation with an \`Idempotency-Key\` header takes effect
once ([idempotency](/concepts/consistency.md#idempotency)).`,
  },
  client: {
    title: 'Client API',
    about: `The API of a page: \`POST /client/graphql\`, with a [user token](/concepts/user-tokens.md) in \`Authorization\`. Every operation is about
the user of the token. It cannot record usage.`,
  },
  dashboard: {
    title: 'Dashboard API',
    about: `The API of the dashboard: \`POST /dashboard/graphql\`, with the cookie that \`signIn\` sets, from the same origin. Use it to script
actions that the Admin API does not have, such as publishing a package.`,
  },
}

/** The reference of one GraphQL schema. */
export function graphqlPage(api: Api, sdl: string): string {
  const schema = buildSchema(sdl)
  const { title, about } = INTRODUCTIONS[api]
  const roots = [schema.getQueryType(), schema.getMutationType()].filter((type) => type != null)
  const types = Object.values(schema.getTypeMap())
    .filter((type) => !type.name.startsWith('__') && !isSpecifiedScalarType(type))
    .filter((type) => !roots.some((root) => root === type))
    .sort((a, b) => a.name.localeCompare(b.name))
  const group = (heading: string, of: (type: GraphQLNamedType) => boolean) => {
    const members = types.filter(of)
    return members.length === 0 ? [] : [`## ${heading}`, ...members.map(typeSection)]
  }
  return blocks(
    `# ${title}`,
    about,
    ...operations('Queries', schema.getQueryType()),
    ...operations('Mutations', schema.getMutationType()),
    ...group('Objects', isObjectType),
    ...group('Inputs', isInputObjectType),
    ...group('Enums', isEnumType),
    ...group('Scalars', isScalarType),
  )
}

function operations(heading: string, type: GraphQLObjectType | null | undefined): string[] {
  if (!type) return []
  return [`## ${heading}`, ...Object.values(type.getFields()).map(operationSection)]
}

const operationSection = (field: GraphQLField<unknown, unknown>): string =>
  blocks(
    `### ${field.name} {#${field.name.toLowerCase()}}`,
    text(field.description ?? ''),
    `Returns ${typeLink(field)}.`,
    inputs('Argument', field.args),
  ).trimEnd()

function typeSection(type: GraphQLNamedType): string {
  const heading = `### ${type.name} {#${anchor(type)}}`
  const about = text(type.description ?? '')
  if (isObjectType(type)) {
    const rows = Object.values(type.getFields()).map((field) => [
      code(field.name),
      typeLink(field),
      text(field.description ?? ''),
    ])
    return blocks(heading, about, table(['Field', 'Type', 'Description'], rows)).trimEnd()
  }
  if (isInputObjectType(type))
    return blocks(heading, about, inputs('Field', Object.values(type.getFields()))).trimEnd()
  if (isEnumType(type)) return blocks(heading, about, values(type)).trimEnd()
  return blocks(heading, about).trimEnd()
}

function values(type: GraphQLEnumType): string {
  const all = type.getValues()
  if (all.every(({ description }) => !description)) return all.map(({ name }) => code(name)).join(', ')
  return table(
    ['Value', 'Description'],
    all.map(({ name, description }) => [code(name), text(description ?? '')]),
  )
}

const inputs = (heading: string, fields: readonly (GraphQLArgument | GraphQLInputField)[]): string =>
  table(
    [heading, 'Type', 'Default', 'Description'],
    fields.map((field) => [
      code(field.name),
      typeLink(field),
      defaultOf(field),
      text(field.description ?? ''),
    ]),
  )

function defaultOf({ type, defaultValue }: GraphQLArgument | GraphQLInputField): string {
  if (defaultValue === undefined) return ''
  return code(isEnumType(getNamedType(type)) ? String(defaultValue) : JSON.stringify(defaultValue))
}

/** Types have a prefix, because an operation and a type may have the same name. */
const anchor = (type: GraphQLNamedType): string => `type-${type.name.toLowerCase()}`

function typeLink({
  type,
}: {
  type: GraphQLArgument['type'] | GraphQLField<unknown, unknown>['type']
}): string {
  const named = getNamedType(type)
  return isSpecifiedScalarType(named) ? code(String(type)) : `[${code(String(type))}](#${anchor(named)})`
}
