import pg from 'pg'
import { type Pool, type Tx, transactionOnce } from './database.ts'

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
