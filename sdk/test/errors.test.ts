import { beforeAll, describe, expect, it } from 'vitest'
import { ERRORS, SUBSCRIBE_REFUSALS } from '../../server/src/domain/errors.ts'
import { furnish } from '../../server/test/harness/furnished.ts'
import { API_KEY, startTestServer } from '../../server/test/harness/server.ts'
import { shared } from '../../server/test/harness/shared.ts'
import { ERROR_TABLE } from '../src/errors.ts'
import * as sdk from '../src/node.ts'
import type { WireError } from '../src/reply.ts'
import { deadUrl } from './support/faulty-proxy.ts'

const server = shared(startTestServer)
const client = (options: sdk.TollgateOptions = {}) =>
  new sdk.Tollgate({ apiKey: API_KEY, baseUrl: server.url, ...options })
beforeAll(async () => {
  await furnish(server)
})

/** Spec §7: the typed errors of the Node.js client. Its plain `Error` is our TollgateError. */
const CLASSES: Record<sdk.ErrorName, typeof sdk.TollgateError> = {
  SubscriptionError: sdk.SubscriptionError,
  SubscriptionNotFoundError: sdk.SubscriptionNotFoundError,
  PackageNotFoundError: sdk.PackageNotFoundError,
  FeatureNotFoundError: sdk.FeatureNotFoundError,
  UserNotFoundError: sdk.UserNotFoundError,
  AuthenticationError: sdk.AuthenticationError,
  NetworkError: sdk.NetworkError,
  Error: sdk.TollgateError,
}

type Row = [
  name: sdk.ErrorName,
  status: number,
  code: string,
  call: (client: sdk.Tollgate) => Promise<{ data: unknown; error: sdk.TollgateError | null }>,
  message?: string,
]

const NONE = { id: 'none' }
const ROWS: Row[] = [
  ['FeatureNotFoundError', 404, 'FEATURE_NOT_FOUND', (t) => t.feature(NONE)],
  [
    'FeatureNotFoundError',
    404,
    'FEATURE_NOT_FOUND',
    (t) => t.updateFeature({ ...NONE, input: { name: 'X' } }),
  ],
  [
    'FeatureNotFoundError',
    404,
    'FEATURE_NOT_FOUND',
    (t) => t.showUsage({ userId: 'ann', featureId: 'none' }),
  ],
  ['PackageNotFoundError', 404, 'PACKAGE_NOT_FOUND', (t) => t.package(NONE)],
  [
    'PackageNotFoundError',
    404,
    'PACKAGE_NOT_FOUND',
    (t) => t.updatePackage({ ...NONE, input: { metadata: {} } }),
  ],
  ['UserNotFoundError', 404, 'USER_NOT_FOUND', (t) => t.user(NONE)],
  ['UserNotFoundError', 404, 'USER_NOT_FOUND', (t) => t.updateUser({ ...NONE, input: { name: 'X' } })],
  ['UserNotFoundError', 404, 'USER_NOT_FOUND', (t) => t.subscribe({ userId: 'none', packageIds: ['plan'] })],
  ['UserNotFoundError', 404, 'USER_NOT_FOUND', (t) => t.generateUserToken({ userId: 'none' })],
  ['SubscriptionNotFoundError', 404, 'SUBSCRIPTION_NOT_FOUND', (t) => t.subscription(NONE)],
  [
    'SubscriptionError',
    400,
    'BAD_USER_INPUT',
    (t) => t.subscribe({ userId: 'bob', packageIds: ['extra'] }),
    SUBSCRIBE_REFUSALS.missingTier,
  ],
  [
    'SubscriptionError',
    400,
    'BAD_USER_INPUT',
    (t) => t.subscribe({ userId: 'ann', packageIds: ['plan'] }),
    SUBSCRIBE_REFUSALS.severalTiers,
  ],
  [
    'SubscriptionError',
    400,
    'BAD_USER_INPUT',
    (t) => t.subscribe({ userId: 'ann', packageIds: ['none'] }),
    SUBSCRIBE_REFUSALS.unknownPackage,
  ],
  ['Error', 400, 'BAD_USER_INPUT', (t) => t.createUser({ id: 'ann' })],
  ['Error', 400, 'BAD_USER_INPUT', (t) => t.canUseFeature({ userId: 'ann', featureId: 'calls', delta: -1 })],
  ['Error', 400, 'GRAPHQL_PARSE_FAILED', (t) => t.graphql('{')],
  ['Error', 400, 'GRAPHQL_VALIDATION_FAILED', (t) => t.graphql('{ none }')],
  ['Error', 400, 'BAD_REQUEST', (t) => t.graphql('')],
  ['Error', 400, 'BAD_USER_INPUT', (t) => t.createUser({ id: 'big', metadata: { not: 10n } })],
  ['Error', 400, 'BAD_USER_INPUT', (t) => t.createUser({ id: 'bad' }, { idempotencyKey: 'line\nend' })],
  [
    'Error',
    400,
    'SUBSCRIPTION_LINK_ERROR',
    (t) =>
      t.graphql(`mutation {
        generateSubscriptionLink(templateId: "none", successUrl: "https://a.example", cancelUrl: "https://a.example") { url }
      }`),
  ],
  [
    'Error',
    409,
    'IDEMPOTENCY_KEY_REUSED',
    async (t) => {
      await t.createUser({ id: 'first' }, { idempotencyKey: 'one' })
      return t.createUser({ id: 'second' }, { idempotencyKey: 'one' })
    },
  ],
  ['AuthenticationError', 401, 'UNAUTHENTICATED', () => client({ apiKey: 'wrong' }).users()],
  ['NetworkError', 0, 'NETWORK_ERROR', async () => client({ baseUrl: await deadUrl() }).users()],
  // Not the service: it answers, but not with JSON.
  ['NetworkError', 404, 'NETWORK_ERROR', () => client({ baseUrl: `${server.url}/elsewhere` }).users()],
]

/** What the client makes of an error as it comes over the wire. */
async function answered(error: WireError, headers: Record<string, string> = {}) {
  const fetch = async () => new Response(JSON.stringify({ data: null, errors: [error] }), { headers })
  return (await client({ fetch, retry: () => false }).users()).error
}

describe('spec §7: errors', () => {
  it.each(ROWS)('%s, %i %s', async (name, status, code, call, message) => {
    const { data, error } = await call(client())
    expect(data ?? null).toSatisfy(
      (found) => found === null || Object.values(found as object).every((v) => v === null),
    )
    expect(error).toBeInstanceOf(CLASSES[name])
    expect(error).toBeInstanceOf(Error)
    expect(error?.constructor).toBe(CLASSES[name])
    expect({ name: error?.name, status: error?.response.status, code: error?.code }).toEqual({
      name,
      status,
      code,
    })
    if (message !== undefined) expect(error?.message).toBe(message)
  })

  it('an error says which input is refused, where, and under which id the service logged the request', async () => {
    const ids: (string | null)[] = []
    const noting: typeof fetch = async (...request) => {
      const response = await fetch(...request)
      ids.push(response.headers.get('X-Request-Id'))
      return response
    }
    const { error } = await client({ fetch: noting }).createUser({ id: '' })
    expect(error).toMatchObject({
      code: 'BAD_USER_INPUT',
      field: 'id',
      path: ['createUser'],
      retryAfter: null,
    })
    expect(error?.requestId).toMatch(/\S{8,}/)
    expect(error?.requestId).toBe(ids[0])
    const lost = await client({ baseUrl: await deadUrl() }).users()
    expect(lost.error).toMatchObject({ field: null, path: [], requestId: null, retryAfter: null })
  })

  it('the service says when to come back, or a proxy does', async () => {
    const later = async (extensions: object, header: string) =>
      (await answered({ message: 'm', extensions }, { 'Retry-After': header }))?.retryAfter
    expect(await later({ code: 'RATE_LIMITED', retryAfter: 3 }, '9')).toBe(3)
    expect(await later({ code: 'RATE_LIMITED' }, '9')).toBe(9)
    expect(await later({ code: 'RATE_LIMITED' }, 'soon')).toBeNull()
    const minute = await later({ code: 'RATE_LIMITED' }, new Date(Date.now() + 60_000).toUTCString())
    expect(minute).toBeGreaterThan(50)
    expect(minute).toBeLessThanOrEqual(60)
  })

  it('every class has its row here', () => {
    expect([...new Set(ROWS.map(([name]) => name))].toSorted()).toEqual(Object.keys(CLASSES).toSorted())
  })

  it('the table is the service’s own', () => {
    expect(ERROR_TABLE).toEqual(ERRORS)
  })

  it.each(
    Object.entries(ERRORS),
  )('%s keeps its class and status, also without our extensions', async (code, row) => {
    const name = row.type in CLASSES ? row.type : 'Error'
    for (const extensions of [{ code }, { code, ...row }]) {
      expect(await answered({ message: 'm', extensions })).toMatchObject({
        name,
        code,
        message: 'm',
        response: { status: row.status },
      })
    }
  })

  it('a code of a later service is a plain error with the status that came', async () => {
    const extensions = { code: 'NEW', type: 'NewError', status: 418 }
    expect(await answered({ message: 'm', extensions })).toMatchObject({
      name: 'Error',
      code: 'NEW',
      response: { status: 418 },
    })
  })
})
