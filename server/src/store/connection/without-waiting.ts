import pg from 'pg'
import { type Pool, type Tx, transactionOnce } from './database.ts'

const [LOCK_NOT_AVAILABLE, CANCELLED, DEADLOCK] = ['55P03', '57014', '40P01']

/**
 * Others queue behind a transaction that waits for such a lock, so it must not wait for long. For another server, only
 * the time of its response can be limited.
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
