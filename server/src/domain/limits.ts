/** All limits of the service. Tests try each one just below and just above. */

/** Largest integer that JSON and JavaScript both represent exactly. Limits, budgets and usage stay within it. */
export const MAX_COUNT = Number.MAX_SAFE_INTEGER

export const MAX_IDENTIFIER_CHARACTERS = 255
export const MAX_TEXT_CHARACTERS = 1_024
export const MAX_METADATA_BYTES = 16 * 1024
export const MAX_METADATA_DEPTH = 32

export const MAX_PACKAGE_FEATURES = 1_000
/**
 * Per app, including archived ones. A catalogue is kept in memory as a whole and reloaded by every process after a
 * change. At the limit this takes a quarter of a second, during which checks of that app wait.
 */
export const MAX_FEATURES = 5_000
export const MAX_PACKAGES = 5_000
/** Per app, including archived ones. Pages list all of them, and a template is made from a list of all prices. */
export const MAX_PRICES = 5_000
export const MAX_BILLING_TEMPLATES = 5_000
/** Per app, without revoked ones. Their page lists all of them. */
export const MAX_API_KEYS = 1_000
/** Per installation, together with open invitations. Their page lists all of them. */
export const MAX_MEMBERS = 5_000
/**
 * Publications and migrations since a package was last published for all. The grants of its versions are kept in
 * memory.
 */
export const MAX_PACKAGE_HISTORY = 100
export const MAX_SUBSCRIBE_PACKAGES = 100
/** Of one subscription. It multiplies the limits of the package. */
export const MAX_QUANTITY = 1_000_000
/**
 * Largest charge in minor units: a price, a price times its quantity, or a total. Stripe accepts at most twelve digits
 * (for rupiah), and thousands of such amounts still add up exactly.
 */
export const MAX_AMOUNT = 999_999_999_999
export const MAX_TRIAL_DAYS = 730
/** `canUseFeatures` and `recordUsages`: one request is one round trip, not a bulk loader. */
export const MAX_BATCH = 100
/** Per user and feature, of those that can still be used. Every record of the feature reads all of them. */
export const MAX_CREDITS = 1_000
/** A credit's place in the order of use. The plan's is 50. */
export const MAX_CREDIT_PRIORITY = 1_000
/** How long credits that are sold can be used: ten years. */
export const MAX_CREDIT_DAYS = 3_650
/** Live ones per user and feature. Every check and record of the feature adds them up. */
export const MAX_RESERVATIONS = 1_000
/** A reservation blocks what it holds. Work that takes longer extends it. */
export const MAX_RESERVATION_SECONDS = 24 * 60 * 60
/** How long a reservation is kept after its expiry, at least. */
export const RESERVATION_KEPT_DAYS = 30
/** Ended credits that a revert can refill, newest first. */
export const MAX_REFILLED_CREDITS = 20
/** Per user, of all features. Every record of a feature reads those of the feature. */
export const MAX_CAPS = 100
/** Of a user on their page in the dashboard. Only those of the plans can be more than `MAX_CAPS`. */
export const MAX_LISTED_CAPS = 200
/** Per user, of all features. */
export const MAX_AUTO_RECHARGES = 100
/** Users whose rows are changed by the deletion of a feature that they have or had credits of. Far below the time limit of a request. */
export const MAX_FORGOTTEN_SPENDERS = 10_000
/** Of an entitlement. A decision reads a count for each, and for each entity that a call names. */
export const MAX_PLAN_CAPS = 10
/** Of a call. Each may have caps, and every reservation stores them. */
export const MAX_ENTITIES = 4
/** Features that draw on one pool. */
export const MAX_COSTS = 100
/** Units of a pool for one unit of a feature. */
export const MAX_POOL_COST = 1_000_000
/** Sources of a pool that a revert can refill, of those that a feature last drew on. */
export const MAX_DRAWN_PARTS = 20
/** Per user, in force. Every check of the user reads all of them. */
export const MAX_OVERRIDES = 100
export const MAX_ORIGINS = 100
/** Accepted by browsers and providers. */
export const MAX_URL_CHARACTERS = 2_048
export const MAX_GRACE_DAYS = 365
/** Webhook events on a page. Each one contains its whole payload. */
export const MAX_NOTICES = 200
export const MAX_PAST_PERIODS = 24
/** Latest time of a test clock. Periods stay within four-digit years. */
export const LATEST_TEST_CLOCK = Date.UTC(9000, 0)

export const MAX_BODY_BYTES = 1024 * 1024
export const MAX_DOCUMENT_BYTES = 64 * 1024
export const MAX_TOKENS = 1_000
/** The deepest useful query has 4 levels; introspection as clients send it has 15. */
export const MAX_DEPTH = 20
/** Aliases repeat work. This is the maximum per operation. */
export const MAX_ALIASES = 50
/** Every mutation field is a separate transaction. */
export const MAX_ROOT_FIELDS = 50

/**
 * The cost of a field is defined in `graphql/engine/field-cost.ts`. All features with all their packages cost 140,000.
 */
export const MAX_COST = 200_000
/** For members, whose schema is larger. Any of its lists with all fields costs less. */
export const MAX_MEMBER_COST = 600_000
/** All packages and all subscriptions with their packages cost 28,000, which the page of an end user may request. */
export const MAX_CLIENT_COST = 40_000
/** Introspection only; the full query that tools send costs 124,000. */
export const MAX_INTROSPECTION_COST = 150_000
/** For visitors of the dashboard who are not signed in. Signing in takes 30. */
export const MAX_VISITOR_TOKENS = 100

/** Keys, users and addresses with a rate limit. The least recently seen are dropped first. */
export const MAX_RATE_LIMIT_SOURCES = 100_000

/** Apps cached by each process. The least recently used are dropped first. */
export const MAX_CACHED_APPS = 1_000
/** API keys, and as many signing keys of user tokens. */
export const MAX_CACHED_KEYS = 10_000
/** Counters that each process remembers, about a kilobyte each. The least recently used are dropped first. */
export const MAX_REMEMBERED_COUNTERS = 20_000
/** Credits that each process remembers, some 200 bytes each. Those of the least recently used users are dropped first. */
export const MAX_REMEMBERED_CREDITS = 100_000
/** Credits, caps and reservations that each process remembers in order to decide by them. Those of the least recently used users are dropped first. */
export const MAX_REMEMBERED_SPENDING = 50_000
/** Reservations of one user that each process remembers. The oldest are dropped first. */
export const MAX_SPENDER_RESERVATIONS = 100
/** Reservations whose user each process remembers, some 200 bytes each. The least recently used are dropped first. */
export const MAX_REMEMBERED_RESERVATIONS = 20_000
/** Parsed GraphQL documents per endpoint: about a thousand of typical size. */
export const MAX_CACHED_DOCUMENT_BYTES = 32 * 1024 * 1024
/** Stripe accounts whose clients are cached with their connections. */
export const MAX_STRIPE_CLIENTS = 100

/** Of an `X-Request-Id` sent by the caller. */
export const MAX_REQUEST_ID_CHARACTERS = 128
export const MAX_HEADER_BYTES = 16 * 1024
export const HEADERS_TIMEOUT_MS = 10_000
/** Longer than load balancers and clients keep idle connections, so that they close them first. */
export const KEEP_ALIVE_MS = 75_000
/** To receive a whole request, except uploads. */
export const REQUEST_TIMEOUT_MS = 30_000
/** To receive an imported file. The largest one takes this long over 2 Mbit/s. */
export const UPLOAD_TIMEOUT_MS = 10 * 60 * 1000
export const SHUTDOWN_GRACE_MS = 10_000
/** How long requests are still accepted after SIGTERM, by default. */
export const DRAIN_MS = 1_000
/** Concurrent connections per process, if the limit of open files allows as many. */
export const MAX_CONNECTIONS = 10_000
/** How long a client may stop reading a response, by default. */
export const STALLED_READER_MS = 30_000
/** Pipelined requests per connection. */
export const MAX_PIPELINED_REQUESTS = 1_000

/** After this time a request fails, by default (`TOLLGATE_REQUEST_TIMEOUT_MS`). */
export const REQUEST_DEADLINE_MS = 10_000
/** The same for the few operations that read all users of an app. */
export const LONG_REQUEST_DEADLINE_MS = 5 * 60 * 1000
/** Concurrent requests per process. The body and response of each are in memory. */
export const MAX_REQUESTS_UNDER_WAY = 10_000
/** Calls waiting for a batch, per hot path. */
export const MAX_WAITING_CALLS = 20_000

/** One statement that a request waits for. */
export const STATEMENT_TIMEOUT_MS = 8_000
/** One statement of an import, of retention or of a preview over all users. */
export const LONG_STATEMENT_TIMEOUT_MS = 60_000
export const LOCK_TIMEOUT_MS = 5_000
/** After this time, locks of a process that vanished in the middle of a transaction are released. */
export const IDLE_IN_TRANSACTION_MS = 4_000
export const CONNECT_TIMEOUT_MS = 3_000
/** Wait for a free connection of the pool. */
export const CONNECTION_WAIT_MS = 10_000
export const MAX_TRANSACTION_ATTEMPTS = 5
/** Wait of `/readyz` for the database to show that it reads and writes. */
export const READY_TIMEOUT_MS = 2_500

/** Attempts of a record to update its counter. With 16 constant competitors, hardly any needs this many. */
export const MAX_LOST_RACES = 500
/** Attempts after others created the counter or key first. The next read sees them. */
export const MAX_WRITE_CONFLICTS = 20
/** Attempts of a check during which the catalogue changes. */
export const MAX_STALE_READS = 20
/** Attempts of a request during which the user's id changes. */
export const MAX_ID_CHANGES = 5
/** Attempts of a change that others overtake between its decision and its locks. */
export const MAX_OVERTAKEN = 5
/**
 * Attempts to read a provider's object that others change meanwhile. There are a handful of concurrent writers at most.
 */
export const MAX_PROVIDER_READS = 10
/** Attempts at processing an event, with growing pauses: about a day. */
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
/** For one account, from all unknown browsers together, since many addresses may guess at once. */
export const SIGN_IN_ACCOUNT_TRIES = 100
export const SIGN_IN_ACCOUNT_EVERY_MS = 10_000
/** How long a browser that has signed in to an account is remembered; browsers keep cookies no longer. */
export const KNOWN_DEVICE_SECONDS = 400 * 24 * 60 * 60
/** Passwords waiting to be hashed, per process. Known browsers may queue twice as many. */
export const MAX_WAITING_PASSWORDS = 8
/** Minimum length of an Admin key from the environment. Generated keys have 256 bits. */
export const MIN_API_KEY_CHARACTERS = 20
export const INVITATION_HOURS = 7 * 24
/** Validity of a password reset link: long enough to hand it over, short because it is as good as a password. */
export const PASSWORD_RESET_HOURS = 24
/** How long a rotated API key may keep working. */
export const MAX_KEY_OVERLAP_HOURS = 30 * 24
/** Days of one revenue chart: two years, compared with the two years before. */
export const MAX_REVENUE_DAYS = 731
/** Rows on one page of a list in the dashboard, and items in one answer of a REST list. */
export const MAX_PAGE = 500
/**
 * Rows that one page of a filtered list scans, which takes tens of milliseconds. The next page continues from there.
 */
export const MAX_LOOKED_AT = 20_000
/** The total of a filtered list above this is reported as "more". */
export const MAX_COUNTED = 10_000
/** The same for a list without such a filter, which an index counts in a tenth of a second. */
export const MAX_TOTAL = 100_000
/** Subscriptions among which a page sorted by amount is found: the price of each of them is looked up. */
export const MAX_SORTED_BY_AMOUNT = 100_000
/** Users found by part of a word. All of them are fetched to find the best ones. */
export const MAX_USERS_BY_PART = 100

/** Entries of the audit log that one page scans for combined filters. */
export const MAX_AUDIT_SCAN = 5_000
/** Audit entries about failed sign-ins per hour, of known and of unknown accounts. Further ones are only counted. */
export const MAX_FAILED_SIGN_INS = 100

/** A CSV file of users: a million rows of typical length take half of it. */
export const MAX_IMPORT_BYTES = 128 * 1024 * 1024
/** One row of it, quotes and all. */
export const MAX_IMPORT_ROW_CHARACTERS = 16 * 1024
/** Imports per app that keep their report and can be undone. */
export const KEPT_IMPORTS = 20
/** Users or subscriptions of one bulk change. Each is changed by an operation of its own. */
export const MAX_BULK_ROWS = 100_000
/** Users or subscriptions that a bulk change names one by one: a page of a list. */
export const MAX_BULK_IDS = 500
/** Bulk changes of an app that are checked, applied or undone at the same time; they take turns. */
export const MAX_RUNNING_BULK_CHANGES = 5
/** Bulk changes per app that keep their rows and can be undone. */
export const KEPT_BULK_CHANGES = 20
/** Rows per page of `exportUser`. */
export const MAX_EXPORTED_ROWS = 2_000
export const MAX_ACTIVITY_POINTS = 1_000
/** Buckets of a usage series: 41 days of hours, or nearly three years of days. */
export const MAX_USAGE_POINTS = 1_000

/** Events on a page. */
export const MAX_EVENTS = 500
/** Events that one page looks at for those of some types. The next page continues from there. */
export const MAX_EVENT_SCAN = 10_000
/** How long an app can keep its events: the table `app` has the same bound. */
export const MAX_EVENT_DAYS = 90
/** Open event streams per process. Each reads its events again when something is published. */
export const MAX_EVENT_STREAMS = 64
/** Of one app, so that it leaves some to others. */
export const MAX_EVENT_STREAMS_PER_APP = 16
/** Percentages per feature at which usage is reported. */
export const MAX_THRESHOLDS = 10
/** Ten times the budget: of a feature with overage. */
export const MAX_THRESHOLD = 1_000
/** Rows of the outbox per publication: checks wait while their events are composed. */
export const MAX_PUBLISHED_ROWS = 200
/** Events of usage after which a publication takes no more transactions. They are only copied. */
export const MAX_COPIED_EVENTS = 2_000
/** Subscribers of a changed package whose entitlements one publication reports. */
export const MAX_FANOUT_USERS = 100

/** Cells per installation. Each takes connections of every process. */
export const MAX_CELLS = 64
/** Wait for another server to complete what was committed here. */
export const MAX_PREPARED_WAIT_MS = 1_000

/** Per app. Every event is matched with all of them. */
export const MAX_WEBHOOK_ENDPOINTS = 32
/** For one delivery, from DNS to the response. */
export const WEBHOOK_TIMEOUT_MS = 15_000
/** Of a response to a delivery. At a longer one, the connection is closed. */
export const MAX_WEBHOOK_RESPONSE_BYTES = 16 * 1024
/** Of a response in the delivery log. */
export const MAX_LOGGED_RESPONSE_CHARACTERS = 1_024
/** Concurrent deliveries to one endpoint per process, so that a slow one takes a small part of all. */
export const MAX_DELIVERIES_PER_ENDPOINT = 8
/** Concurrent deliveries per process. */
export const MAX_DELIVERIES_UNDER_WAY = 128
/** Attempts in the log of one delivery, resends included. The oldest are dropped first. */
export const MAX_LOGGED_ATTEMPTS = 20
/** Deliveries on a page. Each one contains its event and its attempts. */
export const MAX_DELIVERIES = 100
/** Events per call of `resendEvents`. */
export const MAX_RESENT_EVENTS = 100
/** Deliveries per call of `resendFailedEvents`, which is one transaction. */
export const MAX_RESENT_FAILED = 10_000
/** How long the previous signing secret of a webhook endpoint signs as well. */
export const WEBHOOK_SECRET_OVERLAP_HOURS = 24
