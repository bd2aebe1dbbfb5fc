import { resolve } from 'node:path'
import { StartError } from '../domain/errors.ts'
import {
  DRAIN_MS,
  MIN_API_KEY_CHARACTERS,
  REQUEST_DEADLINE_MS,
  SHUTDOWN_GRACE_MS,
  STALLED_READER_MS,
} from '../domain/limits.ts'
import { parseUrl } from '../domain/url.ts'
import type { Rate } from '../http/rate-limit.ts'
import type { HttpSettings } from '../http/server.ts'
import { readTrustedProxies, type TrustedProxies } from '../http/source-address.ts'
import type { LedgerSettings } from '../operations/upkeep/keep-ledger.ts'
import type { Retention } from '../operations/upkeep/prune.ts'
import { TOKEN_ALGORITHMS, type TokenAlgorithm } from '../store/apps/token-keyring.ts'
import { readServers } from '../store/connection/server-addresses.ts'
import { parseMasterKeys } from '../store/secrets/keyring.ts'
import type { TelemetrySettings } from '../telemetry/tracing.ts'
import { type MailSettings, readMail } from './mail-settings.ts'
import { readLedgerSettings, readRetention } from './retention-settings.ts'
import { readTelemetry } from './telemetry-settings.ts'

export interface Config {
  host: string
  port: number
  /** null: run an embedded PostgreSQL in the data folder */
  databaseUrl: string | null
  /** bypasses a pooler at the other URL; null: there is none */
  databaseDirectUrl: string | null
  /** a standby for lists and figures; null: there is none */
  databaseReplicaUrl: string | null
  dataDir: string
  /** keys that seal secrets, or the file with them; neither: see `openKeyring` */
  masterKey: string | null
  masterKeyFile: string | null
  /** of the keys that sign user tokens */
  tokenAlgorithm: TokenAlgorithm
  /** the account under which root runs the embedded PostgreSQL; null: chosen automatically */
  postgresUser: string | null
  apiKey: string | null
  owner: { email: string; password: string } | null
  /** null: http://host:port */
  publicUrl: string | null
  /** Stripe for the app `default`; null: off */
  stripe: { secretKey: string; webhookSecrets: string[] } | null
  /** null: Stripe itself */
  stripeApiBase: string | null
  logLevel: string
  /** auto: text on a terminal, JSON elsewhere */
  logFormat: LogFormat
  /** number of processes for requests */
  workers: number
  http: HttpSettings
  /** how long records are kept */
  retention: Retention
  ledger: LedgerSettings
  /** null: no traces */
  telemetry: TelemetrySettings | null
  /** null: no e-mails are sent */
  mail: MailSettings | null
  /** whether webhook endpoints may be in private networks, and without TLS */
  webhookAllowPrivate: boolean
  /** time after which a request fails */
  requestTimeoutMs: number
}

const LOG_FORMATS = ['auto', 'text', 'json'] as const
type LogFormat = (typeof LOG_FORMATS)[number]
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']

/** Reads the settings. An invalid one is rejected with one line that says what to do. */
export function readConfig(env: Record<string, string | undefined>): Config {
  const set = (name: string) => env[name]?.trim() || null
  const email = set('TOLLGATE_OWNER_EMAIL')
  const password = env.TOLLGATE_OWNER_PASSWORD || null
  if ((email === null) !== (password === null)) {
    throw new StartError('Set both TOLLGATE_OWNER_EMAIL and TOLLGATE_OWNER_PASSWORD, or neither.')
  }
  const logLevel = set('TOLLGATE_LOG_LEVEL') ?? 'info'
  if (!LOG_LEVELS.includes(logLevel)) {
    throw new StartError(`TOLLGATE_LOG_LEVEL must be one of ${LOG_LEVELS.join(', ')}; it is ${logLevel}.`)
  }
  return {
    host: set('HOST') ?? '127.0.0.1',
    port: portOf(set('PORT') ?? '4000'),
    databaseUrl: databaseUrlOf('DATABASE_URL', set('DATABASE_URL')),
    databaseDirectUrl: besideUrlOf('DATABASE_DIRECT_URL', set('DATABASE_DIRECT_URL'), set('DATABASE_URL')),
    databaseReplicaUrl: replicaUrlOf(set('DATABASE_REPLICA_URL'), set('DATABASE_URL')),
    dataDir: resolve(set('TOLLGATE_DATA_DIR') ?? 'data'),
    postgresUser: set('TOLLGATE_POSTGRES_USER'),
    ...masterKeyOf(set('TOLLGATE_MASTER_KEY'), set('TOLLGATE_MASTER_KEY_FILE')),
    tokenAlgorithm: tokenAlgorithmOf(set('TOLLGATE_TOKEN_ALGORITHM') ?? 'HS256'),
    apiKey: apiKeyOf(set('TOLLGATE_API_KEY')),
    owner: email !== null && password !== null ? { email, password } : null,
    publicUrl: baseUrlOf('TOLLGATE_PUBLIC_URL', set('TOLLGATE_PUBLIC_URL'), 'https://tollgate.example.com'),
    stripe: stripeOf(set('STRIPE_SECRET_KEY'), set('STRIPE_WEBHOOK_SECRET')),
    stripeApiBase: baseUrlOf('STRIPE_API_BASE', set('STRIPE_API_BASE'), 'https://api.stripe.com'),
    logLevel,
    logFormat: logFormatOf(set('TOLLGATE_LOG_FORMAT') ?? 'auto'),
    workers: numberOf('TOLLGATE_WORKERS', set('TOLLGATE_WORKERS'), { least: 1, most: 64, otherwise: 1 }),
    retention: readRetention(set),
    ledger: readLedgerSettings(set),
    telemetry: readTelemetry(set),
    mail: readMail(set),
    http: {
      plain: switchOf('TOLLGATE_PLAIN_HTTP', set('TOLLGATE_PLAIN_HTTP') ?? 'on'),
      stalledReaderMs: numberOf('TOLLGATE_STALLED_READER_MS', set('TOLLGATE_STALLED_READER_MS'), {
        least: 100,
        most: HOUR_MS,
        otherwise: STALLED_READER_MS,
      }),
      maxConnections: maxConnectionsOf(set('TOLLGATE_MAX_CONNECTIONS')),
      metricsToken: metricsTokenOf(set('TOLLGATE_METRICS_TOKEN')),
      drainMs: numberOf('TOLLGATE_DRAIN_MS', set('TOLLGATE_DRAIN_MS'), {
        least: 0,
        most: HOUR_MS,
        otherwise: DRAIN_MS,
      }),
      graceMs: numberOf('TOLLGATE_GRACE_MS', set('TOLLGATE_GRACE_MS'), {
        least: 0,
        most: HOUR_MS,
        otherwise: SHUTDOWN_GRACE_MS,
      }),
      admission: {
        key: rateOf('TOLLGATE_RATE_LIMIT_KEY', set, 'off'),
        token: rateOf('TOLLGATE_RATE_LIMIT_TOKEN', set, '50/500'),
        address: rateOf('TOLLGATE_RATE_LIMIT_ADDRESS', set, '200/4000'),
        trustedProxies: trustedProxiesOf(set('TOLLGATE_TRUSTED_PROXIES')),
      },
    },
    webhookAllowPrivate: switchOf(
      'TOLLGATE_WEBHOOK_ALLOW_PRIVATE',
      set('TOLLGATE_WEBHOOK_ALLOW_PRIVATE') ?? 'off',
    ),
    requestTimeoutMs: numberOf('TOLLGATE_REQUEST_TIMEOUT_MS', set('TOLLGATE_REQUEST_TIMEOUT_MS'), {
      least: 500,
      most: 120_000,
      otherwise: REQUEST_DEADLINE_MS,
    }),
  }
}

function logFormatOf(text: string): LogFormat {
  const known = LOG_FORMATS.find((format) => format === text)
  if (!known)
    throw new StartError(`TOLLGATE_LOG_FORMAT must be one of ${LOG_FORMATS.join(', ')}; it is ${text}.`)
  return known
}

function portOf(text: string): number {
  const port = Number(text)
  if (!/^\d+$/.test(text) || port > 65_535) {
    throw new StartError(`PORT must be a number from 0 to 65535; it is ${JSON.stringify(text)}.`)
  }
  return port
}

function databaseUrlOf(name: string, url: string | null): string | null {
  const problem = url === null ? null : readServers(url)
  if (typeof problem === 'string') throw new StartError(`${name} ${problem}.`)
  return url
}

function besideUrlOf(name: string, url: string | null, databaseUrl: string | null): string | null {
  if (url !== null && databaseUrl === null)
    throw new StartError(`${name} requires DATABASE_URL. Set both or neither.`)
  return databaseUrlOf(name, url)
}

function replicaUrlOf(url: string | null, databaseUrl: string | null): string | null {
  const read = url === null ? null : readServers(url)
  if (read !== null && typeof read !== 'string' && read.servers.length > 0)
    throw new StartError('DATABASE_REPLICA_URL must contain a single server, without target_session_attrs.')
  return besideUrlOf('DATABASE_REPLICA_URL', url, databaseUrl)
}

function masterKeyOf(masterKey: string | null, masterKeyFile: string | null) {
  if (masterKey !== null && masterKeyFile !== null) {
    throw new StartError('Set TOLLGATE_MASTER_KEY or TOLLGATE_MASTER_KEY_FILE, not both.')
  }
  if (masterKey !== null) parseMasterKeys(masterKey, 'TOLLGATE_MASTER_KEY')
  return { masterKey, masterKeyFile }
}

function tokenAlgorithmOf(name: string): TokenAlgorithm {
  const known = TOKEN_ALGORITHMS.find((algorithm) => algorithm === name)
  if (!known) {
    throw new StartError(`TOLLGATE_TOKEN_ALGORITHM must be ${TOKEN_ALGORITHMS.join(' or ')}; it is ${name}.`)
  }
  return known
}

function apiKeyOf(key: string | null): string | null {
  // It is sent in a header, where other characters would be corrupted.
  if (key !== null && !/^[\x21-\x7e]+$/.test(key)) {
    throw new StartError('TOLLGATE_API_KEY must consist of ASCII characters without whitespace.')
  }
  if (key !== null && key.length < MIN_API_KEY_CHARACTERS) {
    throw new StartError(`TOLLGATE_API_KEY must have at least ${MIN_API_KEY_CHARACTERS} characters.`)
  }
  return key
}

function metricsTokenOf(token: string | null): string | null {
  if (token !== null && !/^[\x20-\x7e]+$/.test(token)) {
    throw new StartError(
      'TOLLGATE_METRICS_TOKEN must consist of ASCII characters, since it is sent in a header.',
    )
  }
  return token
}

function baseUrlOf(name: string, url: string | null, example: string): string | null {
  if (url === null) return null
  if (!/^https?:\/\//.test(url) || !parseUrl(url)) {
    throw new StartError(`${name} must be an http or https URL, such as ${example}.`)
  }
  return url.replace(/\/+$/, '')
}

/** During a rotation, both signing secrets are given, separated by a comma. */
function stripeOf(secretKey: string | null, secrets: string | null): Config['stripe'] {
  if (secretKey === null) {
    if (secrets !== null) throw new StartError('STRIPE_WEBHOOK_SECRET requires STRIPE_SECRET_KEY. Set both.')
    return null
  }
  if (!/^(sk|rk)_[\x21-\x7e]+$/.test(secretKey)) {
    throw new StartError(
      'STRIPE_SECRET_KEY must be a secret or restricted key, which starts with sk_ or rk_.',
    )
  }
  const webhookSecrets = (secrets ?? '')
    .split(',')
    .map((secret) => secret.trim())
    .filter((secret) => secret !== '')
  return { secretKey, webhookSecrets }
}

const HOUR_MS = 60 * 60 * 1000

function switchOf(name: string, text: string): boolean {
  if (text !== 'on' && text !== 'off') {
    throw new StartError(`${name} must be on or off; it is ${JSON.stringify(text)}.`)
  }
  return text === 'on'
}

function numberOf(
  name: string,
  text: string | null,
  { least, most, otherwise }: { least: number; most: number; otherwise: number },
): number {
  if (text === null) return otherwise
  const number = Number(text)
  if (!/^\d+$/.test(text) || number < least || number > most) {
    throw new StartError(`${name} must be a number from ${least} to ${most}; it is ${JSON.stringify(text)}.`)
  }
  return number
}

/** `50`, or `50/500` with the burst; the default burst is ten seconds' worth. */
function rateOf(name: string, set: (name: string) => string | null, unset: string): Rate | null {
  const text = set(name) ?? unset
  if (text === 'off') return null
  const [, perSecond, burst] = /^(\d{1,6}(?:\.\d{1,3})?)(?:\/(\d{1,7}))?$/.exec(text) ?? []
  const rate = { perSecond: Number(perSecond), burst: Number(burst ?? Math.ceil(Number(perSecond) * 10)) }
  if (!(rate.perSecond > 0 && rate.burst > 0)) {
    throw new StartError(
      `${name} must be a number of requests per second, such as 50, or 50/500 with a burst, or off; it is ${JSON.stringify(text)}.`,
    )
  }
  return rate
}

function trustedProxiesOf(text: string | null): TrustedProxies {
  if (text === null) return null
  const proxies = readTrustedProxies(text)
  if (proxies === undefined) {
    throw new StartError(
      'TOLLGATE_TRUSTED_PROXIES must be addresses or networks separated by commas, such as 10.0.0.0/8, or the number of proxies.',
    )
  }
  return proxies
}

function maxConnectionsOf(text: string | null): number | null {
  const most = { least: 1, most: 1_000_000, otherwise: 1 }
  return text === null ? null : numberOf('TOLLGATE_MAX_CONNECTIONS', text, most)
}
