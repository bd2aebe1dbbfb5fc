import { setTimeout as delay } from 'node:timers/promises'
import { lookUpKeys, type Pool, transaction } from '../../store/database.ts'
import {
  type Prune,
  pruneActivity,
  pruneAlone,
  pruneAudit,
  pruneCheckouts,
  pruneNotices,
  pruneReceipts,
} from '../../store/prune.ts'
import type { Service } from '../call/service.ts'

/** For how many seconds each kind of record is kept; null: for ever. */
export interface Retention {
  audit: number | null
  notices: number | null
  checkouts: number | null
  activity: number | null
  receipts: number
}

const PRUNES: Record<keyof Retention, Prune> = {
  receipts: pruneReceipts,
  activity: pruneActivity,
  checkouts: pruneCheckouts,
  notices: pruneNotices,
  audit: pruneAudit,
}

/** Few enough that a statement holds its locks for milliseconds. */
const BATCH = 1_000
/** Leaves the database to the callers in between. */
const PAUSE_MS = 50
const HOUR_MS = 3_600_000

/**
 * Deletes what is past its time, a batch at a time. Several processes may do so at once: a batch that meets another's
 * leaves the work to that one. Returns how many rows of each kind it deleted.
 */
export async function prune(
  pool: Pool,
  retention: Retention,
  stopping: AbortSignal,
  batch = BATCH,
): Promise<Partial<Record<keyof Retention, number>>> {
  const deleted: Partial<Record<keyof Retention, number>> = {}
  for (const [kind, pruneBatch] of Object.entries(PRUNES) as [keyof Retention, Prune][]) {
    const seconds = retention[kind]
    if (seconds === null) continue
    let count = batch
    while (count === batch && !stopping.aborted) {
      count = await transaction(pool, async (tx) => {
        if (!(await pruneAlone(tx))) return 0
        await lookUpKeys(tx)
        return pruneBatch(tx, seconds, batch)
      })
      if (count > 0) deleted[kind] = (deleted[kind] ?? 0) + count
      if (count === batch) await delay(PAUSE_MS, undefined, { signal: stopping }).catch(() => {})
    }
  }
  return deleted
}

/** Prunes now and then once an hour; what it returns stops that, after the batch in hand. */
export function startPruning({ pool, log }: Service, retention: Retention): () => Promise<void> {
  const stopping = new AbortController()
  const round = () =>
    prune(pool, retention, stopping.signal).then(
      (deleted) => {
        if (Object.keys(deleted).length > 0) log.info(deleted, 'old records deleted')
      },
      (error) => log.warn({ err: error }, 'old records could not be deleted; trying again later'),
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
