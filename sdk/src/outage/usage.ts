import type { BackendTransport } from '../backend-transport.ts'
import { type Calls, listOf, newKey } from '../calls.ts'
import type { MutationOptions } from '../options.ts'
import type { CreateUsageEventInput, Recorded, RecordedUsage, Result, RevertUsageInput } from '../types.ts'
import type { Checks } from './checks.ts'
import { isRevert, type KeyedEvent } from './queue-store.ts'
import { type QueueOptions, UsageQueue } from './usage-queue.ts'

/** Records usage, through the queue if there is one, and invalidates cached checks. */
export class Usage {
  readonly #calls: Calls
  readonly #checks: Checks
  readonly #queue: UsageQueue | null

  constructor(options: QueueOptions | undefined, calls: Calls, transport: BackendTransport, checks: Checks) {
    this.#calls = calls
    this.#checks = checks
    this.#queue = options
      ? new UsageQueue(options, {
          probe: async () => (await transport.request({ query: '{ __typename }', inBackground: true })).error,
          send: (inputs) => this.#sendLater(inputs),
          report: (error) => transport.report(error),
          observe: (hook) => transport.observe(hook),
          now: () => Date.now(),
        })
      : null
  }

  /** A queued event outlives its request, so it needs its own key. */
  withKey(input: CreateUsageEventInput, key?: string): CreateUsageEventInput {
    return this.#queue ? keyed(input, key) : input
  }

  async record(
    events: readonly CreateUsageEventInput[],
    signal: AbortSignal | undefined,
    send: () => Promise<Result<RecordedUsage[]>>,
  ): Promise<Result<Recorded[]>> {
    const queue = signal?.aborted ? null : this.#queue
    const inputs = events.map((event) => keyed(event))
    const result = queue ? await queue.record(inputs, send) : direct(await send())
    this.#changed(events)
    return result
  }

  /** Repeating a revert is harmless: it needs its key only as a request. */
  async revert(
    event: RevertUsageInput & { delta: number },
    options: MutationOptions | undefined,
  ): Promise<Result<Recorded[]>> {
    const { idempotencyKey = newKey(), ...request } = options ?? {}
    const input = keyed(event, idempotencyKey)
    return this.record([input], request.signal, () => this.#sendRevert(input, request))
  }

  async flush(): Promise<{ waiting: number }> {
    await this.#queue?.flush()
    return { waiting: this.#queue?.size ?? 0 }
  }

  async close(): Promise<{ waiting: number }> {
    await this.#queue?.close()
    return { waiting: this.#queue?.size ?? 0 }
  }

  async #sendLater(inputs: KeyedEvent[]): Promise<Result<RecordedUsage[]>> {
    const request = { inBackground: true }
    const [first] = inputs
    const result = isRevert(first)
      ? await this.#sendRevert(first, request)
      : await this.#calls.send<RecordedUsage[]>(
          'recordUsages',
          { inputs },
          { ...request, idempotencyKey: newKey() },
        )
    this.#changed(inputs)
    return result
  }

  async #sendRevert(
    { idempotencyKey, ...input }: KeyedEvent,
    request: MutationOptions & { inBackground?: boolean },
  ): Promise<Result<RecordedUsage[]>> {
    return listOf(await this.#calls.send('recordUsage', { input }, { ...request, idempotencyKey }))
  }

  #changed(events: readonly CreateUsageEventInput[]): void {
    for (const { userId, featureId } of events) this.#checks.changed(userId, featureId)
  }
}

const keyed = (input: CreateUsageEventInput, key?: string): KeyedEvent => ({
  ...input,
  idempotencyKey: input.idempotencyKey ?? key ?? newKey(),
})

const direct = ({ data, error }: Result<RecordedUsage[]>): Result<Recorded[]> =>
  error ? { data: null, error } : { data: data.map((one) => ({ ...one, queued: false })), error }
