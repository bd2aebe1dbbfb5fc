import { createHash } from 'node:crypto'
import { badUserInput } from '../domain/errors.ts'
import { isIdentifier } from '../domain/identifier.ts'
import { MAX_BATCH, MAX_IDEMPOTENCY_KEY_CHARACTERS } from '../domain/limits.ts'
import { applyUsage, checkUsageCall, type RecordedUsage, type UsageAction } from '../domain/usage.ts'
import type { Caller } from '../store/app-cache.ts'
import { type Db, type Tx, violates } from '../store/database.ts'
import { KEY_TAKEN, type KeyName, readKeys } from '../store/idempotency.ts'
import { type CounterMove, type Receipt, writeUsage } from '../store/write-usage.ts'
import {
  type Call,
  idempotencyKeyReused,
  mutate,
  type Outcome,
  once,
  resultOf,
  type Service,
} from './call.ts'
import { type FoundStanding, standings } from './standings.ts'

export interface UsageEvent {
  userId: string
  featureId: string
  delta: number
  action: UsageAction
  idempotencyKey: string | null
}

export async function recordUsage(call: Call, event: UsageEvent): Promise<RecordedUsage> {
  checkEvent(event)
  const { idempotency } = call
  // Two keys on one event guard two different things, and take the long way that can hold both.
  if (idempotency && event.idempotencyKey !== null) {
    return mutate(call, (tx) => recordInTransaction(call, tx, event))
  }
  const key = idempotency ? requestKey(call, idempotency) : eventKey(call, event)
  const [outcome] = await recordAll(call.service, call.service.pool, [{ caller: call, event, key }])
  if (!outcome) throw new Error('an event was not answered')
  if (outcome === 'claimed') return mutate(call, (tx) => recordInTransaction(call, tx, event))
  return resultOf(outcome)
}

/** Each event stands for itself, as if it had come alone. */
export async function recordUsages(call: Call, events: readonly UsageEvent[]): Promise<RecordedUsage[]> {
  if (events.length > MAX_BATCH) throw badUserInput(`inputs must hold at most ${MAX_BATCH} events`)
  for (const event of events) checkEvent(event)
  if (call.idempotency) {
    return mutate(call, async (tx) => {
      const recorded: RecordedUsage[] = []
      for (const event of events) recorded.push(await recordInTransaction(call, tx, event))
      return recorded
    })
  }
  const outcomes = await recordAll(
    call.service,
    call.service.pool,
    events.map((event) => ({ caller: call, event, key: eventKey(call, event) })),
  )
  return outcomes.map((outcome) => {
    if (outcome === 'claimed') throw new Error('the key of a usage event was claimed by a request')
    return resultOf(outcome)
  })
}

function checkEvent(event: UsageEvent): void {
  checkUsageCall(event)
  const { idempotencyKey: key } = event
  if (key !== null && (!isIdentifier(key) || key.length > MAX_IDEMPOTENCY_KEY_CHARACTERS)) {
    throw badUserInput(`idempotencyKey must be 1 to ${MAX_IDEMPOTENCY_KEY_CHARACTERS} characters long`)
  }
}

async function recordInTransaction(call: Call, tx: Tx, event: UsageEvent): Promise<RecordedUsage> {
  const record = async () => {
    const [outcome] = await recordAll(call.service, tx, [{ caller: call, event, key: null }])
    if (!outcome || outcome === 'claimed') throw new Error('an event was not answered')
    return resultOf(outcome)
  }
  const key = eventKey(call, event)
  return key ? resultOf(await once(tx, key.name, key.request, key.field, record)) : record()
}

/** A key under which the answer is kept, and the request it stands for. */
interface Key {
  name: KeyName
  request: Buffer
  field: string
}

const requestKey = ({ appId }: Call, { key, request, field }: NonNullable<Call['idempotency']>): Key => ({
  name: { appId, scope: 'request', key },
  request,
  field,
})

function eventKey({ appId }: Call, event: UsageEvent): Key | null {
  if (event.idempotencyKey === null) return null
  const { userId, featureId, action, delta } = event
  const request = createHash('sha256')
    .update(JSON.stringify([userId, featureId, action, delta]))
    .digest()
  return { name: { appId, scope: 'usage', key: event.idempotencyKey }, request, field: 'event' }
}

interface Pending {
  caller: Caller
  event: UsageEvent
  key: Key | null
}

/** `claimed`: the key belongs to this request, whose other mutations have answered already. */
type Recorded = Outcome<RecordedUsage> | 'claimed'

/**
 * Records events in their order: reads how things stand, decides each by the rule, and writes what was decided
 * if all of it still stands. What lost to a concurrent writer is decided anew.
 */
async function recordAll(service: Service, db: Db, pending: readonly Pending[]): Promise<Recorded[]> {
  const answers = new Array<Recorded | undefined>(pending.length)
  for (;;) {
    await answerKnownKeys(db, pending, answers)
    const open = firstOfEachKey(pending, answers)
    if (open.length === 0) return answers as Recorded[]

    const found = await standings(
      service,
      db,
      open.map(({ item }) => ({
        caller: item.caller,
        userId: item.event.userId,
        featureId: item.event.featureId,
      })),
    )
    const { groups, loose } = decide(open, found)
    const moves = groups.map((group) => group.move)
    try {
      const made = await writeUsage(db, moves, loose.receipts)
      for (const [i, group] of groups.entries()) {
        if (!made.has(i)) continue
        for (const { index, answer } of group.answers) answers[index] = { value: answer }
      }
      for (const { index, answer } of loose.answers) answers[index] = { value: answer }
    } catch (error) {
      // Somebody used one of the keys meanwhile: nothing was written, and now their answer can be read.
      if (!violates(error, KEY_TAKEN)) throw error
    }
  }
}

async function answerKnownKeys(
  db: Db,
  pending: readonly Pending[],
  answers: (Recorded | undefined)[],
): Promise<void> {
  const keyed = pending.flatMap(({ key }, index) => (key && !answers[index] ? [{ key, index }] : []))
  if (keyed.length === 0) return
  const claims = await readKeys(
    db,
    keyed.map(({ key }) => key.name),
  )
  for (const [i, { key, index }] of keyed.entries()) {
    const claim = claims[i]
    if (!claim) continue
    if (!claim.request.equals(key.request)) {
      const { code, message, type } = idempotencyKeyReused()
      answers[index] = { error: { code, message, type } }
    } else if (Object.hasOwn(claim.results, key.field)) {
      answers[index] = claim.results[key.field] as unknown as Outcome<RecordedUsage>
    } else {
      answers[index] = 'claimed'
    }
  }
}

interface Open {
  item: Pending
  index: number
}

/** What is still to be answered, with the first of several events that share a key going ahead. */
function firstOfEachKey(pending: readonly Pending[], answers: readonly (Recorded | undefined)[]): Open[] {
  const seen = new Set<string>()
  return pending.flatMap((item, index) => {
    if (answers[index]) return []
    if (item.key) {
      const { appId, scope, key } = item.key.name
      const name = JSON.stringify([appId, scope, key])
      if (seen.has(name)) return []
      seen.add(name)
    }
    return [{ item, index }]
  })
}

interface Answer {
  index: number
  answer: RecordedUsage
}

/** All calls on one counter, folded into one move of it. */
interface Group {
  move: CounterMove
  answers: Answer[]
}

function decide(open: readonly Open[], found: readonly FoundStanding[]) {
  const touched = new Map<string, Group>()
  const loose = { answers: [] as Answer[], receipts: [] as Receipt[] }
  for (const [i, { item, index }] of open.entries()) {
    const at = found[i]
    if (!at) throw new Error('an event has no standing')
    const group = groupFor(touched, item, at)
    const before = group?.move.to ?? 0
    const { used, ...answer } = applyUsage(at.standing, before, item.event)
    const receipt = item.key && receiptFor(item.key, answer)
    if (group) {
      group.answers.push({ index, answer })
      if (receipt) group.move.receipts.push(receipt)
      if (answer.recorded) {
        group.move.entries.push({ action: item.event.action, delta: used - before, used, recordedAt: at.now })
        group.move.to = used
      }
    } else {
      loose.answers.push({ index, answer })
      if (receipt) loose.receipts.push(receipt)
    }
  }
  const groups: Group[] = []
  for (const group of touched.values()) {
    if (group.move.entries.length > 0) groups.push(group)
    else {
      // All refused: there is nothing to move, and the refusals hold as of the moment they were read at.
      loose.answers.push(...group.answers)
      loose.receipts.push(...group.move.receipts)
    }
  }
  return { groups: groups.sort((a, b) => compareKeys(a.move, b.move)), loose }
}

function groupFor(touched: Map<string, Group>, { caller }: Pending, at: FoundStanding): Group | null {
  const { standing, uid, featureId } = at
  if (standing.kind !== 'metered' || uid === null) return null
  const key = {
    appId: caller.appId,
    userUid: uid,
    featureId,
    resetPeriod: standing.allowance.resetPeriod,
    periodStart: standing.period.start,
  }
  const name = JSON.stringify(Object.values(key))
  let group = touched.get(name)
  if (!group) {
    const from = at.counted ? at.used : null
    group = { move: { key, from, to: at.used, entries: [], receipts: [] }, answers: [] }
    touched.set(name, group)
  }
  return group
}

function receiptFor(key: Key, answer: RecordedUsage): Receipt {
  return { ...key.name, request: key.request, results: JSON.stringify({ [key.field]: { value: answer } }) }
}

/** All writers take their counters in the same order, so that no two wait for each other. */
function compareKeys(a: CounterMove, b: CounterMove): number {
  return (
    a.key.userUid - b.key.userUid ||
    (a.key.featureId < b.key.featureId ? -1 : a.key.featureId > b.key.featureId ? 1 : 0)
  )
}
