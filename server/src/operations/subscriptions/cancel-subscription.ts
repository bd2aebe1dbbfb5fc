import { countedPeriodsOf } from '../../domain/catalogue.ts'
import { subscriptionNotFound } from '../../domain/errors.ts'
import type { ProviderRef } from '../../domain/provider-ref.ts'
import { cancellationTime, endedAt } from '../../domain/subscription.ts'
import type { Moment } from '../../store/apps/app-cache.ts'
import { listPrices } from '../../store/billing/prices.ts'
import {
  findProviderSubscription,
  type ProviderSubscriptionRow,
} from '../../store/billing/provider-subscriptions.ts'
import type { HomeDb, UserTx } from '../../store/connection/places.ts'
import {
  cancelLater,
  cancelNow,
  type SubscriptionRow,
  subscriptionsOfUser,
} from '../../store/subscriptions/subscriptions.ts'
import { deleteSuccessors } from '../../store/subscriptions/successors.ts'
import { requireApp } from '../apps/apps.ts'
import { type Lease, leased } from '../billing/leased.ts'
import type { Call } from '../call/call.ts'
import { earlierAnswer } from '../call/mutate.ts'
import { Overtaken, unlessOvertaken } from '../call/overtaken.ts'
import { requireSubscription } from '../call/require.ts'
import { keepAddonsWithPlan } from './addons.ts'
import { lockedSituation } from './change-subscription.ts'
import { mutateSubscription } from './locked-subscriber.ts'
import { type PackageSubscription, packageSubscription } from './subscriptions.ts'

/**
 * Cancels a subscription, now or at the end of its period, and with a base plan its add-ons. A paid one is cancelled at
 * the provider first: access without a charge is better than a charge without access.
 */
export async function cancelSubscription(
  call: Call,
  id: string,
  atPeriodEnd: boolean,
): Promise<PackageSubscription> {
  const { service, appId } = call
  const answered = await earlierAnswer<PackageSubscription>(call)
  if (answered) return answered.value
  return unlessOvertaken(async () => {
    const bills = await billsOf(service.pool, appId, id)
    return leased(service, bills, async (lease) => {
      const paid = bills.length > 0 ? await paidFor(service.pool, appId, id) : []
      if (!paid.every((p) => lease.covers({ provider: p.provider, providerRef: p.ref })))
        throw new Overtaken()
      for (const { provider, ref, priceId } of paid) {
        await lease.ask(provider, (asked) =>
          priceId === null
            ? asked.cancel(ref, atPeriodEnd ? 'period end' : 'now')
            : // One of several on a bill lasts until its paid period ends, even if the bill ends earlier.
              asked.dropPrice(ref, priceId),
        )
      }
      return mutateSubscription(call, id, (tx, userUid, moment) =>
        cancelHere(tx, appId, userUid, moment, id, atPeriodEnd, paid, lease),
      )
    })
  })
}

/** Something a provider charges for until it is cancelled. */
interface Paid extends Pick<ProviderSubscriptionRow, 'paidUntil'> {
  provider: string
  ref: string
  /** null: the whole bill */
  priceId: string | null
}

/** The user's subscriptions, and those that end with this one. */
async function endingWith(db: HomeDb, appId: string, id: string) {
  const { now } = await requireApp(db, appId)
  const { userUid } = await requireSubscription(db, appId, id, now)
  const live = (await subscriptionsOfUser(db, appId, userUid, now)).filter((s) => endedAt(s, now) === null)
  return { live, ending: endingOf(live, id) }
}

function endingOf(live: readonly SubscriptionRow[], id: string): readonly SubscriptionRow[] {
  const target = live.find((s) => s.id === id)
  if (!target) return []
  return target.isAddon ? [target] : live
}

/** The provider's subscriptions behind it. */
async function billsOf(db: HomeDb, appId: string, id: string): Promise<ProviderRef[]> {
  const { ending } = await endingWith(db, appId, id)
  const bills = new Map<string, ProviderRef>()
  for (const { provider, providerRef: ref } of ending) {
    if (provider !== null && ref !== null)
      bills.set(JSON.stringify([provider, ref]), { appId, provider, ref })
  }
  return [...bills.values()]
}

/** Subscriptions to cancel at the providers when this subscription ends. */
async function paidFor(db: HomeDb, appId: string, id: string): Promise<Paid[]> {
  const { live, ending } = await endingWith(db, appId, id)
  const paid: Paid[] = []
  for (const { provider, providerRef: ref, packageId } of ending) {
    if (provider === null || ref === null || paid.some((p) => p.provider === provider && p.ref === ref))
      continue
    const known = await findProviderSubscription(db, appId, provider, ref)
    if (!known?.live) continue
    const others = live.some((s) => s.provider === provider && s.providerRef === ref && !ending.includes(s))
    const prices = others ? await pricesOfPackage(db, appId, provider, packageId) : []
    // The others may already be off the bill and paid until their end: nothing would be left on it.
    const isLast = known.items.length > 0 && known.items.every(({ priceId }) => prices.includes(priceId))
    const { paidUntil } = known
    if (!others || isLast) paid.push({ provider, ref, priceId: null, paidUntil })
    else for (const priceId of prices) paid.push({ provider, ref, priceId, paidUntil })
  }
  return paid
}

async function pricesOfPackage(
  db: HomeDb,
  appId: string,
  provider: string,
  packageId: string,
): Promise<string[]> {
  const prices = await listPrices(db, appId, packageId, true)
  return prices.filter((price) => price.provider === provider).map(({ id }) => id)
}

async function cancelHere(
  tx: UserTx,
  appId: string,
  userUid: number,
  moment: () => Promise<Moment>,
  id: string,
  atPeriodEnd: boolean,
  paid: readonly Paid[],
  lease: Lease,
): Promise<PackageSubscription> {
  const { catalogue, held, now } = await lockedSituation(tx, appId, userUid, moment)
  const target = held.find((s) => s.id === id)
  if (!target) throw subscriptionNotFound(id)

  await lease.check(tx)
  const ending = endingOf(
    held.filter((s) => endedAt(s, now) === null),
    id,
  )
  // Bought meanwhile: it must be cancelled at its provider too.
  if (ending.some((s) => s.provider !== null && !lease.covers(s))) throw new Overtaken()
  if (ending.length > 0) {
    const ids = ending.map((s) => s.id)
    // Planned successors are dropped too, except that of an add-on that ends before its base plan.
    await deleteSuccessors(tx, appId, atPeriodEnd ? [id] : ids, now)
    if (atPeriodEnd) {
      const resetPeriods = countedPeriodsOf(catalogue, target, now)
      const paidUntil = paid.find((p) => behind(p, target))?.paidUntil ?? null
      // A renewal may not be known yet; the provider knows the end of the period.
      const isKnown = paidUntil !== null && paidUntil > now
      const end = isKnown ? paidUntil : cancellationTime(target.anchor, resetPeriods, now)
      const at = Math.min(end, target.cancelAt ?? end)
      await cancelLater(tx, appId, ids, at)
      const isFollowed = ending.some((s) => s.isAddon && s.next !== null)
      if (isFollowed && !target.isAddon) await keepAddonsWithPlan(tx, appId, userUid, { held, now }, at)
    } else {
      await cancelNow(tx, appId, ids, now)
    }
  }
  return packageSubscription(await requireSubscription(tx, appId, id, now), catalogue, now)
}

const behind = (paid: Paid, s: SubscriptionRow): boolean =>
  paid.provider === s.provider && paid.ref === s.providerRef
