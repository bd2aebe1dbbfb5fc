import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Pool } from '../../store/database.ts'
import { openPartition, preparePartitions } from '../../store/ledger-partitions.ts'
import { blocksToRetire } from '../../store/retire-partition.ts'
import { partitionLedger } from './partition-ledger.ts'
import { retireTogether } from './retire-partition.ts'

export interface LedgerSettings {
  /** how many seconds' entries go into one partition */
  partitionSeconds: number
  /** how long entries are kept, in seconds; null: forever */
  keptSeconds: number | null
}

const HOUR_MS = 3_600_000
/** Users are not moved between cells of which one has retired a partition and the other has not. */
const SOON_MS = 60_000

interface Kept {
  opened: number | null
  retired: number[]
  /** why some ledgers were not kept, if their server cannot be reached, say */
  failed: unknown[]
}

/**
 * One round: has the next partition ready, opens it when it is due, and retires those that are too old. Each cell has a
 * ledger; all are numbered by the first one's sequence, so that what opens there is opened everywhere.
 */
export async function keepLedger(
  ledgers: readonly [first: Pool, ...others: Pool[]],
  { partitionSeconds, keptSeconds }: LedgerSettings,
  stopping: AbortSignal,
): Promise<Kept> {
  const failed: unknown[] = []
  const each = async (keep: (ledger: Pool) => Promise<void>) => {
    for (const ledger of ledgers) await keep(ledger).catch((error: unknown) => failed.push(error))
  }
  await each(preparePartitions)
  // Not before all have a place for what comes next.
  const opened = failed.length === 0 ? await openPartition(ledgers[0], partitionSeconds) : null
  if (opened !== null) await each(preparePartitions)
  const retired = new Set<number>()
  if (keptSeconds === null) return { opened, retired: [], failed }
  const due: { pool: Pool; blocks: number[] }[] = []
  await each(async (pool) => void due.push({ pool, blocks: await blocksToRetire(pool, keptSeconds) }))
  for (const block of new Set(due.flatMap(({ blocks }) => blocks).sort((a, b) => a - b))) {
    const ledgersWithIt = due.filter(({ blocks }) => blocks.includes(block))
    const outcomes = await retireTogether(ledgersWithIt, block, { stopping })
    for (const [i, outcome] of outcomes.entries()) {
      if (outcome === true) retired.add(block)
      // Its later ones come after it.
      else (ledgersWithIt[i] as { blocks: number[] }).blocks = []
      if (outcome instanceof Error) failed.push(outcome)
    }
  }
  return { opened, retired: [...retired], failed }
}

/** Now and once an hour, sooner if something failed, until `stopping`. The pools have long statement timeouts, or none. */
export async function keepLedgerFrom(
  ledgers: () => Promise<[first: Pool, ...others: Pool[]]>,
  log: Logger,
  settings: LedgerSettings,
  stopping: AbortSignal,
): Promise<void> {
  const [first, ...others] = await ledgers()
  if (others.length === 0) await partitionLedger(first, log, stopping)
  while (!stopping.aborted) {
    let wait = HOUR_MS
    const tryAgain = (error: unknown) => {
      wait = SOON_MS
      if (!stopping.aborted)
        log.warn({ err: error }, 'the ledger could not be kept; trying again in a minute')
    }
    try {
      const { opened, retired, failed } = await keepLedger(await ledgers(), settings, stopping)
      for (const error of failed) tryAgain(error)
      if (opened !== null) log.info({ partition: opened }, 'a new partition of the ledger was opened')
      if (retired.length > 0) log.info({ partitions: retired }, 'old entries of the ledger deleted')
    } catch (error) {
      tryAgain(error)
    }
    await delay(wait, undefined, { signal: stopping, ref: false }).catch(() => {})
  }
}
