import pg from 'pg'

// Why PostgreSQL rejected a statement.

const SERIALIZATION_FAILURE = '40001'
const DEADLOCK = '40P01'
const [UNIQUE_VIOLATION, INTERNAL_ERROR] = ['23505', 'XX000']
const FOREIGN_KEY_VIOLATION = '23503'
const CHECK_VIOLATION = '23514'
const CHARACTER_NOT_IN_REPERTOIRE = '22021'

export function violates(error: unknown, constraint: string): boolean {
  return (
    error instanceof pg.DatabaseError &&
    (error.code === UNIQUE_VIOLATION || error.code === INTERNAL_ERROR) &&
    (error.constraint ?? NAMED.exec(error.message)?.[1])?.replace(SHARD, '') === constraint
  )
}

/**
 * For another server, Citus passes on the name in the message only, with a number added, and for copied rows without
 * the code.
 */
const [NAMED, SHARD] = [/unique constraint "(\w+)"$/, /_\d+$/]

/**
 * Whether PostgreSQL aborted a transaction in favour of another: a deadlock or serialization failure, or a ledger entry
 * whose partition was retired after it was numbered.
 */
export const endedForAnother = (error: unknown): boolean =>
  (error instanceof pg.DatabaseError && (error.code === SERIALIZATION_FAILURE || error.code === DEADLOCK)) ||
  lacksPartition(error)

/** A missing partition causes the same error. That is a fault, which retries do not resolve. */
export const lacksPartition = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.code === CHECK_VIOLATION && NO_PARTITION.test(error.message)

const NO_PARTITION = /^no partition of relation "usage_ledger/

/** Whether the object a row refers to is gone: most likely it was just deleted, and a retry gives a better error. */
export const refersToNothing = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.code === FOREIGN_KEY_VIOLATION

/** Whether text contained NUL, the one character that JavaScript sends and PostgreSQL cannot store. */
export const refusesText = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.code === CHARACTER_NOT_IN_REPERTOIRE
