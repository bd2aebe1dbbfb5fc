import { invalidToken, unavailable } from '../../domain/errors.ts'
import { MAX_ID_CHANGES } from '../../domain/limits.ts'
import { findTokenUser, type UserRow } from '../../store/users/users.ts'
import type { Call, UserActor } from '../call/call.ts'
import type { Service } from '../call/service.ts'
import type { TokenClaims } from './generate-user-token.ts'

/** The user as the actor of a call; null: the user, the app or the signing key no longer exists. */
export async function userActor(
  { pool }: Service,
  { appId, uid, tokenKey }: TokenClaims,
): Promise<UserActor | null> {
  const user = await findTokenUser(pool, appId, uid, tokenKey)
  return user && { kind: 'user', uid, userId: user.id, tokenKey }
}

/** The user of the token. */
export async function me({ service, appId, actor }: Call<UserActor>): Promise<UserRow> {
  const user = await findTokenUser(service.pool, appId, actor.uid, actor.tokenKey)
  if (!user) throw invalidToken()
  return user
}

/** Queries by the user's id, and again if it was changed meanwhile, since it may then be another user's. */
export async function asThemselves<Answer>(
  call: Call<UserActor>,
  ask: (userId: string) => Promise<Answer>,
): Promise<Answer> {
  let id = call.actor.userId
  for (let changes = 0; changes <= MAX_ID_CHANGES; changes++) {
    const answer = await ask(id)
    const after = await me(call)
    if (after.id === id) return answer
    id = after.id
  }
  throw unavailable('User temporarily unavailable; retry.')
}
