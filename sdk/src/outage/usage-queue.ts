import { MAX_WAIT_MS } from '../back-off.ts'
import { isOutage, NetworkError, TollgateError } from '../errors.ts'
import { failed } from '../reply.ts'
import type { Recorded, RecordedUsage, Result } from '../types.ts'
import { MAX_TIMER_MS } from '../within.ts'
import { DiskStore } from './disk-store.ts'
import { isRevert, type KeyedEvent, MemoryStore, type QueuedEvent, type QueueStore } from './queue-store.ts'

/** Options of the queue for usage recorded while the service is unreachable. */
export interface QueueOptions {
  /** Maximum number of queued events. Further events fail with the code `QUEUE_FULL`. @default 10_000 */
  max?: number | undefined
  /**
   * File that stores the events, so that they survive the process. Each client needs its own file.
   * @default none: in memory
   */
  path?: string | undefined
  /** Milliseconds between attempts to reach the service. @default 1_000 */
  retryEvery?: number | undefined
  /**
   * Milliseconds after which an event that may already have been counted is discarded with the error
   * `QUEUE_EXPIRED`, since idempotency keys expire after 24 hours. Events that were never sent do not expire.
   * @default 23 hours
   */
  maxAge?: number | undefined
  /**
   * Called with the result of each queued event: recorded, not recorded (`recorded` is false), or failed.
   * @default none
   */
  onSettled?: ((event: KeyedEvent, result: Result<RecordedUsage>) => unknown) | undefined
}

/** Calls of the client that the queue uses. */
export interface QueueLine {
  /** Checks that the service answers and accepts the key; null: it does. */
  probe(): Promise<TollgateError | null>
  /** Sends events, or one revert, without retries. */
  send(events: KeyedEvent[]): Promise<Result<RecordedUsage[]>>
  /** Reports an error that no call waits for. */
  report(error: TollgateError): Promise<void>
  /** Runs a hook of the application. */
  observe(hook: () => unknown): Promise<unknown>
  /** milliseconds since 1970 */
  now(): number
}

/** The maximum of `recordUsages`. */
const MAX_BATCH = 100

/**
 * Usage that could not be sent, in the order in which it was recorded. While any is waiting, later usage waits behind
 * it: a SET that overtook an ADD would give another sum, and nobody has to sit out a timeout twice.
 */
export class UsageQueue {
  readonly #options: QueueOptions
  readonly #line: QueueLine
  readonly #store: QueueStore
  /** events on their way into the store */
  #arriving = 0
  #draining: Promise<void> | null = null
  /** the application's hooks, one after the other; sending does not wait for them, as one may wait for a flush */
  #hooks: Promise<unknown> = Promise.resolve()
  #inHook = false
  #timer: ReturnType<typeof setTimeout> | undefined
  #closed = false
  #closing: Promise<void> | null = null
  /** the last reported failure: the same one is not reported again */
  #reported: string | null = null
  /** milliseconds to wait, as the service asked */
  #askedToWait = 0

  constructor(options: QueueOptions, line: QueueLine) {
    this.#options = options
    this.#line = line
    this.#store = options.path === undefined ? new MemoryStore() : new DiskStore(options.path)
    if (this.size > 0) this.#drainLater(0)
  }

  get #retryEvery(): number {
    return this.#options.retryEvery ?? 1_000
  }

  get size(): number {
    return this.#store.events.length + this.#arriving
  }

  /** Sends the events, or queues them: behind waiting ones, or because the service is unreachable. */
  async record(
    inputs: KeyedEvent[],
    send: () => Promise<Result<RecordedUsage[]>>,
  ): Promise<Result<Recorded[]>> {
    if (this.size > 0 && !this.#closed) return this.#enqueue(inputs, null)
    const startedAt = this.#line.now()
    const { data, error } = await send()
    if (error === null) return { data: data.map((one) => ({ ...one, queued: false })), error }
    if (!isOutage(error) || this.#closed) return { data: null, error }
    return this.#enqueue(inputs, neverArrived(error) ? null : startedAt)
  }

  /** Sends waiting events now; resolves when all are settled or the service turns out to be unreachable. */
  flush(): Promise<void> {
    return this.#withHooks(this.#send())
  }

  /** A last flush; then nothing is accepted or sent, and the file is free for another client. */
  close(): Promise<void> {
    this.#closing ??= this.#end()
    return this.#withHooks(this.#closing)
  }

  async #send(): Promise<void> {
    if (this.#closed) return
    this.#draining ??= this.#drain().finally(() => {
      this.#draining = null
      if (this.size > 0) this.#drainLater(Math.max(this.#retryEvery, this.#askedToWait))
    })
    await this.#draining
  }

  async #end(): Promise<void> {
    await this.#send()
    this.#closed = true
    clearTimeout(this.#timer)
    // It may have been started again just before.
    await this.#draining
    await this.#store.close()
  }

  /** Waits for the hooks too, unless one is running: it may be the one that waits for this. */
  async #withHooks(work: Promise<void>): Promise<void> {
    const mayBeHook = this.#inHook
    await work
    if (!mayBeHook) await this.#hooks
  }

  async #enqueue(inputs: KeyedEvent[], sentAt: number | null): Promise<Result<Recorded[]>> {
    const { max = 10_000 } = this.#options
    if (this.size + inputs.length > max) {
      const message = `The service is unreachable and the usage queue is full (${max} events)`
      return this.#refused(new NetworkError(message, { code: 'QUEUE_FULL', status: 0 }), sentAt)
    }
    this.#arriving += inputs.length
    try {
      await this.#store.put(inputs.map((input) => ({ input, sentAt })))
    } catch (cause) {
      const message = 'The service is unreachable and the usage queue could not be written'
      return this.#refused(new NetworkError(message, { code: 'QUEUE_FAILED', status: 0, cause }), sentAt)
    } finally {
      this.#arriving -= inputs.length
    }
    this.#drainLater(this.#retryEvery)
    const reason =
      'The service is unreachable. The usage is queued and will be recorded when the service is available.'
    return {
      data: inputs.map(() => ({ recorded: false, queued: true, reason, consumption: null })),
      error: null,
    }
  }

  async #refused(error: NetworkError, sentAt: number | null): Promise<Result<never>> {
    error.mayHaveArrived = sentAt !== null
    await this.#line.report(error)
    return failed(error)
  }

  #drainLater(after: number): void {
    if (this.#timer !== undefined || this.#draining || this.#closed) return
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined
        void this.flush()
      },
      Math.min(after, MAX_TIMER_MS),
    )
    // An otherwise idle process may exit; events in a file are sent by the next one.
    this.#timer.unref?.()
  }

  async #drain(): Promise<void> {
    // Checked first, so that events are marked as sent only if the service was reachable.
    if (this.#store.events.length === 0 || !(await this.#isUp())) return
    try {
      for (;;) {
        const batch = this.#nextBatch()
        if (batch.length === 0 || !(await this.#settle(batch))) return
      }
    } catch (cause) {
      const message = 'The usage queue could not be written'
      this.#reportNews(new NetworkError(message, { code: 'QUEUE_FAILED', status: 0, cause }))
    }
  }

  async #isUp(): Promise<boolean> {
    const error = await this.#line.probe()
    this.#askedToWait = waitFor(error)
    if (error === null) this.#reported = null
    else if (!isOutage(error)) this.#reportNews(error)
    return error === null
  }

  #reportNews(error: TollgateError): void {
    if (this.#reported === error.code) return
    this.#reported = error.code
    this.#call(() => this.#line.report(error))
  }

  #call(hook: () => Promise<unknown>): void {
    this.#hooks = this.#hooks.then(async () => {
      this.#inHook = true
      await hook()
      this.#inHook = false
    })
  }

  /** The first events, as many as fit into a batch; one that is too old, or a revert, goes alone. */
  #nextBatch(): QueuedEvent[] {
    const head = this.#store.events.slice(0, MAX_BATCH)
    const alone = head.findIndex((event) => isRevert(event.input) || this.#isTooOld(event))
    return alone === -1 ? head : head.slice(0, Math.max(alone, 1))
  }

  #isTooOld({ sentAt }: QueuedEvent): boolean {
    return sentAt !== null && this.#line.now() - sentAt > (this.#options.maxAge ?? 23 * 60 * 60 * 1000)
  }

  /** False: not now. */
  async #settle(batch: QueuedEvent[]): Promise<boolean> {
    const [first] = batch
    if (first && this.#isTooOld(first)) {
      const message =
        'Queued usage was discarded: it may have been counted already, and its idempotency key has expired'
      return this.#settled(batch, failed(new TollgateError(message, { code: 'QUEUE_EXPIRED', status: 0 })))
    }
    await this.#store.sent(batch.length, this.#line.now())
    const result = await this.#line.send(batch.map(({ input }) => input))
    if (result.error === null) return this.#settled(batch, result)
    if (!isFinal(result.error)) {
      this.#askedToWait = waitFor(result.error)
      if (!isOutage(result.error)) this.#reportNews(result.error)
      return false
    }
    if (batch.length === 1) return this.#settled(batch, result)
    // One of them is refused, and the others with it: send each alone.
    for (const event of batch) if (!(await this.#settle([event]))) return false
    return true
  }

  async #settled(batch: QueuedEvent[], { data, error }: Result<RecordedUsage[]>): Promise<boolean> {
    await this.#store.done(batch.length)
    if (error) this.#call(() => this.#line.report(error))
    for (const [i, { input }] of batch.entries()) {
      const answer = data?.[i]
      const result = answer ? { data: answer, error: null } : failed(error ?? notAnswered())
      this.#call(() => this.#line.observe(() => this.#options.onSettled?.(input, result)))
    }
    return true
  }
}

const notAnswered = () =>
  new TollgateError('An event of a batch has no result', { code: 'INTERNAL_SERVER_ERROR', status: 500 })

const waitFor = (error: TollgateError | null): number =>
  Math.min((error?.retryAfter ?? 0) * 1000, MAX_WAIT_MS)

/** Whether retrying cannot help. A key can be fixed, and a rate limit passes. */
const isFinal = (error: TollgateError): boolean =>
  !isOutage(error) && ![401, 403, 429].includes(error.response.status) && error.code !== 'ABORTED'

const neverArrived = (error: TollgateError): boolean => error instanceof NetworkError && !error.mayHaveArrived
