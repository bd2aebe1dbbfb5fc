import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Pool } from '../../store/connection/database.ts'
import { analyze, grownTables } from '../../store/schema/statistics.ts'

const ROUND_MS = 5_000

/**
 * Analyzes tables that have just grown, until `stopping`. Autovacuum gets to them within minutes; until then, PostgreSQL
 * would plan the lists and figures of an app that was just imported as if it were empty. The pool has no statement timeout.
 */
export async function keepStatistics(
  pool: Pool,
  log: Logger,
  stopping: AbortSignal,
  roundMs = ROUND_MS,
): Promise<void> {
  let failed = false
  while (!stopping.aborted) {
    try {
      for (const table of await grownTables(pool)) await analyze(pool, table)
      failed = false
    } catch (error) {
      if (!stopping.aborted && !failed)
        log.warn({ err: error }, 'ANALYZE failed on tables that have grown; retrying')
      failed = true
    }
    await delay(roundMs, undefined, { signal: stopping, ref: false }).catch(() => {})
  }
}
