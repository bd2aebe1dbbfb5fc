import pg from 'pg'
import { NoPrimary } from './primary.ts'

/** SQLSTATE classes and codes that concern the state of the database, not the statement. */
const STATES = [
  '08', // connection exceptions
  '53', // out of space, memory or connections
  '57014', // the statement took too long
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

/** Whether a statement failed because the database is unreachable or cannot serve it now: it may work later. */
export function isOutage(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) {
    return STATES.some((state) => error.code?.startsWith(state))
  }
  if (!(error instanceof Error)) return false
  if (error instanceof NoPrimary) return true
  // A host whose addresses all refuse gives one error that contains the others.
  if (error instanceof AggregateError) return error.errors.some(isOutage)
  return CODES.has((error as NodeJS.ErrnoException).code ?? '') || MESSAGES.test(error.message)
}
