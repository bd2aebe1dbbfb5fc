import { StartError } from '../../domain/errors.ts'
import { NoPrimary } from './primary.ts'

/** The setting to check when the database cannot be used. */
export type DatabaseSetting = 'DATABASE_URL' | 'DATABASE_DIRECT_URL' | 'TOLLGATE_DATA_DIR' | '--to'

type Line = (problem: { message: string; setting: DatabaseSetting }) => string

/** For a pooler that assigns any server connection to a transaction, but does not prepare statements there. */
export const noPreparedStatements = (message: string, setting: DatabaseSetting): string =>
  `${setting} points to a connection pooler without support for prepared statements (${message}). Use PgBouncer 1.21 or later with max_prepared_statements above 0, or a direct connection.`

/** Why the database cannot be used, by SQLSTATE, and what to do. */
const BY_CODE: Record<string, Line> = {
  '28P01': ({ message, setting }) =>
    `The database rejected the password (${message}). Check it in ${setting}.`,
  '28000': ({ message, setting }) =>
    `The database rejected the connection (${message}). Check the user in ${setting}, and pg_hba.conf on the server.`,
  '3D000': ({ message, setting }) =>
    `The database does not exist (${message}). Create it, or check its name in ${setting}.`,
  '53300': ({ message }) =>
    `The database has no free connections (${message}). Increase max_connections or close other connections; each process needs up to 26.`,
  '53100': ({ message }) => `The disk of the database is full (${message}). Free up space, then start again.`,
  '53200': ({ message }) =>
    `The database is out of memory (${message}). Increase its memory, then start again.`,
  '42501': ({ message, setting }) =>
    `The user in ${setting} lacks privileges (${message}). Make it the owner of the database and of Tollgate's tables, or grant it CREATE on the database and the schema.`,
  '25006': ({ message, setting }) =>
    `The database is read-only (${message}): it is a standby, or default_transaction_read_only is on. Point ${setting} to the primary.`,
  '26000': ({ message, setting }) => noPreparedStatements(message, setting),
  '42P05': ({ message, setting }) => noPreparedStatements(message, setting),
  '57P03': ({ message }) =>
    `The database does not accept connections yet (${message}). Start again once it does.`,
  '57P01': ({ message }) => `The database was shut down (${message}). Start again once it is running.`,
  '0A000': ({ message }) => `The database lacks a required feature (${message}). Use PostgreSQL 15 or later.`,
}

const TLS =
  /^(SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_\w+|CERT_\w+|ERR_TLS_\w+|ERR_SSL_\w+)$/

const UNREACHABLE = /^(ECONN\w+|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_\w+|EHOSTUNREACH|ENETUNREACH|EACCES|ENOENT)$/

/** One line for the operator about why the database cannot be used; null for errors that are ours. */
export function startProblem(error: unknown, setting: DatabaseSetting): StartError | null {
  if (!(error instanceof Error) || error instanceof StartError) return null
  const { code } = error as NodeJS.ErrnoException
  // A host whose addresses all refuse gives an error without a message.
  const message = oneLine(error.message || code || error.name)
  const say = (line: string) => new StartError(line, { cause: error })
  if (error instanceof NoPrimary)
    return say(
      `${setting} does not contain a reachable primary (${message}). Start the primary, or add its address.`,
    )
  const line = code === undefined ? undefined : BY_CODE[code]
  if (line) return say(line({ message, setting }))
  if ((code && TLS.test(code)) || /SSL connection|no encryption/.test(message))
    return say(
      `The database is unreachable over TLS (${message}). Check sslmode and the certificates in ${setting}.`,
    )
  if (/statement pooling mode/.test(message))
    return say(
      `${setting} points to a connection pooler without support for transactions (${message}). Set its pool_mode to transaction.`,
    )
  if (isSqlState(error)) return say(`The database rejected a statement during startup (${message}, ${code}).`)
  if (error.name === 'AggregateError' || UNREACHABLE.test(code ?? '') || /timeout|terminated/.test(message))
    return say(`The database is unreachable: ${message}. Check ${setting}.`)
  return null
}

/** An error sent by PostgreSQL itself. */
const isSqlState = (error: Error): boolean => 'severity' in error && 'code' in error

const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim().replace(/\.$/, '')
