import * as limits from '../../server/src/domain/limits.ts'
import { blocks, table } from './markdown.ts'

const number = (value: number): string => value.toLocaleString('en-US')
const bytes = (value: number): string =>
  value >= 1024 * 1024 ? `${value / (1024 * 1024)} MiB` : `${value / 1024} KiB`
const seconds = (ms: number): string => `${ms / 1000} s`
const hours = (value: number): string =>
  value % 24 === 0 && value > 24 ? `${value / 24} days` : `${value} hours`

const GROUPS: Record<string, [string, string][]> = {
  'Ids, text and numbers': [
    ['Characters of an id', number(limits.MAX_IDENTIFIER_CHARACTERS)],
    ['Characters of a name, an email address or another text', number(limits.MAX_TEXT_CHARACTERS)],
    ['Characters of a URL', number(limits.MAX_URL_CHARACTERS)],
    ['Metadata of one object', `${bytes(limits.MAX_METADATA_BYTES)}, ${limits.MAX_METADATA_DEPTH} levels`],
    ['Largest limit, budget or usage', number(limits.MAX_COUNT)],
    ['Largest charge, in minor units', number(limits.MAX_AMOUNT)],
  ],
  'Catalogue, per app': [
    ['Features', number(limits.MAX_FEATURES)],
    ['Packages', number(limits.MAX_PACKAGES)],
    ['Features of a package', number(limits.MAX_PACKAGE_FEATURES)],
    ['Prices', number(limits.MAX_PRICES)],
    ['Billing templates', number(limits.MAX_BILLING_TEMPLATES)],
    [
      'Publications and migrations since a package was last published for all',
      number(limits.MAX_PACKAGE_HISTORY),
    ],
    ['Valid API keys', number(limits.MAX_API_KEYS)],
    ['Origins of the client API', number(limits.MAX_ORIGINS)],
  ],
  Users: [
    ['Packages in one `subscribe`', number(limits.MAX_SUBSCRIBE_PACKAGES)],
    ['Quantity of a subscription', number(limits.MAX_QUANTITY)],
    ['Days of a trial', number(limits.MAX_TRIAL_DAYS)],
    ['Overrides in force per user', number(limits.MAX_OVERRIDES)],
    ['Past periods in `showUsage`', number(limits.MAX_PAST_PERIODS)],
    [
      'Open event streams: per app, per process',
      `${number(limits.MAX_EVENT_STREAMS_PER_APP)}, ${number(limits.MAX_EVENT_STREAMS)}`,
    ],
    ['Days that events can be kept', number(limits.MAX_EVENT_DAYS)],
    ['Buckets of `usageSeries`', number(limits.MAX_USAGE_POINTS)],
    ['Rows on one page of `exportUser`', number(limits.MAX_EXPORTED_ROWS)],
    ['Lifetime of a user token', hours(limits.USER_TOKEN_SECONDS / 3600).replace('1 hours', '1 hour')],
    ['File of an import', bytes(limits.MAX_IMPORT_BYTES)],
  ],
  Requests: [
    ['Body', bytes(limits.MAX_BODY_BYTES)],
    ['GraphQL document', bytes(limits.MAX_DOCUMENT_BYTES)],
    ['Depth of a GraphQL document', number(limits.MAX_DEPTH)],
    ['Top-level fields of a GraphQL document', number(limits.MAX_ROOT_FIELDS)],
    ['Aliases of a GraphQL document', number(limits.MAX_ALIASES)],
    [
      'Cost of a document: Admin API, client API',
      `${number(limits.MAX_COST)}, ${number(limits.MAX_CLIENT_COST)}`,
    ],
    ['Features of `canUseFeatures`, events of `recordUsages`', number(limits.MAX_BATCH)],
    ['Headers', bytes(limits.MAX_HEADER_BYTES)],
    ['Characters of an idempotency key', number(limits.MAX_IDEMPOTENCY_KEY_CHARACTERS)],
    [
      'Retention of answers to requests with an idempotency key, at least',
      hours(limits.IDEMPOTENCY_KEPT_HOURS),
    ],
    ['Time until a request gets `UNAVAILABLE`, by default', seconds(limits.REQUEST_DEADLINE_MS)],
    ['Requests on one connection that are sent before their answers', number(limits.MAX_PIPELINED_REQUESTS)],
  ],
  'The service': [
    ['Connections per process', number(limits.MAX_CONNECTIONS)],
    ['Requests in progress per process', number(limits.MAX_REQUESTS_UNDER_WAY)],
    ['Members of an installation', number(limits.MAX_MEMBERS)],
    ['Validity of an invitation', hours(limits.INVITATION_HOURS)],
    ['Validity of a password reset link', hours(limits.PASSWORD_RESET_HOURS)],
    ['How long a rotated API key may keep working', hours(limits.MAX_KEY_OVERLAP_HOURS)],
  ],
}

/** The limits that callers and operators meet, with the values that the service enforces. */
export function limitsPage(): string {
  return blocks(
    '# Limits',
    `A value beyond its limit is rejected with \`BAD_USER_INPUT\`, a document with \`GRAPHQL_VALIDATION_FAILED\`, and too many requests at once
with \`RATE_LIMITED\` ([errors](/reference/errors.md)). [Rate limits](/operations.md#rate-limits) are settings.`,
    ...Object.entries(GROUPS).flatMap(([heading, rows]) => [`## ${heading}`, table(['What', 'Limit'], rows)]),
  )
}
