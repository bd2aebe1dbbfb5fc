import { setTimeout as delay } from 'node:timers/promises'
import { type Pool, transactionOnce } from '../../store/connection/database.ts'
import { blockOf, partitionName } from '../../store/ledger/ledger-partitions.ts'
import {
  entryWriters,
  readRollup,
  rollUp,
  skipUnusedNumbers,
  summarizeEntries,
} from '../../store/usage/usage-hours.ts'
import type { Service } from '../call/service.ts'

const ROUND_MS = 10_000
const LOOK_MS = 50
/** After this, a transaction that is still writing leaves the sums to the next round. */
const LOOKS = 100
/** Entry numbers per transaction: about a second of work. */
const NUMBERS_AT_ONCE = 500_000
/** How many new entries make it worth noting which pages have which. */
const SUMMARIZED_AT_ONCE = 10_000

/**
 * Adds new entries of the ledger to the sums of usage by feature and hour, up to those of transactions that are still
 * running. Returns how far it came; null: there was nothing to do, or it was left to another process or the next round.
 */
export async function rollUpUsage(pool: Pool, stopping: AbortSignal): Promise<number | null> {
  const state = await readRollup(pool)
  if (!state || !(await othersDone(pool, stopping))) return null
  for (let { seq } = state; seq < state.last && !stopping.aborted; ) {
    const to = Math.min(seq + NUMBERS_AT_ONCE, state.last)
    const done = await transactionOnce(pool, (tx) => rollUp(tx, to))
    if (!done) return null
    if (!done.any && done.seq < state.last)
      await transactionOnce(pool, (tx) => skipUnusedNumbers(tx, state.last))
    seq = done.any ? done.seq : ((await readRollup(pool))?.seq ?? state.last)
  }
  return state.last
}

/** False: some are still writing. */
async function othersDone(pool: Pool, stopping: AbortSignal): Promise<boolean> {
  const before = await entryWriters(pool)
  for (let looks = 0; before.length > 0; looks++) {
    if (looks === LOOKS || stopping.aborted) return false
    const now = looks === 0 ? before : await entryWriters(pool)
    if (!now.some((id) => before.includes(id))) return true
    await delay(LOOK_MS, undefined, { signal: stopping }).catch(() => {})
  }
  return true
}

/** Runs every few seconds until `stopping`, in every process; of several that try at once, one does the work. */
export async function keepUsageHours(
  pool: Pool,
  { log, metrics }: Pick<Service, 'log' | 'metrics'>,
  stopping: AbortSignal,
): Promise<void> {
  let summarized = 0
  while (!stopping.aborted) {
    try {
      const seq = await rollUpUsage(pool, stopping)
      if (seq !== null && Math.abs(seq - summarized) >= SUMMARIZED_AT_ONCE) {
        await summarizeEntries(pool, partitionName(blockOf(seq)))
        summarized = seq
      }
    } catch (error) {
      if (stopping.aborted) return
      metrics.failedUpkeep.inc({ work: 'usage-hours' })
      log.warn({ err: error }, 'usage could not be summed up; retrying')
    }
    await delay(ROUND_MS, undefined, { signal: stopping, ref: false }).catch(() => {})
  }
}
