import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'vitest'
import { openapiDocument } from '../../src/rest/openapi.ts'
import type { RestOperation } from '../../src/rest/operation.ts'
import { restOperations } from '../../src/rest/operations.ts'
import type { RestAnswer } from '../harness/rest.ts'

/** What the tests read of the document. */
export interface Document {
  paths: Record<string, Record<string, Described>>
  components: {
    schemas: Record<string, Schema>
    responses: Record<string, Response>
    parameters: Record<string, Parameter>
  }
}

interface Described {
  operationId: string
  parameters?: (Parameter | Reference)[]
  requestBody?: { required: boolean; content: Record<string, { schema: Schema }> }
  responses: Record<string, Response | Reference>
}

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  schema: Schema
}

interface Reference {
  $ref: string
}

interface Response {
  content: Record<string, { schema: Schema }>
}

/** A JSON Schema, as far as the document uses it. */
export interface Schema {
  $ref?: string
  type?: string | string[]
  enum?: string[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
  minimum?: number
  maximum?: number
  additionalProperties?: boolean
}

export const document = openapiDocument(restOperations()) as unknown as Document

export function described({ route }: RestOperation): Described {
  const found = document.paths[route.path]?.[route.method.toLowerCase()]
  if (!found) throw new Error(`${route.method} ${route.path} is not in the document`)
  return found
}

export const referred = <Found>(found: Found | Reference): Found =>
  typeof found === 'object' && found && '$ref' in found
    ? (found.$ref
        .slice(2)
        .split('/')
        .reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], document) as Found)
    : (found as Found)

/** Checks that an answer is one that the document describes, without a field that it does not. */
export function answerChecker(): (operation: RestOperation, answer: RestAnswer) => void {
  const ajv = new Ajv2020({ strict: false, formats: { uri: true } })
  ajv.addSchema(closed(document) as object, 'openapi')
  return (operation, { status, headers, body, text }) => {
    const { responses } = described(operation)
    const what = `${operation.name} ${status} ${text.slice(0, 2_000)}`
    const pointer =
      responses[status] && '$ref' in responses[status] ? responses[status].$ref.slice(1) : undefined
    const { method, path } = operation.route
    const at = pointer ?? `/paths/${escaped(path)}/${method.toLowerCase()}/responses/${status}`
    const response = responses[status] && referred(responses[status])
    expect(Object.keys(responses), what).toContain(String(status))
    const [type = ''] = Object.keys(response?.content ?? {})
    expect(headers.get('content-type')?.split(';')[0], what).toBe(type)
    const validate = ajv.getSchema(`openapi#${at}/content/${escaped(type)}/schema`)
    if (!validate) throw new Error(`no schema for ${what}`)
    validate(body)
    expect(validate.errors, what).toBeNull()
    if (status === 429 || status === 503)
      expect(headers.get('retry-after'), what).toBe(String(body?.retryAfter))
    if (status >= 400) expect(headers.get('x-request-id'), what).toBe(body?.requestId)
  }
}

const escaped = (name: string) =>
  encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1')).replaceAll('%7E', '~')

/** The document with objects that may have no further fields: callers must accept those, the service must describe them. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed)
  if (typeof value !== 'object' || value === null) return value
  const copied = Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, closed(inner)]))
  return 'required' in copied && 'properties' in copied && !('additionalProperties' in copied)
    ? { ...copied, additionalProperties: false }
    : copied
}
