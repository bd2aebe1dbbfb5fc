/** Every bound of the service, in one place. Tests try each just below and just above. */

/** The largest whole number that JSON and JavaScript agree on: limits, budgets and usage stay within it. */
export const MAX_COUNT = Number.MAX_SAFE_INTEGER

export const MAX_IDENTIFIER_CHARACTERS = 255
export const MAX_TEXT_CHARACTERS = 1_024
export const MAX_METADATA_BYTES = 16 * 1024
export const MAX_METADATA_DEPTH = 32

export const MAX_PACKAGE_FEATURES = 1_000
export const MAX_SUBSCRIBE_PACKAGES = 100
/** `canUseFeatures` and `recordUsages`: one request is one round trip, not a bulk loader. */
export const MAX_BATCH = 100
export const MAX_ORIGINS = 100
/** What browsers and providers still carry. */
export const MAX_URL_CHARACTERS = 2_048
export const MAX_GRACE_DAYS = 365
/** A page of a provider's notices, each with all that it said. */
export const MAX_NOTICES = 200
export const MAX_PAST_PERIODS = 24
/** Where test clocks end: the periods after it still lie within four-digit years. */
export const LATEST_TEST_CLOCK = Date.UTC(9000, 0)

export const MAX_BODY_BYTES = 1024 * 1024
export const MAX_DOCUMENT_BYTES = 64 * 1024
export const MAX_TOKENS = 1_000
/** The deepest useful query is 4 levels, introspection as clients send it is 15. */
export const MAX_DEPTH = 20
/** Aliases repeat work: an operation may use this many in all. */
export const MAX_ALIASES = 50
/** Every mutation field is a transaction of its own. */
export const MAX_ROOT_FIELDS = 50

/** What a field costs: `graphql/engine/field-cost.ts`. All features with all their packages cost 140,000. */
export const MAX_COST = 200_000
/** For members of the dashboard, whose types hold more; every field of every one of its lists costs less. */
export const MAX_MEMBER_COST = 300_000
/** All packages and all subscriptions with theirs cost 28,000: two of those, as an end user, in one operation. */
export const MAX_CLIENT_COST = 40_000
/** What the schema itself is asked; what tools send to learn all of it costs 124,000. */
export const MAX_INTROSPECTION_COST = 150_000
/** What somebody who has not signed in to the dashboard may send: signing in takes 30. */
export const MAX_VISITOR_TOKENS = 100

/** Keys, users and addresses whose requests are counted; those seen longest ago are forgotten first. */
export const MAX_RATE_LIMIT_SOURCES = 100_000

/** An `X-Request-Id` that is taken over. */
export const MAX_REQUEST_ID_CHARACTERS = 128
export const MAX_HEADER_BYTES = 16 * 1024
export const HEADERS_TIMEOUT_MS = 10_000
/** Longer than load balancers and clients keep an idle connection, so that it is they who close it. */
export const KEEP_ALIVE_MS = 75_000
/** The whole of a request, but for files. */
export const REQUEST_TIMEOUT_MS = 30_000
/** A file to import: the largest takes this long over 2 Mbit/s. */
export const UPLOAD_TIMEOUT_MS = 10 * 60 * 1000
export const SHUTDOWN_GRACE_MS = 10_000
/** How long the service goes on answering after it was told to stop, unless set. */
export const DRAIN_MS = 1_000
/** Clients that are connected to one process at once, where the system lets it have so many. */
export const MAX_CONNECTIONS = 10_000
/** How long a client may take in nothing of its answer, unless set. */
export const STALLED_READER_MS = 30_000
/** Requests that a client may send ahead on one connection. */
export const MAX_PIPELINED_REQUESTS = 1_000

/** When a caller is told that there is no answer; `TOLLGATE_REQUEST_TIMEOUT_MS` sets another time. */
export const REQUEST_DEADLINE_MS = 10_000
/** The same for the few operations that go through all of an app's users. */
export const LONG_REQUEST_DEADLINE_MS = 5 * 60 * 1000
/** Requests under way in one process: each holds its body and its answer in memory. */
export const MAX_REQUESTS_UNDER_WAY = 10_000
/** Calls of one hot path that wait for their batch. */
export const MAX_WAITING_CALLS = 20_000

/** One statement, of those that a request waits for. */
export const STATEMENT_TIMEOUT_MS = 8_000
/** One statement of an import, of retention or of a preview over all users. */
export const LONG_STATEMENT_TIMEOUT_MS = 60_000
export const LOCK_TIMEOUT_MS = 5_000
/** What a process that vanished in the middle of a transaction had locked is free again after this time. */
export const IDLE_IN_TRANSACTION_MS = 4_000
export const CONNECT_TIMEOUT_MS = 3_000
/** For a free connection of the pool. */
export const CONNECTION_WAIT_MS = 10_000
export const MAX_TRANSACTION_ATTEMPTS = 5
/** For the database to show that it reads and writes, when `/readyz` is asked. */
export const READY_TIMEOUT_MS = 2_500

/** How often a record may find its counter moved by others: of 16 who always race, hardly one ever loses so often. */
export const MAX_LOST_RACES = 500
/** How often it may find that others made the counter or the key it was to make: the next read sees them. */
export const MAX_WRITE_CONFLICTS = 20
/** How often the catalogue may change while a check is under way. */
export const MAX_STALE_READS = 20
/** How often a user's id may change while the user asks something. */
export const MAX_ID_CHANGES = 5

export const MAX_IDEMPOTENCY_KEY_CHARACTERS = 255
export const IDEMPOTENCY_KEPT_HOURS = 24
/** The longest time that can be set for records to be kept, short of for ever. */
export const MAX_KEPT_DAYS = 36_500

export const USER_TOKEN_SECONDS = 60 * 60
export const SESSION_SECONDS = 14 * 24 * 60 * 60
export const MIN_PASSWORD_CHARACTERS = 10
export const MAX_PASSWORD_CHARACTERS = 1_024
/** Wrong passwords for one account from one address, or from a browser that the account knows; then one a minute. */
export const SIGN_IN_TRIES = 10
export const SIGN_IN_EVERY_MS = 60_000
/** From one address, whatever the account. */
export const SIGN_IN_ADDRESS_TRIES = 100
export const SIGN_IN_ADDRESS_EVERY_MS = 10_000
/** For one account, from all browsers that it does not know: many addresses may guess together. */
export const SIGN_IN_ACCOUNT_TRIES = 100
export const SIGN_IN_ACCOUNT_EVERY_MS = 10_000
/** How long a browser that has signed in to an account is known to it; browsers keep nothing for longer. */
export const KNOWN_DEVICE_SECONDS = 400 * 24 * 60 * 60
/** Passwords that wait to be hashed, in one process; those of known browsers may be twice as many. */
export const MAX_WAITING_PASSWORDS = 8
/** An Admin key that the environment gives; those that are made here have 256 bits. */
export const MIN_API_KEY_CHARACTERS = 20
export const INVITATION_HOURS = 7 * 24
/** How long a rotated API key may go on working. */
export const MAX_KEY_OVERLAP_HOURS = 30 * 24
/** Rows on one page of a list in the dashboard. */
export const MAX_PAGE = 500

/** A CSV file of users: a million rows of everyday length take half of it. */
export const MAX_IMPORT_BYTES = 128 * 1024 * 1024
/** One row of it, quotes and all. */
export const MAX_IMPORT_ROW_CHARACTERS = 16 * 1024
/** Imports of an app whose report and way back are kept. */
export const KEPT_IMPORTS = 20
export const MAX_ACTIVITY_POINTS = 1_000
