import type { HeldSubscription } from '../../domain/bill.ts'
import type { UserDb } from '../../store/connection/places.ts'
import {
  paymentsBehind,
  type SubscriptionRow,
  subscriptionsOfUser,
} from '../../store/subscriptions/subscriptions.ts'

/** The user's subscriptions with their payments. */
export async function heldBy(
  db: UserDb,
  appId: string,
  uid: number,
  now: number,
): Promise<(SubscriptionRow & HeldSubscription)[]> {
  const payments = await paymentsBehind(db, appId, uid)
  return (await subscriptionsOfUser(db, appId, uid, now)).map((s) => ({
    ...s,
    ...(payments.get(`${s.provider}/${s.providerRef}`) ?? { paidAt: null, forGood: false }),
  }))
}
