import pg from 'pg'
import { type Db, type Pool, type Tx, transactionOnce } from './database.ts'

// Makes a large table of the ledger its own first partition, while everybody goes on writing to it. A small one was
// converted by the migration.

const LOCK_NOT_AVAILABLE = '55P03'

/** Everybody waits behind a transaction that waits for such a lock: it must not wait for long. */
const PATIENCE = '200ms'

/** Whether the work was done; false: it would have had to wait for a lock, and nothing was done. */
export async function withoutWaiting(pool: Pool, work: (tx: Tx) => Promise<void>): Promise<boolean> {
  try {
    await transactionOnce(pool, async (tx) => {
      await tx.query(`set local lock_timeout = '${PATIENCE}'`)
      await work(tx)
    })
    return true
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === LOCK_NOT_AVAILABLE) return false
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
  withoutWaiting(pool, async (tx) => {
    await tx.query(`alter table usage_ledger add constraint ${CHECK} check (seq < 1099511627776) not valid`)
  })

/** Reads the whole table, and holds nobody up. */
export async function validateCheck(db: Db): Promise<void> {
  await db.query(`alter table usage_ledger validate constraint ${CHECK}`)
}

/** Takes milliseconds, as the check has been validated. */
export const partitionNow = (pool: Pool): Promise<boolean> =>
  withoutWaiting(pool, async (tx) => {
    await tx.query('select partition_usage_ledger()')
  })
