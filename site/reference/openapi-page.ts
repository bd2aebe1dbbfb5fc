import { blocks, code, table, text } from './markdown.ts'

/** The part of OpenAPI 3.1 that the page shows. */
export interface OpenApi {
  info?: { description?: string }
  paths: Record<string, Record<string, Operation>>
  components?: { schemas?: Record<string, Schema>; parameters?: Record<string, Parameter> }
}

interface Operation {
  operationId?: string
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
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method]
      return operation ? [operationSection(method.toUpperCase(), path, operation, document)] : []
    }),
  )
  const schemas = Object.entries(document.components?.schemas ?? {}).sort(([a], [b]) => a.localeCompare(b))
  return blocks(
    '# REST API',
    text(document.info?.description ?? ''),
    'The same document as JSON, for tools: `GET /v1/openapi.json`, which needs no key.',
    '## Routes',
    ...operations,
    ...(schemas.length === 0 ? [] : ['## Schemas', ...schemas.map(schemaSection)]),
  )
}

function operationSection(method: string, path: string, operation: Operation, document: OpenApi): string {
  const parameters = (operation.parameters ?? []).map((one) => resolved<Parameter>(one, document))
  const body = operation.requestBody && resolved<Body>(operation.requestBody, document)
  const responses = Object.entries(operation.responses ?? {}).map(
    ([status, one]) => [status, resolved<Response>(one, document)] as const,
  )
  return blocks(
    `### ${code(`${method} ${path}`)} {#${anchorOf(operation.operationId ?? `${method} ${path}`)}}`,
    text(operation.summary ?? ''),
    operation.description === operation.summary ? '' : text(operation.description ?? ''),
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
    table(
      ['Status', 'Body', 'Description'],
      responses.map(([status, one]) => [status, typeOf(schemaOf(one)), text(one.description ?? '')]),
    ),
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
  if (schema.const !== undefined) return code(JSON.stringify(schema.const))
  if (schema.enum) return schema.enum.map((value) => code(String(value))).join(', ')
  const types = [schema.type ?? 'any']
    .flat()
    .map((type) => (type === 'array' ? `list of ${typeOf(schema.items)}` : type))
  return types.join(' or ')
}

const schemaOf = (body: Body | undefined): Schema | undefined => Object.values(body?.content ?? {})[0]?.schema

/** What a reference such as `#/components/parameters/First` stands for. */
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
