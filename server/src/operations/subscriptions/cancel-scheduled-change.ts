import { badUserInput } from '../../domain/errors.ts'
import { endedAt } from '../../domain/subscription.ts'
import { findProviderSubscription } from '../../store/billing/provider-subscriptions.ts'
import { keepOn, type SubscriptionRow, subscriptionsOfUser } from '../../store/subscriptions/subscriptions.ts'
import { deleteSuccessors } from '../../store/subscriptions/successors.ts'
import { type Lease, leased } from '../billing/leased.ts'
import { type Call, momentOf } from '../call/call.ts'
import { earlierAnswer, mutateUser } from '../call/mutate.ts'
import { Overtaken, unlessOvertaken } from '../call/overtaken.ts'
import { requireSubscription, requireUser } from '../call/require.ts'
import type { Service } from '../call/service.ts'
import { keepAddonsWithPlan } from './addons.ts'
import { billsBehind, lockedSituation } from './change-subscription.ts'
import { type PackageSubscription, packageSubscription } from './subscriptions.ts'

/**
 * Cancels a scheduled change; the plan continues. After a trial, the planned successor is dropped and the trial still
 * ends.
 */
export async function cancelScheduledChange(call: Call, userId: string): Promise<PackageSubscription> {
  const answered = await earlierAnswer<PackageSubscription>(call)
  return answered ? answered.value : unlessOvertaken(() => takeBack(call, userId))
}

async function takeBack(call: Call, userId: string): Promise<PackageSubscription> {
  const { service, appId } = call
  const look = async () => {
    const { now } = await momentOf(call)
    const { uid } = await requireUser(service.pool, appId, userId)
    return changing(await subscriptionsOfUser(service.pool, appId, uid, now), now)
  }
  const seen = await look()
  const bills = billsBehind(appId, seen)
  return leased(service, bills, async (lease) => {
    const base = bills.length > 0 ? await look() : seen
    if (base.id !== seen.id) throw new Overtaken()
    if (bills.length > 0) await goOnAsBefore(service, appId, base, lease)
    return mutateUser(call, userId, async (tx, user, moment) => {
      const { catalogue, held, now } = await lockedSituation(tx, appId, user.uid, moment)
      await lease.check(tx)
      const { id, trialEndsAt, ...paid } = changing(held, now)
      if (id !== base.id && (bills.length > 0 || paid.provider !== null)) throw new Overtaken()
      if (trialEndsAt === null) await keepOn(tx, appId, [id])
      await deleteSuccessors(tx, appId, [id], now)
      await keepAddonsWithPlan(tx, appId, user.uid, { held, now }, trialEndsAt)
      return packageSubscription(await requireSubscription(tx, appId, id, now), catalogue, now)
    })
  })
}

/** The user's base plan, if a change is scheduled. */
function changing(held: readonly SubscriptionRow[], now: number): SubscriptionRow {
  const base = held.find((s) => !s.isAddon && endedAt(s, now) === null)
  if (!base?.next) throw badUserInput('The user has no scheduled change', 'userId')
  return base
}

async function goOnAsBefore(
  service: Service,
  appId: string,
  { provider, providerRef: ref }: SubscriptionRow,
  lease: Lease,
): Promise<void> {
  if (provider === null || ref === null) return
  const known = await findProviderSubscription(service.pool, appId, provider, ref)
  if (!known?.live) return
  await lease.ask(provider, async (asked) => {
    await asked.dropScheduledChange(ref)
    await asked.keep(ref)
  })
}
