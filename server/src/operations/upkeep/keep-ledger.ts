import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Pool } from '../../store/database.ts'
import { openPartition, preparePartitions } from '../../store/ledger-partitions.ts'
import { anyRemote } from '../../store/remote-cells.ts'
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

/**
 * One round: has the next partition ready, opens it when it is due, and retires those that are too old. Each cell has a
 * ledger; all are numbered by the first one's sequence, so that what opens there is opened everywhere.
 */
export async function keepLedger(
  ledgers: readonly [first: Pool, ...others: Pool[]],
  { partitionSeconds, keptSeconds }: LedgerSettings,
  stopping: AbortSignal,
): Promise<{ opened: number | null; retired: number[]; keepsAll?: true }> {
  for (const ledger of ledgers) await preparePartitions(ledger)
  const opened = await openPartition(ledgers[0], partitionSeconds)
  if (opened !== null) for (const ledger of ledgers) await preparePartitions(ledger)
  const retired = new Set<number>()
  if (keptSeconds !== null && (await anyRemote(ledgers[0]))) return { opened, retired: [], keepsAll: true }
  if (keptSeconds !== null) {
    for (const ledger of ledgers) {
      for (const block of await blocksToRetire(ledger, keptSeconds)) {
        if (!(await retirePartition(ledger, block, { stopping }))) break
        retired.add(block)
      }
    }
  }
  return { opened, retired: [...retired] }
}

/** Now and once an hour, until `stopping`. The pools have no statement timeout. */
export async function keepLedgerFrom(
  ledgers: () => Promise<[first: Pool, ...others: Pool[]]>,
  log: Logger,
  settings: LedgerSettings,
  stopping: AbortSignal,
): Promise<void> {
  const [first, ...others] = await ledgers()
  if (others.length === 0) await partitionLedger(first, log, stopping)
  while (!stopping.aborted) {
    try {
      const { opened, retired, keepsAll } = await keepLedger(await ledgers(), settings, stopping)
      if (keepsAll)
        log.warn(
          'old entries of the ledger are not deleted: where cells are on other servers, that is not possible',
        )
      if (opened !== null) log.info({ partition: opened }, 'a new partition of the ledger was opened')
      if (retired.length > 0) log.info({ partitions: retired }, 'old entries of the ledger deleted')
    } catch (error) {
      if (!stopping.aborted) log.warn({ err: error }, 'the ledger could not be kept; trying again later')
    }
    await delay(HOUR_MS, undefined, { signal: stopping, ref: false }).catch(() => {})
  }
}
