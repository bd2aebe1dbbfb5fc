import pg from 'pg'
import { type Pool, type Tx, transactionOnce } from '../connection/database.ts'
import type { Db } from '../connection/places.ts'

// Makes a large table of the ledger its own first partition, while everybody goes on writing to it. A small one was
// converted by the migration.

const [LOCK_NOT_AVAILABLE, CANCELLED, DEADLOCK] = ['55P03', '57014', '40P01']

/**
 * Everybody waits behind a transaction that waits for such a lock: it must not wait for long. Of a server elsewhere all that
 * can be limited is how long it takes to answer.
 */
const PATIENCE = {
  here: { setting: `set local lock_timeout = '200ms'`, ended: [LOCK_NOT_AVAILABLE] },
  elsewhere: { setting: `set local statement_timeout = '2s'`, ended: [CANCELLED, DEADLOCK] },
}

/** Whether the work was done; false: it would have had to wait for a lock, and nothing was done. */
export async function withoutWaiting(
  pool: Pool,
  where: keyof typeof PATIENCE,
  work: (tx: Tx) => Promise<void>,
): Promise<boolean> {
  const { setting, ended } = PATIENCE[where]
  try {
    await transactionOnce(pool, async (tx) => {
      await tx.query(setting)
      await work(tx)
    })
    return true
  } catch (error) {
    if (error instanceof pg.DatabaseError && ended.includes(error.code ?? '')) return false
    throw error
  }
}

const CHECK = 'usage_ledger_first_block'

type CheckState = 'missing' | 'not validated' | 'valid'

export async function stateOfCheck(db: Db): Promise<CheckState> {
  const { rows } = await db.query<{ valid: boolean }>(
    `select convalidated as valid from pg_constraint
     where conrelid = 'usage_ledger'::regclass and conname = '${CHECK}'`,
  )
  const [found] = rows
  if (!found) return 'missing'
  return found.valid ? 'valid' : 'not validated'
}

/** That all entries belong to the first block. It holds for any table that exists. */
export const addCheck = (pool: Pool): Promise<boolean> =>
  withoutWaiting(pool, 'here', async (tx) => {
    await tx.query(`alter table usage_ledger add constraint ${CHECK} check (seq < 1099511627776) not valid`)
  })

/** Reads the whole table, and holds nobody up. */
export async function validateCheck(db: Db): Promise<void> {
  await db.query(`alter table usage_ledger validate constraint ${CHECK}`)
}

/** Takes milliseconds, as the check has been validated. */
export const partitionNow = (pool: Pool): Promise<boolean> =>
  withoutWaiting(pool, 'here', async (tx) => {
    await tx.query('select partition_usage_ledger()')
  })
