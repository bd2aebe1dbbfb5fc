import { unauthenticated, unavailable } from '../domain/errors.ts'
import { MAX_ID_CHANGES } from '../domain/limits.ts'
import { findUserByUid, type UserRow } from '../store/users.ts'
import type { Call, Service } from './call.ts'
import type { Deadline } from './deadline.ts'

/** One request by a user, let in by a token. */
export interface UserCall {
  service: Service
  appId: string
  uid: number
  deadline: Deadline | null
}

export function asCall({ service, appId, deadline }: UserCall): Call {
  return { service, appId, keyHash: null, deadline, idempotency: null }
}

/** The user whom the token names. */
export async function me({ service, appId, uid }: UserCall): Promise<UserRow> {
  const user = await findUserByUid(service.pool, appId, uid)
  if (!user) throw unauthenticated()
  return user
}

/** Asks by the user's id; again if that was changed meanwhile, since by then it may be another user's. */
export async function asThemselves<Answer>(
  call: UserCall,
  ask: (userId: string) => Promise<Answer>,
): Promise<Answer> {
  let { id } = await me(call)
  for (let changes = 0; changes <= MAX_ID_CHANGES; changes++) {
    const answer = await ask(id)
    const after = await me(call)
    if (after.id === id) return answer
    id = after.id
  }
  throw unavailable("The user's id kept changing; try again")
}
