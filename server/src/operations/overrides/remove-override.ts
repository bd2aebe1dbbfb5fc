import { overrideAt, withoutOverride } from '../../domain/override.ts'
import { storeOverrides } from '../../store/users/overrides.ts'
import type { Call } from '../call/call.ts'
import { mutateUser } from '../call/mutate.ts'
import { requireFeature } from '../call/require.ts'
import type { UserOverride } from './overrides.ts'

/** Removes an override. Returns the one that was in force, or null. */
export async function removeOverride(
  call: Call,
  userId: string,
  featureId: string,
): Promise<UserOverride | null> {
  const { appId } = call
  return mutateUser(call, userId, async (tx, user, moment) => {
    const { app, now } = await moment()
    requireFeature(app.catalogue, featureId)
    const removed = overrideAt(user.overrides, featureId, now)
    if (!removed) return null
    await storeOverrides(tx, appId, user.uid, withoutOverride(user.overrides, featureId, now))
    return { userId, ...removed }
  })
}
