import { consumptionOf } from '../../domain/access.ts'
import { badUserInput, quote } from '../../domain/errors.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import type { Json } from '../../domain/metadata.ts'
import { currentPeriod, spendable, WITHOUT_PLAN } from '../../domain/purse.ts'
import { entitiesOf, reservationState } from '../../domain/reservation.ts'
import { fromStored, isReturnable, revert, type Split, type StoredSplit } from '../../domain/revert.ts'
import { consumptionFrom } from '../../domain/spending-calls.ts'
import { partsOn, type TakenPart, unitsOf } from '../../domain/split.ts'
import type { RecordedUsage } from '../../domain/usage.ts'
import type { UserEntitlement } from '../../domain/user-entitlement.ts'
import type { Moment } from '../../store/apps/app-cache.ts'
import type { UserTx } from '../../store/connection/places.ts'
import { findReservation, revertedAs, storeReverted } from '../../store/credits/reservations.ts'
import { lockUsageKey, storeResults } from '../../store/usage/idempotency.ts'
import type { Call } from '../call/call.ts'
import { mutate } from '../call/mutate.ts'
import { requireFeature, withLockedUser } from '../call/require.ts'
import { FeatureCounts } from '../usage/feature-counts.ts'
import { readEntitlements } from '../usage/read-entitlements.ts'
import { recordBatch } from '../usage/record-batch.ts'
import { type KeyedUsageEvent, recordUsage } from '../usage/record-usage.ts'
import { openSpender, purseIn, type Spender, withCredits, writeBurn } from './mutate-spender.ts'

/** Records a usage event, or reverts an earlier one. */
export function recordOrRevert(call: Call, event: KeyedUsageEvent): Promise<RecordedUsage> {
  const { revertOf, userId, featureId } = event
  if (revertOf === undefined) return recordUsage(call, event)
  checkRevert(event)
  return revertUsage(call, { userId, featureId, revertOf })
}

/** A revert says nothing else: what it returns was decided by what it reverts. Repeating it is harmless. */
function checkRevert({ delta, action, idempotencyKey, entities }: KeyedUsageEvent): void {
  const refuse = (field: string) => badUserInput(`${field} must be omitted with revertOf`, field)
  if (delta !== 0) throw badUserInput('delta must be 0 with revertOf', 'delta')
  if (action !== 'ADD') throw refuse('action')
  if (idempotencyKey !== null) throw refuse('idempotencyKey')
  if (entities) throw refuse('entities')
}

interface Revert {
  userId: string
  featureId: string
  /** the key of a usage event, or the id of a reservation */
  revertOf: string
}

/** The event or reservation to revert. */
interface Found {
  split: Split
  /** the answer to an earlier revert of it; null: none */
  earlier: RecordedUsage | null
  keep: (answer: RecordedUsage) => Promise<void>
}

/**
 * Returns exactly what a usage event or the settlements of a reservation took, to the same sources. Units of a plan's period
 * that has ended lapse. Reverting again repeats the answer.
 */
async function revertUsage(call: Call, asked: Revert): Promise<RecordedUsage> {
  const { userId, featureId, revertOf } = asked
  if (!isIdentifier(revertOf)) throw unknown(revertOf)
  let counts = new FeatureCounts()
  const answer = await mutate(call, (tx, moment) =>
    withLockedUser(tx, call.appId, userId, async (users, user) => {
      counts = new FeatureCounts()
      const { now } = await moment()
      const found =
        (await eventOf(call, users, revertOf, user.uid)) ??
        (await reservationOf(call, users, revertOf, user.uid, now))
      if (!found) throw unknown(revertOf)
      const { featureId: recorded } = found.split
      if (recorded !== featureId)
        throw badUserInput(`${quote(revertOf)} belongs to the feature ${quote(recorded)}`, 'featureId')
      if (found.earlier) return found.earlier
      const made = await reverted(call, users, user, found.split, counts, moment)
      if (made.recorded) await found.keep(made)
      return made
    }),
  )
  call.service.activity.features.add(counts.take())
  return answer
}

const unknown = (revertOf: string) =>
  badUserInput(
    `This user has no usage event with the key ${quote(revertOf)} and no reservation with that id. Keys are kept for at least 24 hours, and reservations for 30 days after their expiry.`,
    'revertOf',
  )

interface StoredEvent {
  value?: RecordedUsage
  split?: StoredSplit
  reverted?: RecordedUsage
}

async function eventOf(call: Call, tx: UserTx, key: string, uid: number): Promise<Found | null> {
  const { appId } = call
  const found = await lockUsageKey(tx, appId, key)
  if (!found || found.userUid !== uid) return null
  const { event } = found.results as { event?: StoredEvent }
  if (!event?.split) {
    if (event?.value?.recorded === false)
      throw badUserInput(`The usage event ${quote(key)} was refused: there is nothing to revert`, 'revertOf')
    if (event?.value)
      throw badUserInput(
        `The usage event ${quote(key)} changed no usage, or was recorded by an earlier version: there is nothing to revert`,
        'revertOf',
      )
    return null
  }
  const keep = (answer: RecordedUsage) =>
    storeResults(
      tx,
      { appId, scope: 'usage', key },
      {
        ...found.results,
        event: { ...event, reverted: answer } as unknown as Json,
      },
    )
  return { split: fromStored(event.split), earlier: event.reverted ?? null, keep }
}

async function reservationOf(
  { appId }: Call,
  tx: UserTx,
  id: string,
  uid: number,
  now: number,
): Promise<Found | null> {
  const row = await findReservation(tx, appId, id)
  if (row?.userUid !== uid) return null
  if (reservationState(row, now) === 'HELD')
    throw badUserInput(`The reservation ${quote(id)} is HELD. Settle or release it first.`, 'revertOf')
  const parts = row.parts
    .filter(({ settled }) => settled > 0)
    .map(
      ({ credit, period, settled, pool }): TakenPart => ({
        credit,
        period,
        amount: settled,
        ...(pool && { pool }),
      }),
    )
  const split = { featureId: row.featureId, during: null, parts, entities: entitiesOf(row.parts) }
  const earlier = (await revertedAs(tx, appId, id)) as unknown as RecordedUsage | null
  return { split, earlier, keep: (answer) => storeReverted(tx, appId, id, answer as unknown as Json) }
}

async function reverted(
  call: Call,
  tx: UserTx,
  user: Spender['user'],
  split: Split,
  counts: FeatureCounts,
  moment: () => Promise<Moment>,
): Promise<RecordedUsage> {
  const { featureId, parts } = split
  const { usageStore } = call.service
  const { app } = await moment()
  const isElsewhere = usageStore.queueOf(app.layout, call.appId, user.id) !== null
  if (!requireFeature(app.catalogue, featureId).spends || isElsewhere)
    return returnedToPlan(call, tx, user.id, split, counts)
  const pool = parts.find((part) => part.pool)?.pool?.featureId ?? null
  const { spender, version } = await openSpender(call, tx, user, featureId, moment, {
    drawnFrom: pool,
    entities: split.entities,
  })
  const known = version ?? spender.state.spending?.version
  if (known === undefined) return returnedToPlan(call, tx, user.id, split, counts)
  return returnedToSources({ ...spender, version: known }, split)
}

/** Exactly what was taken. */
async function returnedToSources(spender: Spender, split: Split): Promise<RecordedUsage> {
  const { state, now } = spender
  const { parts, entities } = split
  const spending = await withCredits(
    spender,
    spender.spending,
    parts.filter(({ pool }) => !pool),
  )
  const { pool } = state
  const drawn = pool && (await withCredits(spender, pool.spending, partsOn(pool.featureId, parts)))
  const basis = spendable(state.entitlement, spending, now, pool?.open) ?? WITHOUT_PLAN
  const before = await purseIn(spender, basis, spending, drawn ?? undefined)
  if (!parts.some((part) => isReturnable(before, part))) {
    const why = parts.length === 0 ? NOTHING_SETTLED : lapsedIn(state.entitlement)
    return refusedTo(why, consumptionFrom(before, now, entities))
  }
  const made = revert(before, split, now)
  if ('refused' in made)
    return { recorded: false, reason: made.refused, consumption: consumptionFrom(before, now, entities) }
  await writeBurn(spender, { before, after: made.purse, parts: made.parts })
  return { recorded: true, reason: null, consumption: consumptionFrom(made.purse, now, entities) }
}

/** Where nothing else ever paid. */
async function returnedToPlan(
  call: Call,
  tx: UserTx,
  userId: string,
  { featureId, during, parts }: Split,
  counts: FeatureCounts,
): Promise<RecordedUsage> {
  const { apps, usageStore } = call.service
  const caller = { ...call, deadline: null }
  const [read] = await readEntitlements(usageStore, apps, tx, [{ caller, userId, featureId }], {
    inTransaction: true,
  })
  if (!read || 'error' in read) throw read?.error ?? new Error('a question was not answered')
  const { entitlement, used } = read.value
  if (entitlement.kind !== 'metered')
    return refusedTo(parts.length === 0 ? NOTHING_SETTLED : lapsedIn(entitlement), null)
  const consumption = consumptionOf(entitlement.allowance, used)
  if (parts.length === 0) return refusedTo(NOTHING_SETTLED, consumption)
  if (currentPeriod(entitlement) !== during) return refusedTo(lapsedIn(entitlement), consumption)
  const event = { userId, featureId, action: 'ADD' as const, delta: -unitsOf(parts) }
  const [made] = await recordBatch(usageStore, apps, tx, [{ caller, event, key: null }], counts, {
    inTransaction: true,
  })
  if (!made || 'error' in made) throw made?.error ?? new Error('an event has no result')
  if (made.value === 'claimed') throw new Error('an event without a key was claimed')
  return made.value
}

/** A usage event that took nothing is not stored with a split. */
const NOTHING_SETTLED = 'Nothing was settled under this reservation: there is nothing to return.'

const lapsedIn = ({ kind }: UserEntitlement): string =>
  kind === 'metered'
    ? 'The period in which this was recorded has ended: there is nothing to return to.'
    : 'The plan that paid for this has ended: there is nothing to return to.'

const refusedTo = (reason: string, consumption: RecordedUsage['consumption']): RecordedUsage => ({
  recorded: false,
  reason,
  consumption,
})
