import { subscriptionNotFound } from '../../domain/errors.ts'
import type { Moment } from '../../store/apps/app-cache.ts'
import type { UserTx } from '../../store/connection/places.ts'
import { requireApp } from '../apps/apps.ts'
import type { Call } from '../call/call.ts'
import { mutate } from '../call/mutate.ts'
import { requireSubscription, withLockedUid } from '../call/require.ts'

/** A mutation of a subscription, with its user locked. */
export async function mutateSubscription<T>(
  call: Call,
  id: string,
  effect: (tx: UserTx, userUid: number, moment: () => Promise<Moment>) => Promise<T>,
): Promise<T> {
  const { appId } = call
  return mutate(call, async (tx, moment) => {
    const { now } = await requireApp(tx, appId)
    const { userUid } = await requireSubscription(tx, appId, id, now)
    const made = await withLockedUid(tx, appId, userUid, async (users) => ({
      value: await effect(users, userUid, moment),
    }))
    // The user was deleted meanwhile.
    if (!made) throw subscriptionNotFound(id)
    return made.value
  })
}
