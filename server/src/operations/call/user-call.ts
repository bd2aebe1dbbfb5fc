import { unauthenticated, unavailable } from '../../domain/errors.ts'
import { MAX_ID_CHANGES } from '../../domain/limits.ts'
import { findTokenUser, type UserRow } from '../../store/users.ts'
import type { Call, Service } from './call.ts'
import type { Deadline } from './deadline.ts'

/** One request by a user, let in by a token. */
export interface UserCall {
  service: Service
  appId: string
  uid: number
  /** what signed the token */
  tokenKey: string
  deadline: Deadline | null
}

export function asCall({ service, appId, tokenKey, deadline }: UserCall): Call {
  return { service, appId, keyHash: null, tokenKey, deadline, idempotency: null }
}

/** The user whom the token names. */
export async function me({ service, appId, uid, tokenKey }: UserCall): Promise<UserRow> {
  const user = await findTokenUser(service.pool, appId, uid, tokenKey)
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
