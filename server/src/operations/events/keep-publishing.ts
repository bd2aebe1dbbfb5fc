import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from '../../store/connection/database.ts'
import { isAnythingToPublish } from '../../store/events/due-events.ts'
import { unpublished } from '../../store/events/outbox.ts'
import { insertDeliveries } from '../../store/webhooks/deliveries.ts'
import type { Service } from '../call/service.ts'
import { publishEvents } from './publish-events.ts'

/**
 * How soon an event is published at the latest, if publishing keeps up. There is no notification: PostgreSQL serialises the
 * commits of transactions that notify, and recording usage would be among them.
 */
const POLL_MS = 200
const RETRY_MS = 2_000
const MEASURE_MS = 5_000

/** The backlog of the outbox, as measured last. */
interface Backlog {
  rows: number
  oldestSeconds: number
}

/**
 * Publishes events until it is stopped. Every process does; of several that try at once, one does the work, so any of
 * them may die.
 */
export function startPublishing({ log, metrics, monotonic }: Service, pool: Pool): () => Promise<void> {
  const stopping = new AbortController()
  const { signal } = stopping
  const backlog: Backlog = { rows: 0, oldestSeconds: 0 }
  metrics.watchEvents(backlog)
  let measuredAt = Number.NEGATIVE_INFINITY
  const measure = async () => {
    if (monotonic() - measuredAt < MEASURE_MS) return
    measuredAt = monotonic()
    Object.assign(backlog, await unpublished(pool))
  }
  /** Returns how long to wait. While there is a backlog, half of the time is left to requests. */
  const round = async (): Promise<number> => {
    await measure()
    if (!(await isAnythingToPublish(pool))) return POLL_MS
    const began = monotonic()
    const done = await publishEvents(pool, { onPublished: insertDeliveries })
    return done && done.rows > 0 ? Math.min(monotonic() - began, POLL_MS) : POLL_MS
  }
  const work = async () => {
    let failed = false
    while (!signal.aborted) {
      let wait = POLL_MS
      try {
        wait = await round()
        if (failed) log.info('events are being published again')
        failed = false
      } catch (error) {
        wait = RETRY_MS
        if (!signal.aborted && !failed) log.warn({ err: error }, 'events could not be published; retrying')
        failed = true
      }
      await delay(wait, undefined, { signal, ref: false }).catch(() => {})
    }
  }
  const working = work()
  return async () => {
    stopping.abort()
    await working
  }
}
