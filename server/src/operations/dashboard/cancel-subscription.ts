import { countedPeriods } from '../../domain/package.ts'
import { cancellationTime, endedAt } from '../../domain/subscription.ts'
import { loadApp } from '../../store/catalogue.ts'
import { transaction } from '../../store/database.ts'
import { cancelLater, cancelNow, subscriptionsOfUser } from '../../store/subscriptions.ts'
import { lockUserByUid } from '../../store/users.ts'
import { foundPackage, foundSubscription } from '../found.ts'
import { type PackageSubscription, packageSubscription } from '../subscriptions.ts'
import { foundApp } from './apps.ts'
import type { MemberCall } from './member-call.ts'

/** Ends a subscription, now or at its period's end; a base plan takes its add-ons with it. */
export function cancelSubscription(
  { service }: MemberCall,
  appId: string,
  id: string,
  atPeriodEnd: boolean,
): Promise<PackageSubscription> {
  return transaction(service.pool, async (tx) => {
    await foundApp(tx, appId)
    const { userUid } = await foundSubscription(tx, appId, id)
    await lockUserByUid(tx, appId, userUid)
    const { now } = await foundApp(tx, appId)
    const app = await loadApp(tx, appId)
    const held = await subscriptionsOfUser(tx, appId, userUid)
    const target = held.find((s) => s.id === id)
    if (!app || !target) throw new Error(`the subscription ${id} vanished`)

    if (endedAt(target, now) === null) {
      const live = held.filter((s) => endedAt(s, now) === null)
      const ids = target.isAddon ? [id] : live.map((s) => s.id)
      if (atPeriodEnd) {
        const resetPeriods = countedPeriods(foundPackage(app.catalogue, target.packageId))
        await cancelLater(tx, appId, ids, cancellationTime(target.anchor, resetPeriods, now))
      } else {
        await cancelNow(tx, appId, ids, now)
      }
    }
    return packageSubscription(await foundSubscription(tx, appId, id), app.catalogue, now)
  })
}
