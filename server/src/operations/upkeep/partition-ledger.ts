import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Pool } from '../../store/database.ts'
import { isPartitioned } from '../../store/ledger-partitions.ts'
import { addCheck, partitionNow, stateOfCheck, validateCheck } from '../../store/partition-ledger.ts'

const FIRST_RETRY_MS = 1_000
const LAST_RETRY_MS = 60_000

/**
 * Partitions a ledger that was too large for the migration, until `stopping`. Each step is left alone where it has been
 * done, so that it can be cut short anywhere and several processes may try. The pool has no statement timeout.
 */
export async function partitionLedger(
  pool: Pool,
  log: Logger,
  stopping: AbortSignal,
  retryMs = FIRST_RETRY_MS,
): Promise<void> {
  for (let wait = retryMs; !stopping.aborted; wait = Math.min(2 * wait, LAST_RETRY_MS)) {
    if (await stepsAreDone(pool, log, stopping)) return
    await delay(wait, undefined, { signal: stopping }).catch(() => {})
  }
}

/** False: another attempt is needed. */
async function stepsAreDone(pool: Pool, log: Logger, stopping: AbortSignal): Promise<boolean> {
  try {
    if (await isPartitioned(pool)) return true
    if ((await stateOfCheck(pool)) === 'missing' && !(await addCheck(pool))) return false
    if ((await stateOfCheck(pool)) === 'not validated') {
      log.info('preparing to partition the ledger; the service remains available')
      await validateCheck(pool)
    }
    if (!(await partitionNow(pool))) return false
    log.info('partitioned the ledger')
    return true
  } catch (error) {
    if (!stopping.aborted) log.warn({ err: error }, 'the ledger could not be partitioned; retrying')
    return false
  }
}
