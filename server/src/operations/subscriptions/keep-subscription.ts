import type { BilledItem } from '../../billing/provider.ts'
import { badUserInput } from '../../domain/errors.ts'
import { endedAt, endOfPlan } from '../../domain/subscription.ts'
import type { Moment } from '../../store/apps/app-cache.ts'
import { findPrices, listPrices } from '../../store/billing/prices.ts'
import { findProviderSubscription } from '../../store/billing/provider-subscriptions.ts'
import type { HomeDb, UserTx } from '../../store/connection/places.ts'
import { keepOn, type SubscriptionRow, subscriptionsOfUser } from '../../store/subscriptions/subscriptions.ts'
import { deleteSuccessors } from '../../store/subscriptions/successors.ts'
import { requireApp } from '../apps/apps.ts'
import { type Lease, leased } from '../billing/leased.ts'
import type { Call } from '../call/call.ts'
import { earlierAnswer } from '../call/mutate.ts'
import { unlessOvertaken } from '../call/overtaken.ts'
import { requireSubscription } from '../call/require.ts'
import type { Service } from '../call/service.ts'
import { keepAddonsWithPlan } from './addons.ts'
import { lockedSituation } from './change-subscription.ts'
import { mutateSubscription } from './locked-subscriber.ts'
import { type PackageSubscription, packageSubscription } from './subscriptions.ts'

/**
 * Reverts a scheduled cancellation. A paid subscription is first resumed at its provider, because otherwise it would
 * not be charged. A base plan keeps the add-ons that were to end with it, except those on another bill and those
 * already removed from its own: nobody is charged again without asking.
 */
export async function keepSubscription(call: Call, id: string): Promise<PackageSubscription> {
  const answered = await earlierAnswer<PackageSubscription>(call)
  if (answered) return answered.value
  return unlessOvertaken(() => keep(call, id))
}

async function keep(call: Call, id: string): Promise<PackageSubscription> {
  const { service, appId } = call
  const seen = await paidFor(service.pool, appId, id)
  return leased(service, seen ? [{ appId, provider: seen.provider, ref: seen.ref }] : [], async (lease) => {
    const paid = seen && (await paidFor(service.pool, appId, id))
    const offTheBill = paid ? await resume(service, appId, paid, lease) : []
    return mutateSubscription(call, id, (tx, userUid, moment) =>
      keepHere(tx, appId, userUid, moment, id, paid, offTheBill, lease),
    )
  })
}

/** The provider's subscription behind the one that is kept. */
interface Paid {
  provider: string
  ref: string
  /** the package of the one that is kept, and the others on the same bill */
  packageId: string
  isAddon: boolean
  quantity: number
  others: string[]
  /** A cancellation caused by a missing payment is reverted only by a payment. */
  unpaid: boolean
}

async function paidFor(db: HomeDb, appId: string, id: string): Promise<Paid | null> {
  const { now } = await requireApp(db, appId)
  const { userUid } = await requireSubscription(db, appId, id, now)
  const [target, ...others] = keptWith(await subscriptionsOfUser(db, appId, userUid, now), id, now)
  if (!target || target.provider === null || target.providerRef === null) return null
  const { provider, providerRef: ref, packageId, isAddon, quantity } = target
  const known = await findProviderSubscription(db, appId, provider, ref)
  if (!known?.live) return null
  const onItsBill = others.filter((s) => s.provider === provider && s.providerRef === ref)
  return {
    provider,
    ref,
    packageId,
    isAddon,
    quantity,
    others: onItsBill.map((s) => s.packageId),
    unpaid: known.pastDueSince !== null,
  }
}

/** The subscription, if it has a scheduled end, and the others on its bill that continue with it. */
function keptWith(held: readonly SubscriptionRow[], id: string, now: number): SubscriptionRow[] {
  const live = held.filter((s) => endedAt(s, now) === null)
  const target = live.find((s) => s.id === id)
  if (!target) throw badUserInput('The subscription has ended. Subscribe the user again.', 'id')
  if (target.cancelAt === null) return []
  if (target.trialEndsAt !== null && target.provider === null) {
    throw badUserInput(
      'The subscription is a trial, which ends automatically. Extend the trial or change the plan.',
      'id',
    )
  }
  if (!target.isAddon) {
    const goesOn = (s: SubscriptionRow) =>
      s.isAddon &&
      s.cancelAt === target.cancelAt &&
      s.provider !== null &&
      s.provider === target.provider &&
      s.providerRef === target.providerRef
    return [target, ...live.filter(goesOn)]
  }
  const base = live.find((s) => !s.isAddon)
  if (base && endOfPlan(base) !== null) {
    throw badUserInput('The base plan of this add-on is scheduled to end. Keep the base plan instead.', 'id')
  }
  return [target]
}

/** Resumes charging at the provider. Returns the packages that were taken off the same bill before. */
async function resume(
  service: Service,
  appId: string,
  { provider, ref, packageId, isAddon, quantity, others }: Paid,
  lease: Lease,
): Promise<string[]> {
  const offTheBill: string[] = []
  await lease.ask(provider, async (asked) => {
    const bill = await asked.fetchSubscription(ref)
    const pricesOf = async (of: string) =>
      (await listPrices(service.pool, appId, of, true)).filter((price) => price.provider === provider)
    const isOn = async (items: readonly BilledItem[] = [], of: string) => {
      const prices = await pricesOf(of)
      return items.some(({ priceId }) => prices.some(({ id }) => id === priceId))
    }
    const isBilled = await isOn(bill?.items, packageId)
    if (!isBilled) {
      // One of several packages on a bill is removed from it as soon as its end is scheduled.
      const billedIds = bill?.items.map(({ priceId }) => priceId) ?? []
      const [beside] = await findPrices(service.pool, appId, provider, billedIds)
      // Its price may no longer be sold.
      const [price, ...more] = (await pricesOf(packageId)).filter(
        ({ interval, currency }) => interval === beside?.interval && currency === beside?.currency,
      )
      if (!price || more.length > 0) {
        throw badUserInput(
          "The package is no longer part of the provider's subscription, and its former price is ambiguous. Sell it with a new payment link.",
          'id',
        )
      }
      await asked.addPrice(ref, price.id, quantity)
    }
    // A scheduled change of the base plan stays, unless it removes the add-on.
    const staysOn = isAddon && (!isBilled || (await isOn(bill?.scheduled?.items, packageId)))
    if (!staysOn) await asked.dropScheduledChange(ref)
    await asked.keep(ref)
    for (const other of others) if (!(await isOn(bill?.items, other))) offTheBill.push(other)
  })
  return offTheBill
}

async function keepHere(
  tx: UserTx,
  appId: string,
  userUid: number,
  moment: () => Promise<Moment>,
  id: string,
  paid: Paid | null,
  offTheBill: readonly string[],
  lease: Lease,
): Promise<PackageSubscription> {
  const { catalogue, held, now } = await lockedSituation(tx, appId, userUid, moment)
  await lease.check(tx)
  const kept = keptWith(held, id, now)
  const goesOn = (s: SubscriptionRow) =>
    s.provider === null || (!paid?.unpaid && !offTheBill.includes(s.packageId))
  const goingOn = kept.filter(goesOn)
  const ids = goingOn.map((s) => s.id)
  await keepOn(tx, appId, ids)
  if (goingOn.some((s) => s.next)) await deleteSuccessors(tx, appId, ids, now)
  if (goingOn.some((s) => !s.isAddon)) await keepAddonsWithPlan(tx, appId, userUid, { held, now }, null)
  return packageSubscription(await requireSubscription(tx, appId, id, now), catalogue, now)
}
