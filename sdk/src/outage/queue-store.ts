import type { CreateUsageEventInput } from '../types.ts'

/** A usage event with its idempotency key, or a revert of one. */
export interface KeyedEvent extends CreateUsageEventInput {
  /** Of a revert: `idempotencyKey` of the reverted event, or ID of a reservation. `delta` is then 0. */
  revertOf?: string | undefined
  /** Key that identifies the event. Events with the same key are counted once. */
  idempotencyKey: string
}

/** Reverts are sent one by one. */
export const isRevert = (event: KeyedEvent | undefined): event is KeyedEvent & { revertOf: string } =>
  event?.revertOf !== undefined

export interface QueuedEvent {
  input: KeyedEvent
  /** When it may first have reached the service, in milliseconds since 1970; null: it certainly has not. */
  sentAt: number | null
}

/** Stores queued events, in order. An event is stored once `put` resolves. */
export interface QueueStore {
  /** the oldest first */
  readonly events: readonly QueuedEvent[]
  put(events: readonly QueuedEvent[]): Promise<void>
  /** The first `count` are about to be sent. */
  sent(count: number, at: number): Promise<void>
  /** The first `count` are settled, and removed. */
  done(count: number): Promise<void>
  close(): Promise<void>
}

/** One change of the queue; a queue is the result of its changes. */
export type QueueChange = { put: QueuedEvent } | { sent: [count: number, at: number] } | { done: number }

export function apply(events: QueuedEvent[], change: QueueChange): void {
  if ('put' in change) events.push(change.put)
  else if ('done' in change) events.splice(0, change.done)
  else {
    const [count, at] = change.sent
    for (const event of events.slice(0, count)) event.sentAt ??= at
  }
}

/** In memory: lost with the process. */
export class MemoryStore implements QueueStore {
  readonly events: QueuedEvent[] = []

  async put(events: readonly QueuedEvent[]): Promise<void> {
    for (const put of events) apply(this.events, { put })
  }

  async sent(count: number, at: number): Promise<void> {
    apply(this.events, { sent: [count, at] })
  }

  async done(count: number): Promise<void> {
    apply(this.events, { done: count })
  }

  async close(): Promise<void> {}
}
