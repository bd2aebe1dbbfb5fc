import { setTimeout as delay } from 'node:timers/promises'
import { deleteRowsOfGoneApps } from '../../store/apps/remove-app.ts'
import { lookUpKeys, type Pool, type Tx, transaction } from '../../store/connection/database.ts'
import { pruneCapCounts } from '../../store/credits/caps.ts'
import { dropOldestEventDay, pruneEvents } from '../../store/events/event-partitions.ts'
import {
  type Prune,
  pruneActivity,
  pruneApiAudit,
  pruneAudit,
  pruneCheckouts,
  pruneFeatureActivity,
  pruneNotices,
  prunePayments,
  pruneReceipts,
  tryLockPruning,
} from '../../store/jobs/prune.ts'
import { pruneDeliveries } from '../../store/webhooks/prune-deliveries.ts'
import type { Service } from '../call/service.ts'

/** Retention of each kind of record in seconds; null: forever. */
export interface Retention {
  audit: number | null
  /** changes by API keys and providers */
  apiAudit: number | null
  notices: number | null
  checkouts: number | null
  payments: number | null
  activity: number | null
  featureActivity: number | null
  receipts: number
}

const PRUNES: Record<keyof Retention, Prune> = {
  receipts: pruneReceipts,
  activity: pruneActivity,
  featureActivity: pruneFeatureActivity,
  checkouts: pruneCheckouts,
  payments: prunePayments,
  notices: pruneNotices,
  audit: pruneAudit,
  apiAudit: pruneApiAudit,
}

/** A statement holds its locks for milliseconds. */
const BATCH = 1_000
/** A pause between batches, for others. */
const PAUSE_MS = 50
const HOUR_MS = 3_600_000

type Deleted = Partial<
  Record<keyof Retention | 'ofDeletedApps' | 'capCounts' | 'events' | 'daysOfEvents' | 'deliveries', number>
>

/**
 * Deletes expired records, and rows of deleted apps written by calls in progress, in batches. Of several concurrent
 * processes one does the work. Returns the number of deleted rows of each kind.
 */
export async function prune(
  pool: Pool,
  retention: Retention,
  stopping: AbortSignal,
  batch = BATCH,
): Promise<Deleted> {
  const deleted: Deleted = {}
  const inBatches = async (kind: keyof Deleted, deleteBatch: (tx: Tx) => Promise<number>) => {
    // A batch may be larger: in a partitioned table, rows of several partitions may have the same ctid.
    for (let count = batch; count >= batch && !stopping.aborted; ) {
      count = await transaction(pool, async (tx) => {
        if (!(await tryLockPruning(tx))) return 0
        await lookUpKeys(tx)
        return deleteBatch(tx)
      })
      if (count > 0) deleted[kind] = (deleted[kind] ?? 0) + count
      if (count >= batch) await delay(PAUSE_MS, undefined, { signal: stopping }).catch(() => {})
    }
  }
  for (const [kind, pruneBatch] of Object.entries(PRUNES) as [keyof Retention, Prune][]) {
    const seconds = retention[kind]
    if (seconds !== null) await inBatches(kind, (tx) => pruneBatch(tx, seconds, batch))
  }
  // Each app says how long its events are kept; days that none keeps are dropped as a whole.
  while (!stopping.aborted && (await dropOldestEventDay(pool)) !== null)
    deleted.daysOfEvents = (deleted.daysOfEvents ?? 0) + 1
  await inBatches('events', (tx) => pruneEvents(tx, batch))
  await inBatches('capCounts', (tx) => pruneCapCounts(tx, batch))
  await inBatches('deliveries', (tx) => pruneDeliveries(tx, batch))
  await inBatches('ofDeletedApps', (tx) => deleteRowsOfGoneApps(tx, batch))
  return deleted
}

/** Prunes once an hour; returns a function that stops it after the current batch. */
export function startPruning({ pool, log, metrics }: Service, retention: Retention): () => Promise<void> {
  const stopping = new AbortController()
  const round = () =>
    prune(pool, retention, stopping.signal).then(
      (deleted) => {
        if (Object.keys(deleted).length > 0) log.info(deleted, 'deleted old records')
      },
      (error) => {
        metrics.failedUpkeep.inc({ work: 'pruning' })
        log.warn({ err: error }, 'old records could not be deleted; retrying later')
      },
    )
  let working = round()
  const timer = setInterval(() => {
    working = working.then(round)
  }, HOUR_MS)
  timer.unref()
  return async () => {
    clearInterval(timer)
    stopping.abort()
    await working
  }
}
