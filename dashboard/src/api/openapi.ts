import { useQuery } from '@tanstack/react-query'
import { answerInTime } from './answer-in-time.ts'
import { ApiError } from './api-error.ts'

/** The parts of the OpenAPI document that its page shows. */
export interface OpenApi {
  tags: { name: string }[]
  paths: Record<string, Record<string, Operation>>
  components: {
    schemas: Record<string, Schema>
    parameters: Record<string, Parameter>
    responses: Record<string, Answer>
  }
}

export interface Operation {
  operationId: string
  summary: string
  description?: string
  tags: string[]
  'x-tollgate-scope': string
  parameters?: (Parameter | Reference)[]
  requestBody?: { required: boolean; content: Record<string, { schema: Schema }> }
  responses: Record<string, Answer | Reference>
}

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  description?: string
  schema: Schema
}

interface Answer {
  description: string
  content: Record<string, { schema: Schema }>
}

interface Reference {
  $ref: string
}

export interface Schema {
  $ref?: string
  type?: string | string[]
  description?: string
  enum?: string[]
  default?: unknown
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
}

const PATH = '/v1/openapi.json'

/** The description of the REST API, which does not change while the service runs. */
export function useOpenapi() {
  return useQuery<OpenApi>({ queryKey: [PATH], queryFn: read, staleTime: Number.POSITIVE_INFINITY })
}

function read(): Promise<OpenApi> {
  return answerInTime(PATH, 15_000, async (signal) => {
    const response = await fetch(PATH, { signal }).catch(() => null)
    if (!response?.ok)
      throw new ApiError('UNREACHABLE', 'Tollgate is not responding. Check that it is running and try again.')
    return (await response.json()) as OpenApi
  })
}

/** Follows a reference to a part that several operations share. */
export function shared<Kind extends keyof OpenApi['components']>(
  document: OpenApi,
  kind: Kind,
  part: OpenApi['components'][Kind][string] | Reference,
): OpenApi['components'][Kind][string] {
  if (!('$ref' in part) || part.$ref === undefined) return part as OpenApi['components'][Kind][string]
  const name = nameIn(part.$ref)
  const found = document.components[kind][name]
  if (!found) throw new Error(`the document has no ${name}`)
  return found as OpenApi['components'][Kind][string]
}

/** A type in words: `string, null or omitted` is for the reader to see at the field. */
export function typeName({ $ref, type, enum: values, items, anyOf }: Schema): string {
  if ($ref !== undefined) return nameIn($ref)
  if (anyOf) return anyOf.map(typeName).join(' or ')
  if (values) return values.join(', ')
  const types = Array.isArray(type) ? type : [type ?? 'any']
  return types.map((one) => (one === 'array' && items ? `list of ${typeName(items)}` : one)).join(' or ')
}

const nameIn = ($ref: string): string => $ref.slice($ref.lastIndexOf('/') + 1)
