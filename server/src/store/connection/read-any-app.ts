import { type Pool, type Tx, transaction } from './database.ts'

/**
 * Reads with plans for any app: what PostgreSQL knows of one that has grown lately is that it has next to nothing, and a plan
 * for that takes longer than any answer may.
 */
export function readAnyApp<T>(pool: Pool, work: (tx: Tx) => Promise<T>): Promise<T> {
  return transaction(pool, async (tx) => {
    await tx.query('set local plan_cache_mode = force_generic_plan')
    return work(tx)
  })
}
