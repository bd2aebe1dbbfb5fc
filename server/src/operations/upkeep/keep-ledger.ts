import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from '../../store/connection/database.ts'
import { indexPartitions, openPartition, preparePartitions } from '../../store/ledger/ledger-partitions.ts'
import type { Service } from '../call/service.ts'
import { partitionsDue, retireTogether } from './retire-partition.ts'

export interface LedgerSettings {
  /** seconds per partition */
  partitionSeconds: number
  /** how long entries are kept, in seconds; null: forever */
  keptSeconds: number | null
}

const HOUR_MS = 3_600_000
const SOON_MS = 60_000

/**
 * One round: prepares the next partition, opens it when due, and retires old ones. Each cell has a ledger. All are
 * numbered by the first one's sequence, so a partition is opened in all of them. If the server of one is unreachable,
 * none is changed: users are moved only between ledgers with the same partitions.
 */
export async function keepLedger(
  ledgers: readonly [first: Pool, ...others: Pool[]],
  { partitionSeconds, keptSeconds }: LedgerSettings,
  stopping: AbortSignal,
): Promise<{ opened: number | null; retired: number[] }> {
  for (const ledger of ledgers) await preparePartitions(ledger)
  const opened = await openPartition(ledgers[0], partitionSeconds)
  if (opened !== null) for (const ledger of ledgers) await preparePartitions(ledger)
  for (const ledger of ledgers) await indexPartitions(ledger)
  const retired: number[] = []
  if (keptSeconds === null) return { opened, retired }
  const due = await partitionsDue(
    ledgers.map((pool) => ({ pool })),
    keptSeconds,
  )
  for (const [block, those] of due) {
    const done = await retireTogether(those, block, { stopping })
    if (done.includes(true)) retired.push(block)
    if (done.includes(false)) break
  }
  return { opened, retired }
}

/** Runs once an hour, sooner after a failure, until `stopping`. The pools have long statement timeouts, or none. */
export async function keepLedgerFrom(
  ledgers: () => Promise<[first: Pool, ...others: Pool[]]>,
  { log, metrics }: Pick<Service, 'log' | 'metrics'>,
  settings: LedgerSettings,
  stopping: AbortSignal,
): Promise<void> {
  while (!stopping.aborted) {
    let wait = HOUR_MS
    try {
      const { opened, retired } = await keepLedger(await ledgers(), settings, stopping)
      if (opened !== null) log.info({ partition: opened }, 'opened a new ledger partition')
      if (retired.length > 0) log.info({ partitions: retired }, 'deleted old ledger entries')
    } catch (error) {
      wait = SOON_MS
      if (stopping.aborted) return
      metrics.failedUpkeep.inc({ work: 'ledger' })
      log.warn({ err: error }, 'ledger maintenance failed; retrying in a minute')
    }
    await delay(wait, undefined, { signal: stopping, ref: false }).catch(() => {})
  }
}
