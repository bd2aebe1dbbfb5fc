import { StartError } from '../../domain/errors.ts'
import { NoPrimary } from './primary.ts'

/** The setting to check when the database cannot be used. */
export type DatabaseSetting = 'DATABASE_URL' | 'DATABASE_DIRECT_URL' | 'TOLLGATE_DATA_DIR' | '--to'

type Line = (told: { message: string; setting: DatabaseSetting }) => string

/** A pooler that gives transactions any server connection, but does not prepare statements there. */
export const noPreparedStatements = (message: string, setting: DatabaseSetting): string =>
  `${setting} leads to a pooler that does not support prepared statements (${message}): use PgBouncer 1.21 or later with max_prepared_statements above 0, or a direct connection.`

/** Why the database cannot be used, by SQLSTATE, and what to do. */
const BY_CODE: Record<string, Line> = {
  '28P01': ({ message, setting }) =>
    `The database refused the password (${message}): check it in ${setting}.`,
  '28000': ({ message, setting }) =>
    `The database refused the connection (${message}): check the user in ${setting}, and pg_hba.conf on the server.`,
  '3D000': ({ message, setting }) =>
    `There is no such database (${message}): create it, or check its name in ${setting}.`,
  '53300': ({ message }) =>
    `The database has no connection free (${message}): raise max_connections there, or stop what holds them; each process needs up to 26.`,
  '53100': ({ message }) =>
    `The database has no space left on its disk (${message}): make room there, then start again.`,
  '53200': ({ message }) => `The database has no memory left (${message}): give it more, then start again.`,
  '42501': ({ message, setting }) =>
    `The user in ${setting} lacks rights (${message}): make it the owner of the database and of Tollgate's tables, or "grant create on database" and "on schema" to it.`,
  '25006': ({ message, setting }) =>
    `The database accepts no writes (${message}): it is a standby, or default_transaction_read_only is on. Point ${setting} to the primary.`,
  '26000': ({ message, setting }) => noPreparedStatements(message, setting),
  '42P05': ({ message, setting }) => noPreparedStatements(message, setting),
  '57P03': ({ message }) => `The database accepts no connections yet (${message}): start again once it does.`,
  '57P01': ({ message }) =>
    `The database was shut down in the meantime (${message}): start again once it is back.`,
  '0A000': ({ message }) =>
    `The database lacks something that is needed (${message}): use PostgreSQL 15 or later.`,
}

const TLS =
  /^(SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_\w+|CERT_\w+|ERR_TLS_\w+|ERR_SSL_\w+)$/

const UNREACHABLE = /^(ECONN\w+|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_\w+|EHOSTUNREACH|ENETUNREACH|EACCES|ENOENT)$/

/**
 * One line that tells an operator why the database cannot be used; null for errors that are not the database's but
 * ours.
 */
export function startProblem(error: unknown, setting: DatabaseSetting): StartError | null {
  if (!(error instanceof Error) || error instanceof StartError) return null
  const { code } = error as NodeJS.ErrnoException
  // A host whose addresses all refuse gives an error without a message.
  const message = oneLine(error.message || code || error.name)
  const say = (line: string) => new StartError(line, { cause: error })
  if (error instanceof NoPrimary)
    return say(`${setting} does not lead to a primary (${message}): start it, or add its address.`)
  const line = code === undefined ? undefined : BY_CODE[code]
  if (line) return say(line({ message, setting }))
  if ((code && TLS.test(code)) || /SSL connection|no encryption/.test(message))
    return say(
      `The database cannot be reached over TLS (${message}): check sslmode, and the certificates, in ${setting}.`,
    )
  if (/statement pooling mode/.test(message))
    return say(
      `${setting} leads to a pooler that allows no transactions (${message}): set its pool_mode to transaction.`,
    )
  if (isSqlState(error)) return say(`The database refused a statement of the start (${message}, ${code}).`)
  if (error.name === 'AggregateError' || UNREACHABLE.test(code ?? '') || /timeout|terminated/.test(message))
    return say(`The database cannot be reached: ${message}. Check ${setting}.`)
  return null
}

/** An error sent by PostgreSQL itself. */
const isSqlState = (error: Error): boolean => 'severity' in error && 'code' in error

const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim().replace(/\.$/, '')
