import { badUserInput } from '../../domain/errors.ts'
import { endedAt } from '../../domain/subscription.ts'
import { findProviderSubscription, touchProviderSubscription } from '../../store/provider-subscriptions.ts'
import { keepOn, type SubscriptionRow, subscriptionsOfUser } from '../../store/subscriptions.ts'
import { deleteSuccessors } from '../../store/successors.ts'
import { askingProvider, providerOf } from '../billing/provider-of.ts'
import { syncSubscription } from '../billing/sync-subscription.ts'
import { type Call, momentOf } from '../call/call.ts'
import { foundSubscription, foundUser, lockedUser } from '../call/found.ts'
import { earlierAnswer, mutate } from '../call/mutate.ts'
import { lockedSituation } from './change-subscription.ts'
import { type PackageSubscription, packageSubscription } from './subscriptions.ts'

/**
 * Takes a scheduled change back: the plan goes on as it is. What would have followed a trial is dropped, and the trial
 * still ends.
 */
export async function cancelScheduledChange(call: Call, userId: string): Promise<PackageSubscription> {
  const { service, appId } = call
  const answered = await earlierAnswer<PackageSubscription>(call)
  if (answered) return answered.value
  const { now } = await momentOf(call)
  const { uid } = await foundUser(service.pool, appId, userId)
  const base = changing(await subscriptionsOfUser(service.pool, appId, uid, now), now)
  const paid = await takeBack(call, base)
  try {
    return await mutate(call, async (tx, moment) => {
      const user = await lockedUser(tx, appId, userId)
      const { catalogue, held, now } = await lockedSituation(tx, appId, user.uid, moment)
      const { id, trialEndsAt } = changing(held, now)
      if (paid) await touchProviderSubscription(tx, appId, paid.provider, paid.ref)
      if (trialEndsAt === null) await keepOn(tx, appId, [id])
      await deleteSuccessors(tx, appId, [id], now)
      return packageSubscription(await foundSubscription(tx, appId, id, now), catalogue, now)
    })
  } finally {
    // Whatever came of it here, the provider has the last word.
    if (paid) await syncSubscription(service, { appId, ...paid })
  }
}

/** The user's base plan, if it is about to be changed. */
function changing(held: readonly SubscriptionRow[], now: number): SubscriptionRow {
  const base = held.find((s) => !s.isAddon && endedAt(s, now) === null)
  if (!base?.next) throw badUserInput('No change of this user is scheduled', 'userId')
  return base
}

/** Has the provider go on as before. Null: none is paid. */
async function takeBack({ service, appId }: Call, base: SubscriptionRow) {
  const { provider, providerRef: ref } = base
  if (provider === null || ref === null) return null
  const known = await findProviderSubscription(service.pool, appId, provider, ref)
  if (!known?.live) return null
  await askingProvider(provider, async () => {
    const asked = await providerOf(service, appId, provider)
    await asked.dropScheduledChange(ref)
    await asked.keep(ref)
  })
  return { provider, ref }
}
