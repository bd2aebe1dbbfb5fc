import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Pool } from '../../store/database.ts'
import { openPartition, preparePartitions } from '../../store/ledger-partitions.ts'
import { blocksToRetire } from '../../store/retire-partition.ts'
import { partitionLedger } from './partition-ledger.ts'
import { retirePartition } from './retire-partition.ts'

export interface LedgerSettings {
  /** how many seconds' entries go into one partition */
  partitionSeconds: number
  /** how long entries are kept, in seconds; null: forever */
  keptSeconds: number | null
}

const HOUR_MS = 3_600_000

/** One round: has the next partition ready, opens it when it is due, and retires those that are too old. */
export async function keepLedger(
  pool: Pool,
  { partitionSeconds, keptSeconds }: LedgerSettings,
  stopping: AbortSignal,
): Promise<{ opened: number | null; retired: number[] }> {
  await preparePartitions(pool)
  const opened = await openPartition(pool, partitionSeconds)
  if (opened !== null) await preparePartitions(pool)
  const retired: number[] = []
  if (keptSeconds !== null) {
    for (const block of await blocksToRetire(pool, keptSeconds)) {
      if (!(await retirePartition(pool, block, { stopping }))) break
      retired.push(block)
    }
  }
  return { opened, retired }
}

/** Now and once an hour, until `stopping`. The pool has no statement timeout. */
export async function keepLedgerFrom(
  pool: Pool,
  log: Logger,
  settings: LedgerSettings,
  stopping: AbortSignal,
): Promise<void> {
  await partitionLedger(pool, log, stopping)
  while (!stopping.aborted) {
    try {
      const { opened, retired } = await keepLedger(pool, settings, stopping)
      if (opened !== null) log.info({ partition: opened }, 'a new partition of the ledger was opened')
      if (retired.length > 0) log.info({ partitions: retired }, 'old entries of the ledger deleted')
    } catch (error) {
      if (!stopping.aborted) log.warn({ err: error }, 'the ledger could not be kept; trying again later')
    }
    await delay(HOUR_MS, undefined, { signal: stopping, ref: false }).catch(() => {})
  }
}
