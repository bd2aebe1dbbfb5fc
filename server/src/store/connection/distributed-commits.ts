import { setTimeout as delay } from 'node:timers/promises'
import { escapeIdentifier as quoted } from 'pg'
import { unavailable } from '../../domain/errors.ts'
import { MAX_PREPARED_WAIT_MS } from '../../domain/limits.ts'
import type { HomeDb } from './places.ts'

// Transactions that Citus commits on this server and on another.

/**
 * Makes the rest of a transaction commit on all servers or on none. Citus prepares a commit if the transaction has also
 * used a table of this server that Citus knows, and only on connections that ran an update or a delete, even one that
 * matched no row: a connection over which rows were merely copied is not prepared (13.2).
 */
export async function commitTogether(
  tx: Pick<HomeDb, 'query'>,
  home: string,
  schemas: readonly string[],
): Promise<void> {
  const there = schemas.map((schema) => `delete from ${quoted(schema)}.users where app_id = '' and uid = 0`)
  await tx.query([`delete from ${home}.remote_work where id = 0`, ...there].join(';'))
}

/**
 * Waits until a cell on another server shows everything that was committed here before. A transaction of both servers
 * is prepared there, then committed here, and only then committed there: in between, or for longer if that server was
 * lost at that moment, it is missing there although it happened.
 */
export async function awaitCommits(db: Pick<HomeDb, 'query'>, schema: string): Promise<void> {
  let missing = await preparedIn(db, schema)
  for (let [waited, wait] = [0, FIRST_WAIT_MS]; missing.length > 0; ) {
    if (waited >= MAX_PREPARED_WAIT_MS) throw unavailable('User temporarily unavailable; retry.')
    await delay(wait)
    waited += wait
    wait = Math.min(2 * wait, LONGEST_WAIT_MS)
    const still = await preparedIn(db, schema)
    missing = missing.filter((name) => still.includes(name))
  }
}

/** It nearly always takes a millisecond. */
const FIRST_WAIT_MS = 1
const LONGEST_WAIT_MS = 50

/** Prepared transactions on the server of a cell. Citus passes the function on with the query of one of its tables. */
async function preparedIn(db: Pick<HomeDb, 'query'>, schema: string): Promise<string[]> {
  const { rows } = await db.query<{ names: string[] | null }>(
    `select (select array_agg(p.gid) from pg_prepared_xact() p where starts_with(p.gid, 'citus_')) as names
     from ${quoted(schema)}.ledger_partition limit 1`,
  )
  return rows[0]?.names ?? []
}
