import assert from 'node:assert/strict'
import type { Answer, Client, Variables, WireError } from '../harness/client.ts'

/** What an error says beside its message. */
export interface Extensions {
  code: string
  type: string
  status: number
}

export const BAD_USER_INPUT = { code: 'BAD_USER_INPUT', type: 'Error', status: 400 }
export const SUBSCRIPTION_ERROR = { code: 'BAD_USER_INPUT', type: 'SubscriptionError', status: 400 }
export const BAD_REQUEST = { code: 'BAD_REQUEST', type: 'Error', status: 400 }
export const PARSE_FAILED = { code: 'GRAPHQL_PARSE_FAILED', type: 'Error', status: 400 }
export const VALIDATION_FAILED = { code: 'GRAPHQL_VALIDATION_FAILED', type: 'Error', status: 400 }
export const UNAUTHENTICATED = { code: 'UNAUTHENTICATED', type: 'AuthenticationError', status: 401 }
export const FEATURE_NOT_FOUND = { code: 'FEATURE_NOT_FOUND', type: 'FeatureNotFoundError', status: 404 }
export const PACKAGE_NOT_FOUND = { code: 'PACKAGE_NOT_FOUND', type: 'PackageNotFoundError', status: 404 }
export const USER_NOT_FOUND = { code: 'USER_NOT_FOUND', type: 'UserNotFoundError', status: 404 }
export const SUBSCRIPTION_NOT_FOUND = {
  code: 'SUBSCRIPTION_NOT_FOUND',
  type: 'SubscriptionNotFoundError',
  status: 404,
}
export const LINK_ERROR = { code: 'SUBSCRIPTION_LINK_ERROR', type: 'SubscriptionLinkError', status: 400 }
export const KEY_REUSED = { code: 'IDEMPOTENCY_KEY_REUSED', type: 'Error', status: 409 }

/** Exactly these; and where the value of one input is refused, its name beside them. */
export function hasExtensions(
  { extensions: { field, ...rest }, message }: WireError,
  extensions: Extensions,
) {
  assert.deepEqual(rest, extensions, message)
  assert.ok(field === undefined || rest.code === 'BAD_USER_INPUT', message)
}

/** The operation fails with this one error, and with this message where one is given. */
export async function refuses(
  client: Client,
  query: string,
  variables: Variables,
  extensions: Extensions,
  message?: string,
): Promise<WireError> {
  const error = await client.error(query, variables)
  hasExtensions(error, extensions)
  if (message !== undefined) assert.equal(error.message, message)
  return error
}

/** As `refuses`, where one mistake may well be reported in several places. */
export async function refusesDocument(client: Client, query: string, extensions: Extensions): Promise<void> {
  const answer = await client.ask(query)
  assert.ok(answer.errors?.length, `no errors: ${JSON.stringify(answer)}`)
  for (const error of answer.errors) hasExtensions(error, extensions)
  assert.equal(answer.data ?? null, null)
}

/** The answer to a raw request, which must come as 200 and JSON whatever is in it. */
export async function answerOf(response: Response): Promise<Answer> {
  assert.equal(response.status, 200)
  assert.match(response.headers.get('content-type') ?? '', /^application\/(graphql-response\+)?json\b/)
  return { status: response.status, ...((await response.json()) as Omit<Answer, 'status'>) }
}

/** The one error of the answer to a raw request. */
export async function errorOf(response: Response): Promise<WireError> {
  const { errors, data } = await answerOf(response)
  assert.equal(data ?? null, null)
  const [error, ...others] = errors ?? []
  assert.ok(error && others.length === 0, `expected one error: ${JSON.stringify(errors)}`)
  return error
}

export const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
