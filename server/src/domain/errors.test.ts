/**
 * Invariants
 * - One table holds every code with the class that the SDK raises and the true HTTP status.
 * - The spec's three messages of `subscribe` are kept to the letter.
 * - An id in a message is bounded, and contains nothing that controls a terminal.
 */
import { describe, expect, it } from 'vitest'
import {
  appNotFound,
  badRequest,
  badUserInput,
  ERRORS,
  featureNotFound,
  packageNotFound,
  quote,
  rateLimited,
  SUBSCRIBE_REFUSALS,
  subscriptionError,
  subscriptionLinkError,
  subscriptionNotFound,
  TollgateError,
  unauthenticated,
  unavailable,
  userNotFound,
} from './errors.ts'

describe('gap: error codes', () => {
  it.each([
    ['UNAUTHENTICATED', 'AuthenticationError', 401],
    ['FORBIDDEN', 'AuthenticationError', 403],
    ['APP_NOT_FOUND', 'Error', 404],
    ['API_KEY_NOT_FOUND', 'Error', 404],
    ['MEMBER_NOT_FOUND', 'Error', 404],
    ['IMPORT_NOT_FOUND', 'Error', 404],
    ['BULK_CHANGE_NOT_FOUND', 'Error', 404],
    ['MIGRATION_NOT_FOUND', 'Error', 404],
    ['PRICE_NOT_FOUND', 'Error', 404],
    ['TEMPLATE_NOT_FOUND', 'Error', 404],
    ['NOTICE_NOT_FOUND', 'Error', 404],
    ['BILLING_PROVIDER_ERROR', 'Error', 502],
    ['NOT_FOUND', 'Error', 404],
    ['METHOD_NOT_ALLOWED', 'Error', 405],
    ['CONTENT_TOO_LARGE', 'Error', 413],
    ['UNSUPPORTED_MEDIA_TYPE', 'Error', 415],
    ['CONFLICT', 'Error', 409],
    ['BAD_USER_INPUT', 'Error', 400],
    ['FEATURE_NOT_FOUND', 'FeatureNotFoundError', 404],
    ['PACKAGE_NOT_FOUND', 'PackageNotFoundError', 404],
    ['USER_NOT_FOUND', 'UserNotFoundError', 404],
    ['SUBSCRIPTION_NOT_FOUND', 'SubscriptionNotFoundError', 404],
    ['SUBSCRIPTION_LINK_ERROR', 'SubscriptionLinkError', 400],
    ['GRAPHQL_PARSE_FAILED', 'Error', 400],
    ['GRAPHQL_VALIDATION_FAILED', 'Error', 400],
    ['BAD_REQUEST', 'Error', 400],
    ['IDEMPOTENCY_KEY_REUSED', 'Error', 409],
    ['RATE_LIMITED', 'Error', 429],
    ['UNAVAILABLE', 'Error', 503],
    ['INTERNAL_SERVER_ERROR', 'Error', 500],
  ] as const)('%s is a %s with status %i', (code, type, status) => {
    const error = new TollgateError(code, 'why')
    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({ code, type, status, message: 'why' })
  })

  /** The typed errors that spec §7 names; the SDK raises no other. */
  const TYPES = [
    'AuthenticationError',
    'Error',
    'FeatureNotFoundError',
    'PackageNotFoundError',
    'SubscriptionError',
    'SubscriptionLinkError',
    'SubscriptionNotFoundError',
    'UserNotFoundError',
  ]

  it.each(
    Object.entries(ERRORS),
  )('spec §7: %s has a type that the SDK knows, and the status of a failure', (_, row) => {
    expect(TYPES).toContain(row.type)
    expect(row.status).toBeGreaterThanOrEqual(400)
    expect(row.status).toBeLessThan(600)
  })

  it.each([
    [badUserInput('m'), 'BAD_USER_INPUT', 'm'],
    [badRequest('m'), 'BAD_REQUEST', 'm'],
    [subscriptionLinkError('m'), 'SUBSCRIPTION_LINK_ERROR', 'm'],
    [unauthenticated(), 'UNAUTHENTICATED', 'A valid API key is required in the Authorization header'],
    [featureNotFound('x'), 'FEATURE_NOT_FOUND', 'Feature not found: "x"'],
    [packageNotFound('x'), 'PACKAGE_NOT_FOUND', 'Package not found: "x"'],
    [userNotFound('x'), 'USER_NOT_FOUND', 'User not found: "x"'],
    [subscriptionNotFound('x'), 'SUBSCRIPTION_NOT_FOUND', 'Subscription not found: "x"'],
    [appNotFound('x'), 'APP_NOT_FOUND', 'App not found: "x"'],
  ])('%# has its code and message', (error, code, message) => {
    expect(error).toMatchObject({ code, message, type: ERRORS[error.code].type })
  })
})

describe('spec §7: what subscribe refuses', () => {
  it.each([
    ['missingTier', 'Cannot subscribe to addon. Missing live tier subscription.'],
    ['severalTiers', 'Cannot subscribe to multiple tiers'],
    ['unknownPackage', 'Package Id not found for app'],
  ] as const)('%s, to the letter', (refusal, message) => {
    expect(SUBSCRIBE_REFUSALS[refusal]).toBe(message)
  })

  it.each([
    ['notPublished', 'Package is not published'],
    ['alreadySubscribed', 'User is already subscribed to package'],
  ] as const)('gap: %s', (refusal, message) => {
    expect(SUBSCRIBE_REFUSALS[refusal]).toBe(message)
  })

  it('is BAD_USER_INPUT, raised as a SubscriptionError', () => {
    expect(subscriptionError('m')).toMatchObject({
      code: 'BAD_USER_INPUT',
      type: 'SubscriptionError',
      status: 400,
      message: 'm',
    })
  })
})

describe('gap: the field whose value is refused', () => {
  it('is named where it is one alone', () => {
    expect(badUserInput('m', 'quantity').field).toBe('quantity')
    expect(subscriptionError('m').field).toBe('packageIds')
    expect(badUserInput('m').field).toBeNull()
  })
})

describe('gap: when to come back', () => {
  it('is set on retryable errors only', () => {
    expect(rateLimited('Too many', 7)).toMatchObject({ code: 'RATE_LIMITED', status: 429, retryAfter: 7 })
    expect(unavailable('No answer')).toMatchObject({ code: 'UNAVAILABLE', status: 503, retryAfter: 1 })
    expect(badRequest('No').retryAfter).toBeNull()
  })
})

describe('gap: an id in a message', () => {
  it.each([
    ['pro', '"pro"'],
    ['a "b"', '"a \\"b\\""'],
    ['名前', '"名前"'],
    ['\u001b[31m', '"\\u001b[31m"'],
    ['\u009b31m', '"\\u009b31m"'],
    ['\u007f', '"\\u007f"'],
    ['a\u202eb\u2069', '"a\\u202eb\\u2069"'],
    ['\u2028', '"\\u2028"'],
    ['\ud83d', '"\\ud83d"'],
    ['x'.repeat(80), `"${'x'.repeat(80)}"`],
    ['x'.repeat(81), `"${'x'.repeat(80)}…"`],
  ])('%j', (id, quoted) => {
    expect(quote(id)).toBe(quoted)
  })
})
