import { knownAs, type Person } from '../../domain/personal-data.ts'
import { providerSubscriptionsOfUser } from '../../store/billing/provider-subscriptions.ts'
import type { UserDb } from '../../store/connection/places.ts'
import { type ErasableUser, subscriptionIdsOf } from '../../store/privacy/erase-user.ts'

/** All identifiers by which records may refer to a user. */
export async function personOf(db: UserDb, appId: string, user: ErasableUser): Promise<Person> {
  const { uid, billingId } = user
  const paid = await providerSubscriptionsOfUser(db, appId, uid)
  const customers = paid.map(({ customerRef }) => customerRef)
  return {
    uid,
    knownAs: knownAs(user, user.formerIds),
    billingIds: [...new Set([billingId, ...customers].filter((ref) => ref !== null))],
    subscriptionIds: new Set(await subscriptionIdsOf(db, appId, uid)),
  }
}
