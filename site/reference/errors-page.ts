import { ERRORS, type ErrorCode } from '../../server/src/domain/errors.ts'
import { blocks, code, table } from './markdown.ts'

/** When each error is returned, and what to do about it. A new error does not compile without its row here. */
const MEANINGS: Record<ErrorCode, string> = {
  UNAUTHENTICATED:
    'The API key or token is missing, invalid, revoked or expired. The message does not say which. Check the `Authorization` header.',
  FORBIDDEN: 'The caller is known, but not permitted to do this.',
  BAD_USER_INPUT:
    'An argument is rejected: out of range, already in use, or against a rule, such as a second base plan. The message says which; `field` names the argument.',
  FEATURE_NOT_FOUND: 'No feature has this id. Checks and records answer with a reason instead.',
  PACKAGE_NOT_FOUND: 'No package has this id.',
  USER_NOT_FOUND: 'No user has this id, or the user has been deleted.',
  SUBSCRIPTION_NOT_FOUND: 'No subscription has this id.',
  APP_NOT_FOUND: 'No app has this id (dashboard).',
  API_KEY_NOT_FOUND: 'No API key or token key has this id (dashboard).',
  MEMBER_NOT_FOUND: 'No member or invitation has this id (dashboard).',
  IMPORT_NOT_FOUND: 'No CSV import has this id (dashboard).',
  BULK_CHANGE_NOT_FOUND: 'No bulk change has this id (dashboard).',
  MIGRATION_NOT_FOUND: 'No migration has this id.',
  PRICE_NOT_FOUND: 'No price has this id (dashboard).',
  TEMPLATE_NOT_FOUND: 'No billing template has this id (dashboard).',
  CREDIT_NOT_FOUND: 'No credit has this id.',
  RESERVATION_NOT_FOUND: 'No reservation has this id, or it expired more than 30 days ago and was deleted.',
  NOTICE_NOT_FOUND: 'No webhook event of a billing provider has this id (dashboard).',
  WEBHOOK_ENDPOINT_NOT_FOUND: 'No webhook endpoint has this id.',
  BILLING_PROVIDER_ERROR:
    'The billing provider rejected the request or did not answer. The message contains its reason.',
  SUBSCRIPTION_LINK_ERROR:
    'No payment link can be created: the template is unknown or incomplete, or the provider refused. The message says what to change.',
  GRAPHQL_PARSE_FAILED: 'The document is not valid GraphQL.',
  GRAPHQL_VALIDATION_FAILED:
    'The document does not fit the schema, its variables do not fit their types, or it is too large or too expensive.',
  BAD_REQUEST:
    'The body is not a JSON object, in GraphQL one with a `query`; or a header or the path is invalid.',
  NOT_FOUND: 'There is no such route (REST).',
  METHOD_NOT_ALLOWED: 'The endpoint does not accept this HTTP method; `Allow` lists those it accepts.',
  CONTENT_TOO_LARGE: 'The body is too large (REST). In GraphQL this is BAD_REQUEST.',
  UNSUPPORTED_MEDIA_TYPE: 'The body is not `application/json`, or it is compressed (REST).',
  EVENTS_EXPIRED:
    'The cursor is older than the events that are kept. Read the current state, then `events` without `after`.',
  CONFLICT:
    'The object was changed since it was read (dashboard): read it again, then repeat the change. Or a credit or reservation with this id has other content, or a reservation has ended.',
  IDEMPOTENCY_KEY_REUSED: 'The same key was used for a different request. Use a new key for each request.',
  RATE_LIMITED: 'Too many requests. Wait for `retryAfter` seconds.',
  UNAVAILABLE:
    'No answer in time, or the database is unavailable. A mutation may have taken effect: repeat it with the same `Idempotency-Key` after `retryAfter` seconds.',
  INTERNAL_SERVER_ERROR:
    'An unexpected error. The log has the details under the request id that the message contains.',
}

/** The reference of errors, from the table that the service throws them from. */
export function errorsPage(): string {
  const rows = Object.entries(ERRORS).map(([name, { type, status }]) => [
    `<a id="${name.toLowerCase()}"></a>${code(name)}<br>${status}, ${code(type)}`,
    MEANINGS[name as ErrorCode],
  ])
  return blocks(
    '# Errors',
    `In [REST](/rest.md#errors) an error is a problem document with its status. In GraphQL every POST has the HTTP status 200, and each element of \`errors\` has \`message\`, \`locations\`, \`path\` and \`extensions\`.
Decide by \`extensions.code\`; messages may change.`,
    table(
      ['Field of `extensions`', 'Content'],
      [
        ['`code`', 'the code of the table below'],
        ['`type`', 'the class of the error in the [SDK](/sdk.md#errors)'],
        ['`status`', 'the HTTP status that describes the error'],
        ['`field`', 'the argument or input field whose value is rejected, if it is a single one'],
        ['`retryAfter`', 'seconds to wait before a retry, if a retry helps'],
      ],
    ),
    '## Codes',
    table(['Code, status, class', 'Meaning'], rows),
    '## What to retry',
    `- \`RATE_LIMITED\` and \`UNAVAILABLE\`, after \`retryAfter\` seconds.
- A request without an answer, such as after a broken connection.
- Send mutations with an \`Idempotency-Key\` and reuse it for each retry, so that they take effect once.
- All other errors stay the same until the request or the data changes.

The SDK does all of this by default.`,
  )
}
