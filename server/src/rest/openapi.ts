import { getNamedType, isObjectType, isRequiredArgument } from 'graphql'
import { ERRORS, type ErrorCode } from '../domain/errors.ts'
import { IDEMPOTENCY_KEPT_HOURS, MAX_IDEMPOTENCY_KEY_CHARACTERS, MAX_PAGE } from '../domain/limits.ts'
import { FOR_KEYS } from '../operations/registry/registry.ts'
import type { Named } from './arguments.ts'
import { DEFAULT_PAGE, type RestOperation } from './operation.ts'
import { PROBLEM_TYPE, titleOf, typeOf } from './problem.ts'
import { EVENT_STREAM_PATH } from './routes.ts'
import { described, type JsonSchema, objectOf, Schemas } from './schemas.ts'

const DESCRIPTION = `The operations of Tollgate's Admin API as REST. Every operation has the same arguments, results, limits and
errors in GraphQL at \`POST /graphql\`.

Errors are problem documents (RFC 9457). Their \`code\` is stable; \`detail\` is for people.

\`x-tollgate-scope\` is the scope that the API key needs; ANY means that every key is enough.

In an answer, a list of objects inside another object contains them without their own lists of objects.`

/** The description of all routes (OpenAPI 3.1). */
export function openapiDocument(operations: readonly RestOperation[]): JsonSchema {
  const schemas = new Schemas()
  const responses = new Map<string, JsonSchema>()
  const paths: Record<string, Record<string, JsonSchema>> = {}
  for (const operation of operations) {
    const { method, path } = operation.route
    paths[path] = { ...paths[path], [method.toLowerCase()]: describe(operation, schemas, responses) }
  }
  const events = operations.find(({ name }) => name === 'events')
  if (events) paths[EVENT_STREAM_PATH] = { get: describeStream(events, schemas, responses) }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tollgate Admin API',
      version: '1',
      description: DESCRIPTION.replaceAll(/(?<!\n)\n(?!\n)/g, ' '),
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ apiKey: [] }],
    tags: [...new Set(operations.map(tagOf))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key of the app. The word `Bearer` may be omitted.',
        },
      },
      parameters: { IdempotencyKey: IDEMPOTENCY_KEY },
      responses: Object.fromEntries(responses),
      schemas: { ...schemas.named, Problem: PROBLEM },
    },
  }
}

const IDEMPOTENCY_KEY: JsonSchema = {
  name: 'Idempotency-Key',
  in: 'header',
  description: `Key that identifies the request. A repetition within ${IDEMPOTENCY_KEPT_HOURS} hours gets the same answer and has no further effect.`,
  schema: { type: 'string', minLength: 1, maxLength: MAX_IDEMPOTENCY_KEY_CHARACTERS },
}

const PROBLEM: JsonSchema = {
  type: 'object',
  description: 'An error (RFC 9457).',
  required: ['type', 'title', 'status', 'detail', 'code', 'requestId'],
  properties: {
    type: {
      type: 'string',
      format: 'uri',
      description: `Name of the error, such as \`${typeOf('BAD_USER_INPUT')}\`.`,
    },
    title: { type: 'string', description: 'Short text that is the same for every error of this code.' },
    status: { type: 'integer', description: 'HTTP status.' },
    detail: { type: 'string', description: 'Explanation of this error.' },
    code: { type: 'string', enum: Object.keys(ERRORS) },
    requestId: {
      type: 'string',
      description: 'ID of the request in the log, also in the header X-Request-Id.',
    },
    field: { type: 'string', description: 'Name of the rejected value.' },
    retryAfter: { type: 'integer', description: 'Seconds to wait before a retry.' },
  },
}

/** `payment-links`: "Payment links" */
function tagOf({ route: { path } }: RestOperation): string {
  const words = (path.split('/')[2] ?? '').replaceAll('-', ' ')
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`
}

/** canUseFeature: "Can use feature" */
function summaryOf({ name }: RestOperation): string {
  const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`
}

function describe(
  operation: RestOperation,
  schemas: Schemas,
  responses: Map<string, JsonSchema>,
): JsonSchema {
  const { name, field, route, inPath, flat, isMutation, hasBody } = operation
  const parameters: JsonSchema[] = inPath.map((inner) => ({
    name: inner,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
  if (!hasBody) parameters.push(...flat.map((one) => inQuery(one, operation, schemas)))
  if (isMutation) parameters.push({ $ref: '#/components/parameters/IdempotencyKey' })
  const success = { description: 'Success.', content: json(resultOf(operation, schemas)) }
  const statuses = route.creates
    ? [201, ...(field.args.some((arg) => arg.name === 'dryRun') ? [200] : [])]
    : [200]
  return {
    operationId: name,
    summary: summaryOf(operation),
    ...described(field.description),
    tags: [tagOf(operation)],
    'x-tollgate-scope': FOR_KEYS[name].scope,
    ...(parameters.length > 0 && { parameters }),
    ...(hasBody && {
      requestBody: { required: !operation.bodyIsOptional, content: json(bodyOf(operation, schemas)) },
    }),
    responses: {
      ...Object.fromEntries(statuses.map((status) => [status, success])),
      ...problems(errorsOf(operation), responses),
    },
  }
}

const EVENT_STREAM = `Streams events as they are published, as server-sent events. The \`data\` of a message is an event as \`GET /v1/events\` returns it, its \`id\` the cursor of the event. A client that connects again with \`Last-Event-ID\` continues where it was. Without it and without \`after\`, the stream begins with the next event.`

const LAST_EVENT_ID: JsonSchema = {
  name: 'Last-Event-ID',
  in: 'header',
  description: 'Cursor of the last event received. It takes precedence over `after`.',
  schema: { type: 'string' },
}

/** The route of server-sent events, which has the filters of `events`. */
function describeStream(
  events: RestOperation,
  schemas: Schemas,
  responses: Map<string, JsonSchema>,
): JsonSchema {
  const filters = events.flat.filter(({ name }) => name !== 'first')
  const success = {
    description: 'Events, until the client or the service ends the stream.',
    content: { 'text/event-stream': { schema: { type: 'string' } } },
  }
  return {
    operationId: 'streamEvents',
    summary: 'Stream events',
    description: EVENT_STREAM,
    tags: [tagOf(events)],
    'x-tollgate-scope': FOR_KEYS.events.scope,
    parameters: [...filters.map((one) => inQuery(one, events, schemas)), LAST_EVENT_ID],
    responses: { 200: success, ...problems(errorsOf(events), responses) },
  }
}

const json = (schema: JsonSchema) => ({ 'application/json': { schema } })

function inQuery({ name, arg }: Named, { result }: RestOperation, schemas: Schemas): JsonSchema {
  const isPage = result === 'PAGE' && name === 'first'
  const { description, ...schema }: JsonSchema = isPage
    ? { type: 'integer', minimum: 1, maximum: MAX_PAGE, default: DEFAULT_PAGE, ...described(arg.description) }
    : { ...schemas.inputValue(arg.type), ...withoutNull(schemas.input(arg)) }
  const required = isRequiredArgument(arg)
  return {
    name,
    in: 'query',
    ...(required && { required }),
    ...(description !== undefined && { description }),
    schema,
  }
}

/** A query string cannot contain null. */
function withoutNull({ description, default: value }: JsonSchema): JsonSchema {
  return { ...(description !== undefined && { description }), ...(value !== undefined && { default: value }) }
}

function bodyOf({ input, flat }: RestOperation, schemas: Schemas): JsonSchema {
  if (input) {
    return input.isWhole ? schemas.inputValue(input.arg.type) : schemas.inputObject(input.fields)
  }
  return objectOf(
    flat.map(({ name, arg }) => [name, schemas.input(arg)]),
    flat.filter(({ arg }) => isRequiredArgument(arg)).map(({ name }) => name),
  )
}

function resultOf({ field, result, route }: RestOperation, schemas: Schemas): JsonSchema {
  const type = getNamedType(field.type)
  if (route.page !== undefined && isObjectType(type)) {
    const properties = Object.values(type.getFields()).map(
      ({ name, type: of, description }): [string, JsonSchema] => [
        name === route.page ? 'data' : name,
        { ...schemas.output(of, 'FULL'), ...described(description) },
      ],
    )
    return {
      type: 'object',
      required: properties.map(([name]) => name),
      properties: Object.fromEntries(properties),
    }
  }
  // Most results are nullable in GraphQL because an error takes their place there.
  const isNullable = field.extensions.nullable === true
  if (result === 'ONE')
    return isNullable ? schemas.output(field.type, 'FULL') : schemas.present(field.type, 'FULL')
  const data = schemas.present(field.type, 'FULL')
  const next = {
    type: ['string', 'null'],
    description: 'Cursor for the next page, passed as `after`; null on the last page.',
  }
  const properties = result === 'PAGE' ? { data, next } : { data }
  return { type: 'object', required: Object.keys(properties), properties }
}

/** The errors that an operation may answer with. */
function errorsOf({ name, isMutation, hasBody }: RestOperation): ErrorCode[] {
  return [
    'BAD_REQUEST',
    'BAD_USER_INPUT',
    'UNAUTHENTICATED',
    'FORBIDDEN',
    ...FOR_KEYS[name].errors,
    ...(isMutation ? (['IDEMPOTENCY_KEY_REUSED'] as const) : []),
    ...(hasBody ? (['CONTENT_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const) : []),
    'RATE_LIMITED',
    'INTERNAL_SERVER_ERROR',
    'UNAVAILABLE',
  ]
}

/** One response for each status. */
function problems(
  codes: readonly ErrorCode[],
  responses: Map<string, JsonSchema>,
): Record<string, JsonSchema> {
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of codes)
    byStatus.set(ERRORS[code].status, [...(byStatus.get(ERRORS[code].status) ?? []), code])
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => {
      const name = codes
        .map((code) => titleOf(code).replaceAll(/ (.)/g, (_, letter) => letter.toUpperCase()))
        .join('Or')
      responses.set(name, problemResponse(status, codes))
      return [status, { $ref: `#/components/responses/${name}` }]
    }),
  )
}

const MAY_RETRY: readonly ErrorCode[] = ['RATE_LIMITED', 'UNAVAILABLE']

function problemResponse(status: number, codes: readonly ErrorCode[]): JsonSchema {
  const schema = {
    allOf: [
      { $ref: '#/components/schemas/Problem' },
      { properties: { status: { const: status }, code: { enum: codes } } },
    ],
  }
  const headers = {
    'Retry-After': { description: 'Seconds to wait before a retry.', schema: { type: 'integer' } },
  }
  return {
    description: `${codes.map(titleOf).join(', or ')}.`,
    ...(codes.some((code) => MAY_RETRY.includes(code)) && { headers }),
    content: { [PROBLEM_TYPE]: { schema } },
  }
}
