import { randomUUID } from 'node:crypto'
import type { Package } from '../../domain/package.ts'
import type { ProviderRef } from '../../domain/provider-ref.ts'
import { endedAt, endOfPlan } from '../../domain/subscription.ts'
import type { Moment } from '../../store/apps/app-cache.ts'
import type { UserTx } from '../../store/connection/places.ts'
import { type UserCounter, usedOf } from '../../store/subscriptions/subscribers.ts'
import {
  cancelNow,
  endAt,
  insertSubscriptions,
  insertSuccessor,
  keepOn,
  type SubscriptionRow,
  subscriptionsOfUser,
} from '../../store/subscriptions/subscriptions.ts'
import { deleteSuccessors, followInstead, settleByClock } from '../../store/subscriptions/successors.ts'
import { holdCounters } from '../../store/usage/usage.ts'
import type { UserRow } from '../../store/users/users.ts'
import { type Lease, leased } from '../billing/leased.ts'
import { checkTakesNew } from '../call/archived-app.ts'
import { type Call, momentOf } from '../call/call.ts'
import { earlierAnswer, mutateUser } from '../call/mutate.ts'
import { Overtaken, unlessOvertaken } from '../call/overtaken.ts'
import { requireSubscription, requireUser } from '../call/require.ts'
import { keepAddonsWithPlan } from './addons.ts'
import {
  checkInUse,
  type FeatureChanges,
  featureChanges,
  type PreviewedCost,
  quoteFor,
} from './change-preview.ts'
import {
  type ChangeInput,
  type PaidChange,
  type PlannedChange,
  paidChange,
  planChange,
  type Situation,
  staysTrial,
  successorOf,
} from './plan-change.ts'
import { type PackageSubscription, packageSubscription } from './subscriptions.ts'

/** The result of a change or of its preview. */
export interface SubscriptionChange extends PreviewedCost, FeatureChanges {
  at: number
  now: boolean
  from: Package
  to: Package
  /** the user's base plan afterwards; null for a preview */
  subscription: PackageSubscription | null
}

export async function previewChange(call: Call, input: ChangeInput): Promise<SubscriptionChange> {
  const { service, appId } = call
  const { user, ...situation } = await situationOf(call, input.userId)
  const paid = await paidChange(service, appId, situation, input)
  const change = planChange(situation, input, paid)
  await checkInUse(user, situation, change, (counters) => usedOf(service.pool, appId, counters))
  return { ...(await describedChange(call, user, situation, change)), subscription: null }
}

/**
 * Changes a user's base plan or its quantity, now or at the end of the period. A scheduled change is stored with the
 * current plan, and from its time on every reader sees the successor: no job has to run. A paid subscription is changed
 * at its provider first.
 */
export async function changeSubscription(call: Call, input: ChangeInput): Promise<SubscriptionChange> {
  const answered = await earlierAnswer<SubscriptionChange>(call)
  return answered ? answered.value : unlessOvertaken(() => make(call, input))
}

async function make(call: Call, input: ChangeInput): Promise<SubscriptionChange> {
  const { service, appId } = call
  const seen = await situationOf(call, input.userId)
  const base = basePlan(seen)
  return leased(service, base ? billsBehind(appId, base) : [], async (lease) => {
    const isPaid = base !== undefined && base.provider !== null
    const { user, ...situation } = isPaid ? await situationOf(call, input.userId) : seen
    const paid = await paidChange(service, appId, situation, input)
    const change = planChange(situation, input, paid)
    if (paid && change.base.id !== base?.id) throw new Overtaken()
    // For a paid plan, only here: the provider's change is final.
    await checkInUse(user, situation, change, (counters) => usedOf(service.pool, appId, counters))
    const quoted = await describedChange(call, user, situation, change)
    if (paid) await askProvider(lease, paid, change.when)
    return mutateUser(call, input.userId, (tx, locked, moment) =>
      changeHere(tx, appId, locked, moment, input, change, quoted, lease),
    )
  })
}

const basePlan = ({ held, now }: Pick<Situation, 'held' | 'now'>): SubscriptionRow | undefined =>
  held.find((s) => !s.isAddon && endedAt(s, now) === null)

/** The provider's subscription that pays for it, if any. */
export const billsBehind = (appId: string, { provider, providerRef: ref }: SubscriptionRow): ProviderRef[] =>
  provider === null || ref === null ? [] : [{ appId, provider, ref }]

async function situationOf(call: Call, userId: string) {
  const { app, now } = await momentOf(call)
  // Before the provider is called.
  checkTakesNew(call.actor, call.appId, app.archived)
  const { pool } = call.service
  const user = await requireUser(pool, call.appId, userId)
  const held = await subscriptionsOfUser(pool, call.appId, user.uid, now)
  return { user, catalogue: app.catalogue, held, now }
}

type Told = Omit<SubscriptionChange, 'subscription'>

async function describedChange(
  { service, appId }: Call,
  user: Awaited<ReturnType<typeof requireUser>>,
  situation: Situation,
  change: PlannedChange,
): Promise<Told> {
  const { from, to, at, when } = change
  return {
    at,
    now: when === 'NOW',
    from,
    to,
    ...(await featureChanges(service.pool, appId, user, situation, change)),
    ...(await quoteFor(service, appId, change, situation.now)),
  }
}

function askProvider(
  lease: Lease,
  { provider, ref, change }: PaidChange,
  when: PlannedChange['when'],
): Promise<void> {
  const then = when === 'NOW' ? 'now' : 'period end'
  return lease.ask(provider, (asked) =>
    change ? asked.changePrice(ref, change, then) : asked.cancel(ref, then),
  )
}

async function changeHere(
  tx: UserTx,
  appId: string,
  user: UserRow,
  moment: () => Promise<Moment>,
  input: ChangeInput,
  planned: PlannedChange,
  quoted: Told,
  lease: Lease,
): Promise<SubscriptionChange> {
  const { paid } = planned
  const situation = await lockedSituation(tx, appId, user.uid, moment)
  await lease.check(tx)
  const { catalogue, now } = situation
  const held = basePlan(situation)
  // Something else is paid for now, whose provider must be called first.
  if (held?.id !== planned.base.id && (paid || (held && held.provider !== null))) throw new Overtaken()
  const when = quoted.now ? 'NOW' : 'PERIOD_END'
  const change = planChange(
    situation,
    { ...input, when: input.when === 'BEST' && paid ? when : input.when },
    paid,
  )
  const used = (counters: readonly UserCounter[]) =>
    change.when === 'NOW' ? holdCounters(tx, appId, counters) : usedOf(tx, appId, counters)
  if (!paid) await checkInUse(user, situation, change, used)
  const { base, at } = change
  const successor = successorOf(change, `sub_${randomUUID()}`)
  const stays = staysTrial(change)
  if (!stays) await deleteSuccessors(tx, appId, [base.id], now)
  const billed = paid?.change ? paid : null
  if (change.when === 'PERIOD_END' && change.to.id === base.packageId && change.quantity === base.quantity) {
    // Only the price changes, which the provider does at its next renewal: nothing is planned here.
    await keepOn(tx, appId, [base.id])
  } else if (change.when === 'NOW') {
    await cancelNow(tx, appId, [base.id], now)
    await insertSubscriptions(tx, appId, user.uid, [successor], billed)
    if (stays) await followInstead(tx, appId, base.id, successor.id)
  } else {
    await endAt(tx, appId, base.id, at)
    await insertSuccessor(tx, appId, user.uid, base.id, successor, billed)
  }
  await keepAddonsWithPlan(tx, appId, user.uid, situation, stays ? endOfPlan(base) : null)
  const shown = change.when === 'NOW' ? successor.id : base.id
  const row = await requireSubscription(tx, appId, shown, now)
  return { ...quoted, at, now: change.when === 'NOW', subscription: packageSubscription(row, catalogue, now) }
}

/** The state once the user is locked, with due scheduled changes written. */
export async function lockedSituation(
  tx: UserTx,
  appId: string,
  userUid: number,
  moment: () => Promise<Moment>,
): Promise<Situation> {
  const { app, now } = await moment()
  await settleByClock(tx, appId, userUid, now)
  return { catalogue: app.catalogue, held: await subscriptionsOfUser(tx, appId, userUid, now), now }
}
