import { createHash } from 'node:crypto'
import { checkedEntities } from '../../domain/cap.ts'
import { badUserInput } from '../../domain/errors.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import { MAX_BATCH, MAX_IDEMPOTENCY_KEY_CHARACTERS } from '../../domain/limits.ts'
import { checkUsageCall, type RecordedUsage } from '../../domain/usage.ts'
import type { Tx } from '../../store/connection/database.ts'
import type { Call } from '../call/call.ts'
import type { KeptUnder, UsageEvent } from '../call/hot-paths.ts'
import { mutate } from '../call/mutate.ts'
import { FeatureCounts } from './feature-counts.ts'
import { recordBatch } from './record-batch.ts'

export interface KeyedUsageEvent extends UsageEvent {
  idempotencyKey: string | null
  /** the event or reservation to revert (see credits/revert-usage.ts); absent: usage is recorded */
  revertOf?: string
}

export async function recordUsage(call: Call, event: KeyedUsageEvent): Promise<RecordedUsage> {
  checkEvent(event)
  const { idempotency } = call
  // Two keys on one event protect two different things, and need the slower path that handles both. So does what a member
  // records: the audit log's entry is part of it.
  if (call.actor.kind !== 'member' && (!idempotency || event.idempotencyKey === null)) {
    const key = idempotency ? requestKey(call, idempotency) : eventKey(call, event)
    const recorded = await call.service.usage.record({ caller: call, event, key })
    if (recorded !== 'claimed') return recorded
  } else {
    call.service.activity.count('records', [{ caller: call }])
  }
  return recordTogether(call, [event], ([recorded]) => {
    if (!recorded) throw new Error('an event has no result')
    return recorded
  })
}

/** Each event is independent, as if it had come alone. */
export async function recordUsages(call: Call, events: readonly KeyedUsageEvent[]): Promise<RecordedUsage[]> {
  if (events.length > MAX_BATCH)
    throw badUserInput(`inputs must contain at most ${MAX_BATCH} events`, 'inputs')
  if (events.some(({ revertOf }) => revertOf !== undefined))
    throw badUserInput('revertOf is an option of recordUsage, not of recordUsages', 'revertOf')
  for (const event of events) checkEvent(event)
  if (call.idempotency) {
    call.service.activity.count(
      'records',
      events.map(() => ({ caller: call })),
    )
    return recordTogether(call, events, (recorded) => recorded)
  }
  const { actor } = call
  if (actor.kind !== 'member') return Promise.all(events.map((event) => recordUsage(call, event)))
  // One after the other, since each waits for the app's lock; each has its own entry in the audit log.
  const recorded: RecordedUsage[] = []
  for (const event of events) {
    const mutation = { name: 'recordUsage' as const, args: { input: { ...event } } }
    recorded.push(await recordUsage({ ...call, actor: { ...actor, mutation } }, event))
  }
  return recorded
}

function checkEvent(event: KeyedUsageEvent): void {
  checkUsageCall(event)
  const { idempotencyKey: key, entities } = event
  if (entities) checkedEntities(entities)
  if (key !== null && (!isIdentifier(key) || key.length > MAX_IDEMPOTENCY_KEY_CHARACTERS)) {
    throw badUserInput(
      `idempotencyKey must be 1 to ${MAX_IDEMPOTENCY_KEY_CHARACTERS} characters long`,
      'idempotencyKey',
    )
  }
}

/** `answer` makes the stored answer, which is repeated for the same key. */
async function recordTogether<Answer>(
  call: Call,
  events: readonly KeyedUsageEvent[],
  answer: (recorded: RecordedUsage[]) => Answer,
): Promise<Answer> {
  const { activity } = call.service
  // The transaction may be tried several times, or be an earlier one's answer: what it counts is added once it is over.
  let counts = new FeatureCounts()
  let recorded: RecordedUsage[] = []
  const answered = await mutate(call, async (tx) => {
    counts = new FeatureCounts()
    recorded = await recordInTransaction(call, tx, events, counts)
    return answer(recorded)
  })
  activity.features.add(counts.take())
  for (const [i, event] of events.entries()) activity.recorded(call.appId, event, recorded[i])
  return answered
}

/** If one of the keys is used in between, the whole transaction is retried and finds its answer. */
async function recordInTransaction(
  call: Call,
  tx: Tx,
  events: readonly KeyedUsageEvent[],
  counts: FeatureCounts,
): Promise<RecordedUsage[]> {
  const pending = events.map((event) => ({ caller: call, event, key: eventKey(call, event) }))
  const { usageStore, apps } = call.service
  const results = await tx.places.ofMany(
    call.appId,
    pending,
    ({ event }) => event.userId,
    (users, some) => recordBatch(usageStore, apps, users, some, counts, { inTransaction: true }),
  )
  return results.map((one) => {
    if ('error' in one) throw one.error
    if (one.value === 'claimed') throw new Error('an event has no result')
    return one.value
  })
}

function requestKey({ appId }: Call, { key, request, field }: NonNullable<Call['idempotency']>): KeptUnder {
  return { appId, scope: 'request', key, request, field }
}

function eventKey({ appId }: Call, event: KeyedUsageEvent): KeptUnder | null {
  if (event.idempotencyKey === null) return null
  const { userId, featureId, action, delta } = event
  const request = createHash('sha256')
    .update(JSON.stringify([userId, featureId, action, delta]))
    .digest()
  return { appId, scope: 'usage', key: event.idempotencyKey, request, field: 'event' }
}
