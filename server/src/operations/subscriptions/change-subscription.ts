import { randomUUID } from 'node:crypto'
import type { Package } from '../../domain/package.ts'
import type { Moment } from '../../store/app-cache.ts'
import type { Tx } from '../../store/database.ts'
import { touchProviderSubscription } from '../../store/provider-subscriptions.ts'
import {
  cancelNow,
  endAt,
  insertSubscriptions,
  insertSuccessor,
  subscriptionsOfUser,
} from '../../store/subscriptions.ts'
import { deleteSuccessors, settleByClock } from '../../store/successors.ts'
import { askingProvider, providerOf } from '../billing/provider-of.ts'
import { syncSubscription } from '../billing/sync-subscription.ts'
import { type Call, momentOf } from '../call/call.ts'
import { foundSubscription, foundUser, lockedUser } from '../call/found.ts'
import { earlierAnswer, mutate } from '../call/mutate.ts'
import {
  type ChangeQuote,
  checkSeats,
  type FeatureChanges,
  featureChanges,
  quoteFor,
} from './change-preview.ts'
import {
  type ChangeInput,
  type PaidChange,
  type PlannedChange,
  paidChange,
  planChange,
  type Situation,
  successorOf,
} from './plan-change.ts'
import { type PackageSubscription, packageSubscription } from './subscriptions.ts'

/** What a change does, or would do. */
export interface SubscriptionChange extends ChangeQuote, FeatureChanges {
  at: number
  now: boolean
  from: Package
  to: Package
  /** the user's base plan afterwards; null where nothing was changed */
  subscription: PackageSubscription | null
}

/** What a change would do, without making it. */
export async function previewChange(call: Call, input: ChangeInput): Promise<SubscriptionChange> {
  const { service, appId } = call
  const { user, ...situation } = await situationOf(call, input.userId)
  const paid = await paidChange(service, appId, situation, input)
  const change = planChange(situation, input, paid)
  await checkSeats(service.pool, appId, user, situation, change)
  return { ...(await told(call, user, situation, change)), subscription: null }
}

/**
 * Changes a user's base plan for another, or its quantity: now, or when its period ends. Until then the change is a fact
 * beside the plan that ends, and from that moment on every reader sees the successor: no job has to run. What is paid
 * for is changed at its provider first.
 */
export async function changeSubscription(call: Call, input: ChangeInput): Promise<SubscriptionChange> {
  const { service, appId } = call
  const answered = await earlierAnswer<SubscriptionChange>(call)
  if (answered) return answered.value
  const { user, ...situation } = await situationOf(call, input.userId)
  const paid = await paidChange(service, appId, situation, input)
  const change = planChange(situation, input, paid)
  await checkSeats(service.pool, appId, user, situation, change)
  const quoted = await told(call, user, situation, change)
  if (paid) await askProvider(call, paid, change.when)
  try {
    return await mutate(call, (tx, moment) => changeHere(tx, appId, moment, input, paid, quoted))
  } finally {
    // Whatever came of it here, the provider has the last word.
    if (paid) await syncSubscription(service, { appId, provider: paid.provider, ref: paid.ref })
  }
}

async function situationOf(call: Call, userId: string) {
  const { app, now } = await momentOf(call)
  const { pool } = call.service
  const user = await foundUser(pool, call.appId, userId)
  const held = await subscriptionsOfUser(pool, call.appId, user.uid, now)
  return { user, catalogue: app.catalogue, held, now }
}

type Told = Omit<SubscriptionChange, 'subscription'>

async function told(
  { service, appId }: Call,
  user: Awaited<ReturnType<typeof foundUser>>,
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

async function askProvider(
  { service, appId }: Call,
  { provider, ref, change }: PaidChange,
  when: PlannedChange['when'],
): Promise<void> {
  const then = when === 'NOW' ? 'now' : 'period end'
  await askingProvider(provider, async () => {
    const asked = await providerOf(service, appId, provider)
    if (change) await asked.changePrice(ref, change, then)
    else await asked.cancel(ref, then)
  })
}

async function changeHere(
  tx: Tx,
  appId: string,
  moment: () => Promise<Moment>,
  input: ChangeInput,
  paid: PaidChange | null,
  quoted: Told,
): Promise<SubscriptionChange> {
  const user = await lockedUser(tx, appId, input.userId)
  const situation = await lockedSituation(tx, appId, user.uid, moment)
  const { catalogue, now } = situation
  const when = quoted.now ? 'NOW' : 'PERIOD_END'
  const change = planChange(
    situation,
    { ...input, when: input.when === 'BEST' && paid ? when : input.when },
    paid,
  )
  await checkSeats(tx, appId, user, situation, change)
  const { base, at } = change
  if (paid) await touchProviderSubscription(tx, appId, paid.provider, paid.ref)
  await deleteSuccessors(tx, appId, [base.id], now)
  const successor = successorOf(change, `sub_${randomUUID()}`)
  const billed = paid?.change ? paid : null
  if (change.when === 'NOW') {
    await cancelNow(tx, appId, [base.id], now)
    await insertSubscriptions(tx, appId, user.uid, [successor], billed)
  } else {
    await endAt(tx, appId, base.id, at)
    await insertSuccessor(tx, appId, user.uid, base.id, successor, billed)
  }
  const shown = change.when === 'NOW' ? successor.id : base.id
  const row = await foundSubscription(tx, appId, shown, now)
  return { ...quoted, at, now: change.when === 'NOW', subscription: packageSubscription(row, catalogue, now) }
}

/** What holds once the user is locked, with what the clock has decided written down. */
export async function lockedSituation(
  tx: Tx,
  appId: string,
  userUid: number,
  moment: () => Promise<Moment>,
): Promise<Situation> {
  const { app, now } = await moment()
  await settleByClock(tx, appId, userUid, now)
  return { catalogue: app.catalogue, held: await subscriptionsOfUser(tx, appId, userUid, now), now }
}
