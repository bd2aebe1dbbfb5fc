import { type Pool, type Tx, transaction } from './database.ts'

/**
 * Reads with generic plans. For an app that has just grown, PostgreSQL's statistics are outdated, and a plan based on
 * them takes too long.
 */
export function readAnyApp<T>(pool: Pool, work: (tx: Tx) => Promise<T>): Promise<T> {
  return transaction(pool, async (tx) => {
    await tx.query('set local plan_cache_mode = force_generic_plan')
    return work(tx)
  })
}
