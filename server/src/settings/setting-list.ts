/** Every setting of the service, with one line for `--help`. docs/operations.md describes them in full. */
export const SETTING_LIST: readonly (readonly [names: string, meaning: string])[] = [
  ['PORT, HOST', 'address to listen on (4000, 127.0.0.1)'],
  ['DATABASE_URL', 'PostgreSQL 15 or later, instead of the embedded one'],
  ['DATABASE_DIRECT_URL', 'the same database, bypassing a connection pooler'],
  ['DATABASE_REPLICA_URL', "standby for the dashboard's lists and figures"],
  ['TOLLGATE_DATA_DIR', 'folder of the embedded database and generated secrets (./data)'],
  ['TOLLGATE_POSTGRES_USER', 'account that runs the embedded PostgreSQL if root starts it'],
  ['TOLLGATE_MASTER_KEY', 'key that encrypts secrets: 32 bytes in hex or base64'],
  ['TOLLGATE_MASTER_KEY_FILE', 'file with that key'],
  ['TOLLGATE_TOKEN_ALGORITHM', 'algorithm of user tokens: HS256 or EdDSA (HS256)'],
  ['TOLLGATE_API_KEY', 'API key of the app default, at least 20 characters'],
  ['TOLLGATE_OWNER_EMAIL', 'email address of the first member of the dashboard'],
  ['TOLLGATE_OWNER_PASSWORD', "the first member's password, at least 10 characters"],
  ['TOLLGATE_PUBLIC_URL', 'base of generated links (http://HOST:PORT)'],
  ['TOLLGATE_SMTP_URL', 'mail server for invitations and password resets'],
  ['TOLLGATE_MAIL_FROM', 'sender of those emails'],
  ['STRIPE_SECRET_KEY', 'enables Stripe for the app default'],
  ['STRIPE_WEBHOOK_SECRET', 'signing secret of its webhook endpoint'],
  ['STRIPE_API_BASE', "replacement for Stripe's address, for tests"],
  ['TOLLGATE_WORKERS', 'processes that serve requests on one port (1)'],
  ['TOLLGATE_REQUEST_TIMEOUT_MS', 'time limit of a request (10000)'],
  ['TOLLGATE_DRAIN_MS', 'how long requests are accepted after SIGTERM (1000)'],
  ['TOLLGATE_GRACE_MS', 'how long running requests may take after that (10000)'],
  ['TOLLGATE_MAX_CONNECTIONS', 'concurrent client connections per process'],
  ['TOLLGATE_WEBHOOK_ALLOW_PRIVATE', 'on allows webhook endpoints in private networks (off)'],
  ['TOLLGATE_PLAIN_HTTP', 'off serves everything through node:http (on)'],
  ['TOLLGATE_STALLED_READER_MS', 'how long a client may stop reading its response (30000)'],
  ['TOLLGATE_RATE_LIMIT_KEY', 'requests per second per API key (off)'],
  ['TOLLGATE_RATE_LIMIT_TOKEN', 'requests per second per user with a token (50/500)'],
  ['TOLLGATE_RATE_LIMIT_ADDRESS', 'requests per second per address (200/4000)'],
  ['TOLLGATE_TRUSTED_PROXIES', 'proxies whose X-Forwarded-For is trusted'],
  ['TOLLGATE_METRICS_TOKEN', 'bearer token for GET /metrics'],
  ['TOLLGATE_LOG_LEVEL', 'fatal, error, warn, info, debug, trace or silent (info)'],
  ['TOLLGATE_LOG_FORMAT', 'json, text or auto (auto)'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OpenTelemetry collector; turns traces on'],
  ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'the same, for traces alone, as a full URL'],
  ['OTEL_TRACES_EXPORTER', 'otlp turns traces on, none turns them off'],
  ['OTEL_SDK_DISABLED', 'true turns traces off'],
  ['TOLLGATE_KEEP_AUDIT_DAYS', 'retention of audit entries about people, or forever (400)'],
  ['TOLLGATE_KEEP_API_AUDIT_DAYS', 'retention of audit entries about keys and providers (90)'],
  ['TOLLGATE_KEEP_NOTICES_DAYS', 'retention of processed webhook events (90)'],
  ['TOLLGATE_KEEP_PAYMENTS_DAYS', 'retention of payments on the Revenue page (800)'],
  ['TOLLGATE_KEEP_CHECKOUTS_DAYS', 'retention of closed payment links (90)'],
  ['TOLLGATE_KEEP_LEDGER_DAYS', 'retention of usage ledger entries (forever)'],
  ['TOLLGATE_LEDGER_PARTITION_DAYS', 'days in one partition of the ledger (30)'],
  ['TOLLGATE_KEEP_ACTIVITY_DAYS', "retention of the dashboard's call counts (90)"],
  ['TOLLGATE_KEEP_RECEIPTS_HOURS', 'retention of answers to idempotent requests (24)'],
]

/** The list that is shown below the options of a command. */
export function settingsHelp(list: typeof SETTING_LIST = SETTING_LIST): string {
  const width = Math.max(...list.map(([names]) => names.length))
  const lines = list.map(([names, meaning]) => `  ${names.padEnd(width)}  ${meaning}`)
  return ['Settings (environment variables, with their defaults):', ...lines].join('\n')
}

/** Settings by which the data tools find an installation. */
const DATA_SETTINGS = ['DATABASE_URL', 'DATABASE_DIRECT_URL', 'TOLLGATE_DATA_DIR']

export const dataSettingsHelp = (): string =>
  settingsHelp(SETTING_LIST.filter(([names]) => DATA_SETTINGS.includes(names)))
