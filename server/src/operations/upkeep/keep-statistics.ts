import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from '../../store/connection/database.ts'
import { analyze, grownTables } from '../../store/schema/statistics.ts'
import type { Service } from '../call/service.ts'

const ROUND_MS = 5_000

/**
 * Runs ANALYZE on tables that doubled in size, until `stopping`. Autovacuum takes minutes to do so, during which
 * PostgreSQL would plan lists and figures of a newly imported app as if it were empty. The pool has no statement
 * timeout.
 */
export async function keepStatistics(
  pool: Pool,
  { log, metrics }: Pick<Service, 'log' | 'metrics'>,
  stopping: AbortSignal,
  roundMs = ROUND_MS,
): Promise<void> {
  let failed = false
  while (!stopping.aborted) {
    try {
      for (const table of await grownTables(pool)) await analyze(pool, table)
      failed = false
    } catch (error) {
      if (stopping.aborted) return
      metrics.failedUpkeep.inc({ work: 'statistics' })
      if (!failed) log.warn({ err: error }, 'ANALYZE failed on tables that have grown; retrying')
      failed = true
    }
    await delay(roundMs, undefined, { signal: stopping, ref: false }).catch(() => {})
  }
}
