import { type Override, overridesAt } from '../../domain/override.ts'
import { type Call, momentOf } from '../call/call.ts'
import { type Page, pageOfAll } from '../call/paging.ts'
import { requireUser } from '../call/require.ts'

export interface UserOverride extends Override {
  userId: string
}

/** The user's overrides in force, in the order in which they were last set. `after` is the ID of a feature. */
export async function overrides(call: Call, userId: string, page: Page = {}): Promise<UserOverride[]> {
  const { now } = await momentOf(call)
  const user = await requireUser(call.service.pool, call.appId, userId)
  const inForce = overridesAt(user.overrides, now).map((override) => ({ userId, ...override }))
  return pageOfAll(inForce, page, ({ featureId }) => featureId)
}
