import { countedPeriodsOf } from '../../domain/catalogue.ts'
import { subscriptionNotFound } from '../../domain/errors.ts'
import { cancellationTime, endedAt } from '../../domain/subscription.ts'
import type { Moment } from '../../store/app-cache.ts'
import { loadApp } from '../../store/catalogue.ts'
import type { Db, Tx } from '../../store/database.ts'
import { listPrices } from '../../store/prices.ts'
import {
  findProviderSubscription,
  type ProviderSubscriptionRow,
  touchProviderSubscription,
} from '../../store/provider-subscriptions.ts'
import {
  cancelLater,
  cancelNow,
  type SubscriptionRow,
  subscriptionsOfUser,
} from '../../store/subscriptions.ts'
import { deleteSuccessors, settleByClock } from '../../store/successors.ts'
import { lockUserByUid } from '../../store/users.ts'
import { foundApp } from '../apps/apps.ts'
import { askingProvider, providerOf } from '../billing/provider-of.ts'
import { syncSubscription } from '../billing/sync-subscription.ts'
import type { Call } from '../call/call.ts'
import { foundSubscription } from '../call/found.ts'
import { earlierAnswer, mutate } from '../call/mutate.ts'
import { type PackageSubscription, packageSubscription } from './subscriptions.ts'

/**
 * Ends a subscription, now or at the end of its period, and with a base plan its add-ons. A paid one is ended at the
 * provider first: better to grant access without a charge than to charge without access.
 */
export async function cancelSubscription(
  call: Call,
  id: string,
  atPeriodEnd: boolean,
): Promise<PackageSubscription> {
  const { service, appId } = call
  const answered = await earlierAnswer<PackageSubscription>(call)
  if (answered) return answered.value
  const paid = await paidFor(service.pool, appId, id)
  const when = atPeriodEnd ? 'period end' : 'now'
  const asked = async (provider: string, ask: 'cancel' | 'drop') =>
    askingProvider(provider, async () => {
      const asking = await providerOf(service, appId, provider)
      for (const { ref, priceId } of paid.filter((p) => p.provider === provider)) {
        if (ask === 'cancel' && priceId === null) await asking.cancel(ref, when)
        if (ask === 'drop' && priceId !== null) await asking.dropPrice(ref, priceId)
      }
    })
  const providers = [...new Set(paid.map((p) => p.provider))]
  for (const provider of providers) {
    await asked(provider, 'cancel')
    if (!atPeriodEnd) await asked(provider, 'drop')
  }
  const cancelled = await mutate(call, (tx, moment) => cancelHere(tx, appId, moment, id, atPeriodEnd, paid))
  // One of several on a bill lasts until what is paid ends: it is taken off the bill once that is recorded.
  if (atPeriodEnd) for (const provider of providers) await asked(provider, 'drop')
  for (const { provider, ref } of paid) await syncSubscription(service, { appId, provider, ref })
  return cancelled
}

/** Something a provider charges for until told to stop. */
interface Paid extends Pick<ProviderSubscriptionRow, 'paidUntil'> {
  provider: string
  ref: string
  /** null: all of it ends */
  priceId: string | null
}

/** What to end at the providers when this subscription ends. */
async function paidFor(db: Db, appId: string, id: string): Promise<Paid[]> {
  const { now } = await foundApp(db, appId)
  const { userUid } = await foundSubscription(db, appId, id, now)
  const live = (await subscriptionsOfUser(db, appId, userUid, now)).filter((s) => endedAt(s, now) === null)
  const target = live.find((s) => s.id === id)
  if (!target) return []
  const ending = target.isAddon ? [target] : live
  const paid: Paid[] = []
  for (const { provider, providerRef: ref, packageId } of ending) {
    if (provider === null || ref === null || paid.some((p) => p.provider === provider && p.ref === ref))
      continue
    const known = await findProviderSubscription(db, appId, provider, ref)
    if (!known?.live) continue
    const others = live.some((s) => s.provider === provider && s.providerRef === ref && !ending.includes(s))
    const prices = others ? await pricesOfPackage(db, appId, provider, packageId) : []
    if (!others) paid.push({ provider, ref, priceId: null, paidUntil: known.paidUntil })
    for (const priceId of prices) paid.push({ provider, ref, priceId, paidUntil: known.paidUntil })
  }
  return paid
}

async function pricesOfPackage(
  db: Db,
  appId: string,
  provider: string,
  packageId: string,
): Promise<string[]> {
  const prices = await listPrices(db, appId, packageId, true)
  return prices.filter((price) => price.provider === provider).map(({ id }) => id)
}

async function cancelHere(
  tx: Tx,
  appId: string,
  moment: () => Promise<Moment>,
  id: string,
  atPeriodEnd: boolean,
  paid: readonly Paid[],
): Promise<PackageSubscription> {
  const before = await foundApp(tx, appId)
  const { userUid } = await foundSubscription(tx, appId, id, before.now)
  await lockUserByUid(tx, appId, userUid)
  const { now } = await moment()
  await settleByClock(tx, appId, userUid, now)
  const app = await loadApp(tx, appId)
  const held = await subscriptionsOfUser(tx, appId, userUid, now)
  const target = held.find((s) => s.id === id)
  if (!app) throw new Error(`the app ${appId} vanished`)
  // The user was deleted in between.
  if (!target) throw subscriptionNotFound(id)

  // An answer the provider gave before this change must not be written any more.
  for (const { provider, ref } of paid) await touchProviderSubscription(tx, appId, provider, ref)
  if (endedAt(target, now) === null) {
    const live = held.filter((s) => endedAt(s, now) === null)
    const ids = target.isAddon ? [id] : live.map((s) => s.id)
    // What was to follow is not wanted any more either.
    await deleteSuccessors(tx, appId, ids, now)
    if (atPeriodEnd) {
      const resetPeriods = countedPeriodsOf(app.catalogue, target, now)
      const paidUntil = paid.find((p) => behind(p, target))?.paidUntil ?? null
      await cancelLater(tx, appId, ids, paidUntil ?? cancellationTime(target.anchor, resetPeriods, now))
    } else {
      await cancelNow(tx, appId, ids, now)
    }
  }
  return packageSubscription(await foundSubscription(tx, appId, id, now), app.catalogue, now)
}

const behind = (paid: Paid, s: SubscriptionRow): boolean =>
  paid.provider === s.provider && paid.ref === s.providerRef
