import pg from 'pg'
import { NoPrimary } from './primary.ts'

/** The statement took too long. */
const TIMED_OUT = '57014'

/** SQLSTATE classes and codes about the state of the database, not the statement. */
const STATES = [
  '08', // connection exceptions
  '53', // out of space, memory or connections
  TIMED_OUT,
  '57P', // shutting down, crashed, starting up
  '58', // input and output
  '25006', // read-only
  '25P03', // idle in a transaction for too long
  '55P03', // a lock was not available in time
  '40001',
  '40P01',
]

const CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
])

/** pg has no codes for these. */
const MESSAGES =
  /^(Connection terminated|timeout e|the database (did not answer|accepts no writes)|another server is|Client (has encountered|was closed)|Cannot use a pool after)/

/** Citus has no codes for libpq's errors about a lost worker, nor for the end of its own server. */
const INTERNAL_ERROR = 'XX000'
const LOST_SERVER =
  /^(server closed the connection|no connection to the server|could not (receive data from|send data to) server|failure on connection|connection not open|lost synchronization|postmaster was shut down)/

export const isTimeout = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.code === TIMED_OUT

/** Whether a statement failed because the database is unreachable or cannot serve it now: a retry may work. */
export function isOutage(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) {
    if (error.code === INTERNAL_ERROR) return LOST_SERVER.test(error.message)
    return STATES.some((state) => error.code?.startsWith(state))
  }
  if (!(error instanceof Error)) return false
  if (error instanceof NoPrimary) return true
  // A host whose addresses all refuse gives one error that contains the others.
  if (error instanceof AggregateError) return error.errors.some(isOutage)
  return CODES.has((error as NodeJS.ErrnoException).code ?? '') || MESSAGES.test(error.message)
}
