import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { MAX_DELIVERIES_PER_ENDPOINT, WEBHOOK_TIMEOUT_MS } from '../../domain/limits.ts'
import { lookUpKeys, transaction } from '../../store/connection/database.ts'
import {
  type AttemptOutcome,
  type ClaimedDelivery,
  claimDeliveries,
  releaseDeliveries,
} from '../../store/webhooks/claim-deliveries.ts'
import { deliveryBacklog } from '../../store/webhooks/deliveries.ts'
import { WebhookSender } from '../../webhooks/send-webhook.ts'
import type { Service } from '../call/service.ts'
import { attemptDelivery, type Finished } from './attempt-delivery.ts'
import { DeliverySlots } from './delivery-slots.ts'
import { recordFinished } from './record-finished.ts'

/** How soon a due delivery is noticed at the latest. There is no notification; see operations/events. */
const POLL_MS = 250
const RETRY_MS = 1_000
/**
 * Attempts begin in groups of at most this size and no closer than this time: up to 250 a second, so that a backlog leaves
 * the process and the database to requests.
 */
const GROUP = 10
const GROUP_MS = 40
/** Twice the maximum duration of an attempt: a process that has not recorded it by then is considered dead. */
const LEASE_SECONDS = (2 * WEBHOOK_TIMEOUT_MS) / 1000
/** Attempts recorded in one statement. */
const MAX_RECORDED = 200
/** How long attempts in progress may take to end when the service stops. */
const STOP_MS = 1_500
const MEASURE_MS = 10_000
const MAX_MEASURED = 100_000

type Deps = Pick<Service, 'pool' | 'webhooks' | 'clock' | 'monotonic' | 'metrics' | 'log'>
type Claimed = Pick<AttemptOutcome, 'appId' | 'endpointId' | 'seq' | 'lease'>

/**
 * Delivers events to webhook endpoints until it is stopped. Every process does. A delivery is claimed under a lease and
 * attempted; the outcome is recorded under the same lease. Whatever dies in between, the delivery is due again when the
 * lease ends: it arrives at least once.
 */
export class Deliverer {
  readonly #deps: Deps
  readonly #sender: WebhookSender
  readonly #slots = new DeliverySlots()
  readonly #attempts = new Set<Promise<void>>()
  readonly #backlog = { pending: 0, oldestSeconds: 0 }
  #measuredAt = Number.NEGATIVE_INFINITY
  #finished: (Finished & { until: number })[] = []
  #unattempted: Claimed[] = []
  #recording: Promise<void> | null = null
  #stopping = new AbortController()
  #wake = () => {}
  readonly #working: Promise<void>

  constructor(deps: Deps, sender = new WebhookSender({ ...deps.webhooks, monotonic: deps.monotonic })) {
    this.#deps = deps
    this.#sender = sender
    deps.metrics.watchDeliveries(this.#backlog)
    this.#working = this.#work()
  }

  /** Ends attempts in progress, if they last, and gives their deliveries back. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#wake()
    await this.#working
    const ended = new AbortController()
    const late = delay(STOP_MS, undefined, { signal: ended.signal }).catch(() => {})
    await Promise.race([late, Promise.all(this.#attempts)])
    ended.abort()
    this.#sender.close()
    await Promise.all(this.#attempts)
    await this.#recording
    const { pool, log } = this.#deps
    if (this.#unattempted.length === 0) return
    await transaction(pool, (tx) => releaseDeliveries(tx, this.#unattempted)).catch((error) =>
      log.warn(
        { err: error },
        'webhook deliveries could not be released; they become due when their lease ends',
      ),
    )
  }

  async #work(): Promise<void> {
    const { log, monotonic } = this.#deps
    while (!this.#stopping.signal.aborted) {
      const began = monotonic()
      let wait = POLL_MS
      try {
        await this.#measure()
        const lease = randomUUID()
        const claimed = this.#slots.free > 0 ? await this.#claim(lease) : []
        for (const delivery of claimed) this.#begin(delivery, lease)
        if (claimed.length > 0) wait = 0
      } catch (error) {
        log.warn({ err: error }, 'webhook deliveries could not be claimed; retrying')
        wait = RETRY_MS
      }
      if (wait > 0) await this.#pause(wait)
      const { signal } = this.#stopping
      const early = GROUP_MS - (monotonic() - began)
      if (early > 0) await delay(early, undefined, { signal }).catch(() => {})
    }
  }

  /** Ends early when an attempt ends, which frees a slot, or when the service stops. */
  async #pause(ms: number): Promise<void> {
    const ended = new AbortController()
    this.#wake = () => ended.abort()
    if (!this.#stopping.signal.aborted) await delay(ms, undefined, { signal: ended.signal }).catch(() => {})
    this.#wake = () => {}
  }

  #claim(lease: string): Promise<ClaimedDelivery[]> {
    return transaction(this.#deps.pool, async (tx) => {
      await lookUpKeys(tx)
      return claimDeliveries(tx, {
        lease,
        leaseSeconds: LEASE_SECONDS,
        limit: Math.min(this.#slots.free, GROUP),
        perEndpoint: MAX_DELIVERIES_PER_ENDPOINT,
        busy: this.#slots.busy,
      })
    })
  }

  #begin(delivery: ClaimedDelivery, lease: string): void {
    this.#slots.take(delivery)
    const attempt = this.#attempt(delivery, lease).finally(() => {
      this.#attempts.delete(attempt)
      this.#wake()
    })
    this.#attempts.add(attempt)
  }

  async #attempt(delivery: ClaimedDelivery, lease: string): Promise<void> {
    const { monotonic, metrics, log } = this.#deps
    const until = monotonic() + LEASE_SECONDS * 1000
    let answered = false
    try {
      const finished = await attemptDelivery(this.#deps, this.#sender, delivery, lease)
      if (finished) {
        answered = finished.answered
        metrics.deliveries.inc({
          outcome: finished.state === 'PENDING' ? 'retried' : finished.state.toLowerCase(),
        })
        this.#finished.push({ ...finished, until })
        this.#recording ??= this.#record()
      } else this.#unattempted.push({ ...delivery, lease })
    } catch (error) {
      // Not the receiver's doing, for example a secret that cannot be decrypted: due again when the lease ends.
      const { appId, endpointId, eventId } = delivery
      log.error({ err: error, appId, endpointId, eventId }, 'a webhook delivery could not be attempted')
    } finally {
      this.#slots.give(delivery, answered)
    }
  }

  /** Attempts that end within a short time, or while a statement runs, are recorded together. */
  async #record(): Promise<void> {
    const { monotonic, log, ...service } = this.#deps
    const { signal } = this.#stopping
    try {
      while (this.#finished.length > 0) {
        await delay(GROUP_MS, undefined, { signal }).catch(() => {})
        const batch = this.#finished.splice(0, MAX_RECORDED)
        try {
          await recordFinished({ ...service, log }, batch)
        } catch (error) {
          log.warn({ err: error }, 'the outcomes of webhook deliveries could not be recorded; retrying')
          // After the lease, another process may claim and attempt the delivery.
          this.#finished.unshift(...batch.filter(({ until }) => monotonic() < until))
          if (this.#stopping.signal.aborted) return
          await delay(RETRY_MS)
        }
      }
    } finally {
      this.#recording = null
    }
  }

  async #measure(): Promise<void> {
    const { pool, monotonic } = this.#deps
    if (monotonic() - this.#measuredAt < MEASURE_MS) return
    this.#measuredAt = monotonic()
    Object.assign(this.#backlog, await deliveryBacklog(pool, MAX_MEASURED))
  }
}
