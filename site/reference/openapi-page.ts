import { blocks, code, table, text } from './markdown.ts'

/** The part of OpenAPI 3.1 that the page shows. */
export interface OpenApi {
  info?: { description?: string }
  paths: Record<string, Record<string, Operation>>
  components?: { schemas?: Record<string, Schema>; parameters?: Record<string, Parameter> }
}

interface Operation {
  operationId?: string
  tags?: string[]
  'x-tollgate-scope'?: string
  summary?: string
  description?: string
  parameters?: (Parameter | Reference)[]
  requestBody?: Body | Reference
  responses?: Record<string, Response | Reference>
}

interface Reference {
  $ref: string
}

interface Parameter {
  name: string
  in: string
  required?: boolean
  description?: string
  schema?: Schema
}

interface Body {
  content?: Record<string, { schema?: Schema }>
}

interface Response extends Body {
  description?: string
}

interface Schema {
  $ref?: string
  type?: string | string[]
  description?: string
  enum?: unknown[]
  const?: unknown
  default?: unknown
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  oneOf?: Schema[]
  anyOf?: Schema[]
  allOf?: Schema[]
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete']

/** The reference of the REST API. */
export function openapiPage(document: OpenApi): string {
  const routes = Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method]
      return operation ? [{ name: `${method.toUpperCase()} ${path}`, operation }] : []
    }),
  )
  const tagOf = ({ operation }: { operation: Operation }) => operation.tags?.[0] ?? 'Routes'
  const tags = [...new Set(routes.map(tagOf))]
  const schemas = Object.entries(document.components?.schemas ?? {}).sort(([a], [b]) => a.localeCompare(b))
  return blocks(
    '# REST API',
    ...(document.info?.description ?? '').split(/\n{2,}/).map(text),
    'The same document as JSON, for tools: `GET /v1/openapi.json`, which needs no key.',
    ...tags.flatMap((tag) => [
      `## ${tag} {#tag-${anchorOf(tag)}}`,
      ...routes
        .filter((route) => tagOf(route) === tag)
        .map(({ name, operation }) => operationSection(name, operation, document)),
    ]),
    ...(schemas.length === 0 ? [] : ['## Schemas', ...schemas.map(schemaSection)]),
  )
}

function operationSection(name: string, operation: Operation, document: OpenApi): string {
  const { operationId, summary = '', description = '' } = operation
  const parameters = (operation.parameters ?? []).map((one) => resolved<Parameter>(one, document))
  const body = operation.requestBody && resolved<Body>(operation.requestBody, document)
  const responses = Object.entries(operation.responses ?? {})
  const succeeds = responses.filter(([status]) => Number(status) < 400)
  const fails = responses.filter(([status]) => Number(status) >= 400)
  const scope = operation['x-tollgate-scope']
  return blocks(
    `### ${code(name)} {#${anchorOf(operationId ?? name)}}`,
    text(description || (operationId === undefined ? summary : '')),
    [
      operationId === undefined ? '' : `In GraphQL: ${code(operationId)}.`,
      scope === undefined || scope === 'ANY' ? '' : `Scope of the key: ${code(scope)}.`,
    ]
      .join(' ')
      .trim(),
    table(
      ['Parameter', 'In', 'Type', 'Description'],
      parameters.map((one) => [
        code(one.name),
        one.in,
        typeOf(one.schema) + (one.required ? ', required' : ''),
        text(one.description ?? one.schema?.description ?? ''),
      ]),
    ),
    bodyOf(body),
    ...succeeds.map(([status, one]) => {
      const type = typeOf(schemaOf(resolved<Response>(one, document)))
      return `Answers ${status}${type === '' ? '' : ` with ${type}`}.`
    }),
    fails.length === 0 ? '' : `Errors: ${fails.map(([status]) => status).join(', ')}.`,
  ).trimEnd()
}

/** The body's fields, or the name of its schema. */
function bodyOf(body: Body | undefined): string {
  const schema = schemaOf(body)
  if (!schema) return ''
  if (schema.$ref) return `Body: ${typeOf(schema)}.`
  return fields(schema)
}

function schemaSection([name, schema]: [string, Schema]): string {
  const values = schema.enum ? schema.enum.map((value) => code(String(value))).join(', ') : ''
  const isPlain = !schema.properties && !schema.enum
  return blocks(
    `### ${name} {#${schemaAnchor(name)}}`,
    text(schema.description ?? ''),
    values,
    fields(schema),
    isPlain ? typeOf(schema) : '',
  ).trimEnd()
}

const fields = (schema: Schema): string =>
  table(
    ['Field', 'Type', 'Description'],
    Object.entries(schema.properties ?? {}).map(([name, field]) => [
      code(name),
      typeOf(field) + (schema.required?.includes(name) ? ', required' : ''),
      text(
        [
          field.description ?? '',
          field.default === undefined ? '' : `Default: ${JSON.stringify(field.default)}.`,
        ]
          .filter((part) => part !== '')
          .join(' '),
      ),
    ]),
  )

function typeOf(schema: Schema | undefined): string {
  if (!schema) return ''
  if (schema.$ref) {
    const name = nameOf(schema.$ref)
    return `[${code(name)}](#${schemaAnchor(name)})`
  }
  const choices = schema.oneOf ?? schema.anyOf ?? schema.allOf
  if (choices) return choices.map(typeOf).join(schema.allOf ? ' and ' : ' or ')
  if (schema.properties) {
    const parts = Object.entries(schema.properties).map(([name, field]) => `${code(name)}: ${typeOf(field)}`)
    return `an object with ${parts.join(', ')}`
  }
  if (schema.const !== undefined) return code(JSON.stringify(schema.const))
  if (schema.enum) return schema.enum.map((value) => code(String(value))).join(', ')
  const types = [schema.type ?? 'any']
    .flat()
    .map((type) => (type === 'array' ? `list of ${typeOf(schema.items)}` : type))
  return types.join(' or ')
}

const schemaOf = (body: Body | undefined): Schema | undefined => Object.values(body?.content ?? {})[0]?.schema

/** The target of a reference such as `#/components/parameters/First`. */
function resolved<T>(value: T | Reference, document: OpenApi): T {
  if (typeof value !== 'object' || value === null || !('$ref' in value)) return value as T
  const steps = value.$ref.replace(/^#\//, '').split('/')
  let found: unknown = document
  for (const step of steps) found = (found as Record<string, unknown> | undefined)?.[step]
  if (found === undefined) throw new Error(`${value.$ref} does not exist`)
  return found as T
}

const nameOf = (reference: string): string => reference.split('/').at(-1) ?? reference
const schemaAnchor = (name: string): string => `schema-${anchorOf(name)}`
const anchorOf = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
