/** Every bound of the service, in one place. Tests try each just below and just above. */

/** The largest whole number that JSON and JavaScript agree on: limits, budgets and usage stay within it. */
export const MAX_COUNT = Number.MAX_SAFE_INTEGER

export const MAX_IDENTIFIER_CHARACTERS = 255
export const MAX_TEXT_CHARACTERS = 1_024
export const MAX_METADATA_BYTES = 16 * 1024
export const MAX_METADATA_DEPTH = 32

export const MAX_PACKAGE_FEATURES = 1_000
/**
 * Of one app, archived ones included. A catalogue is in memory as a whole, and every process reads it again after a
 * change: a quarter of a second with so many of both, during which a check of that app waits.
 */
export const MAX_FEATURES = 5_000
export const MAX_PACKAGES = 5_000
/** Of one app, archived ones included. Their pages list them all, and a template is made from a list of all prices. */
export const MAX_PRICES = 5_000
export const MAX_BILLING_TEMPLATES = 5_000
/** Of one app, those that work. Their page lists them all. */
export const MAX_API_KEYS = 1_000
/** Of the installation, together with open invitations. Their page lists them all. */
export const MAX_MEMBERS = 5_000
/** Publications and migrations since a package was last published for all: what its versions granted is in memory. */
export const MAX_PACKAGE_HISTORY = 100
export const MAX_SUBSCRIBE_PACKAGES = 100
/** Of one subscription: what its limits are multiplied by. */
export const MAX_QUANTITY = 1_000_000
/**
 * Of one charge, in minor units: a price, a price times its quantity, or all that is charged together. Twelve digits are
 * the most that Stripe accepts in any currency (it does for rupiah), and thousands of such amounts still add up exactly.
 */
export const MAX_AMOUNT = 999_999_999_999
/** A trial lasts no longer. */
export const MAX_TRIAL_DAYS = 730
/** `canUseFeatures` and `recordUsages`: one request is one round trip, not a bulk loader. */
export const MAX_BATCH = 100
/** Of one user, in force: every check of that user reads them all. */
export const MAX_OVERRIDES = 100
export const MAX_ORIGINS = 100
/** What browsers and providers can handle. */
export const MAX_URL_CHARACTERS = 2_048
export const MAX_GRACE_DAYS = 365
/** A page of provider notices, each with its whole payload. */
export const MAX_NOTICES = 200
export const MAX_PAST_PERIODS = 24
/** Test clocks go no further, so that periods stay within four-digit years. */
export const LATEST_TEST_CLOCK = Date.UTC(9000, 0)

export const MAX_BODY_BYTES = 1024 * 1024
export const MAX_DOCUMENT_BYTES = 64 * 1024
export const MAX_TOKENS = 1_000
/** The deepest useful query has 4 levels; introspection as clients send it has 15. */
export const MAX_DEPTH = 20
/** Aliases repeat work: an operation may use this many in all. */
export const MAX_ALIASES = 50
/** Every mutation field is a separate transaction. */
export const MAX_ROOT_FIELDS = 50

/** What a field costs: `graphql/engine/field-cost.ts`. All features with all their packages cost 140,000. */
export const MAX_COST = 200_000
/** For members, whose schema is larger; any of its lists with all fields costs less. */
export const MAX_MEMBER_COST = 300_000
/** All packages and all subscriptions with theirs cost 28,000: an end user's page may ask for that and some more. */
export const MAX_CLIENT_COST = 40_000
/** Introspection only; the full query that tools send costs 124,000. */
export const MAX_INTROSPECTION_COST = 150_000
/** For visitors of the dashboard who have not signed in: signing in takes 30. */
export const MAX_VISITOR_TOKENS = 100

/** Keys, users and addresses whose requests are counted; the least recently seen are dropped first. */
export const MAX_RATE_LIMIT_SOURCES = 100_000

/** Kept in memory by each process; the least recently used are dropped first, and read again when needed. */
export const MAX_CACHED_APPS = 1_000
/** API keys, and those that sign user tokens: so many of each. */
export const MAX_CACHED_KEYS = 10_000
/** Parsed GraphQL documents of one endpoint: about a thousand of everyday size. */
export const MAX_CACHED_DOCUMENT_BYTES = 32 * 1024 * 1024
/** Stripe accounts whose clients are kept with their open connections. */
export const MAX_STRIPE_CLIENTS = 100

/** Of a caller's own `X-Request-Id`. */
export const MAX_REQUEST_ID_CHARACTERS = 128
export const MAX_HEADER_BYTES = 16 * 1024
export const HEADERS_TIMEOUT_MS = 10_000
/** Longer than load balancers and clients keep idle connections, so that they close them first. */
export const KEEP_ALIVE_MS = 75_000
/** To receive a whole request, except for uploads. */
export const REQUEST_TIMEOUT_MS = 30_000
/** A file to import: the largest takes this long over 2 Mbit/s. */
export const UPLOAD_TIMEOUT_MS = 10 * 60 * 1000
export const SHUTDOWN_GRACE_MS = 10_000
/** How long requests are still accepted after SIGTERM, by default. */
export const DRAIN_MS = 1_000
/** Concurrent connections per process, if the limit of open files allows as many. */
export const MAX_CONNECTIONS = 10_000
/** How long a client may stop reading its answer, by default. */
export const STALLED_READER_MS = 30_000
/** Requests that a client may pipeline on one connection. */
export const MAX_PIPELINED_REQUESTS = 1_000

/** When a request without an answer is given up, by default (`TOLLGATE_REQUEST_TIMEOUT_MS`). */
export const REQUEST_DEADLINE_MS = 10_000
/** The same for the few operations that go through all of an app's users. */
export const LONG_REQUEST_DEADLINE_MS = 5 * 60 * 1000
/** Concurrent requests per process: each holds its body and its answer in memory. */
export const MAX_REQUESTS_UNDER_WAY = 10_000
/** Calls of one hot path waiting for their batch. */
export const MAX_WAITING_CALLS = 20_000

/** One statement that a request waits for. */
export const STATEMENT_TIMEOUT_MS = 8_000
/** One statement of an import, of retention or of a preview over all users. */
export const LONG_STATEMENT_TIMEOUT_MS = 60_000
export const LOCK_TIMEOUT_MS = 5_000
/** After this time, locks of a process that vanished in the middle of a transaction are released. */
export const IDLE_IN_TRANSACTION_MS = 4_000
export const CONNECT_TIMEOUT_MS = 3_000
/** To wait for a free connection of the pool. */
export const CONNECTION_WAIT_MS = 10_000
export const MAX_TRANSACTION_ATTEMPTS = 5
/** For the database to prove that it reads and writes, when `/readyz` is called. */
export const READY_TIMEOUT_MS = 2_500

/** How often a record may lose the race for its counter: with 16 constant racers, hardly any loses this often. */
export const MAX_LOST_RACES = 500
/** How often it may find that others created its counter or key first: the next read sees them. */
export const MAX_WRITE_CONFLICTS = 20
/** How often the catalogue may change while a check is under way. */
export const MAX_STALE_READS = 20
/** How often a user's id may change during one request of that user. */
export const MAX_ID_CHANGES = 5
/** How often others may change a user between a decision and the locks for it. */
export const MAX_OVERTAKEN = 5
/** How often others may change what a provider is being asked about: concurrent writers are a handful at most. */
export const MAX_PROVIDER_READS = 10
/** With growing pauses, before someone has to look at a notice: about a day. */
export const MAX_NOTICE_ATTEMPTS = 18

export const MAX_IDEMPOTENCY_KEY_CHARACTERS = 255
export const IDEMPOTENCY_KEPT_HOURS = 24
/** The longest retention that can be set, short of `forever`. */
export const MAX_KEPT_DAYS = 36_500

export const USER_TOKEN_SECONDS = 60 * 60
export const SESSION_SECONDS = 14 * 24 * 60 * 60
export const MIN_PASSWORD_CHARACTERS = 10
export const MAX_PASSWORD_CHARACTERS = 1_024
/** Wrong passwords for one account from one address, or from a known browser; then one a minute. */
export const SIGN_IN_TRIES = 10
export const SIGN_IN_EVERY_MS = 60_000
/** From one address, whatever the account. */
export const SIGN_IN_ADDRESS_TRIES = 100
export const SIGN_IN_ADDRESS_EVERY_MS = 10_000
/** For one account, from all unknown browsers together: many addresses may guess at once. */
export const SIGN_IN_ACCOUNT_TRIES = 100
export const SIGN_IN_ACCOUNT_EVERY_MS = 10_000
/** How long a browser that has signed in to an account stays known; browsers keep cookies no longer. */
export const KNOWN_DEVICE_SECONDS = 400 * 24 * 60 * 60
/** Passwords waiting to be hashed, per process; twice as many for known browsers. */
export const MAX_WAITING_PASSWORDS = 8
/** Of an Admin key from the environment; generated ones have 256 bits. */
export const MIN_API_KEY_CHARACTERS = 20
export const INVITATION_HOURS = 7 * 24
/** Long enough to hand the link over, too short for it to lie around: it is as good as a password. */
export const PASSWORD_RESET_HOURS = 24
/** How long a rotated API key may keep working. */
export const MAX_KEY_OVERLAP_HOURS = 30 * 24
/** Rows on one page of a list in the dashboard. */
export const MAX_PAGE = 500
/** Rows that one page of a filtered list looks at: tens of milliseconds. The next page goes on from there. */
export const MAX_LOOKED_AT = 20_000
/** What a list's total counts to; beyond, it says that there are more. */
export const MAX_COUNTED = 10_000
/** Of users found by a part of a word: each is fetched before the best are known, and nobody reads more. */
export const MAX_USERS_BY_PART = 100

/** Entries of the audit log that one page looks at to find those that match several filters. */
export const MAX_AUDIT_SCAN = 5_000
/** Entries about failed sign-ins in an hour, of known accounts and of unknown ones; further ones are only counted. */
export const MAX_FAILED_SIGN_INS = 100

/** A CSV file of users: a million rows of typical length take half of it. */
export const MAX_IMPORT_BYTES = 128 * 1024 * 1024
/** One row of it, quotes and all. */
export const MAX_IMPORT_ROW_CHARACTERS = 16 * 1024
/** Imports of an app that keep their report and can be undone. */
export const KEPT_IMPORTS = 20
/** Rows of one answer of exportUser; the rest is in the next. */
export const MAX_EXPORTED_ROWS = 2_000
export const MAX_ACTIVITY_POINTS = 1_000

/** Cells of an installation: each takes connections of every process. */
export const MAX_CELLS = 64
/** For another server to complete what was committed here. */
export const MAX_PREPARED_WAIT_MS = 1_000
