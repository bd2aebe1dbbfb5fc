import { SignJWT } from 'jose'
import { USER_TOKEN_SECONDS } from '../domain/limits.ts'
import { type Call, mutate } from './call.ts'
import { foundUser } from './found.ts'

export const USER_TOKEN_AUDIENCE = 'tollgate-client'

/** A token for the client API. It names the user by an identity that a change of `id` does not touch. */
export async function generateUserToken(call: Call, userId: string): Promise<{ token: string }> {
  return mutate(call, async (tx) => {
    const user = await foundUser(tx, call.appId, userId)
    const issued = Math.floor(call.service.clock() / 1000)
    const token = await new SignJWT({ app: call.appId })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setIssuer('tollgate')
      .setAudience(USER_TOKEN_AUDIENCE)
      .setSubject(String(user.uid))
      .setIssuedAt(issued)
      .setExpirationTime(issued + USER_TOKEN_SECONDS)
      .sign(call.service.userTokenSecret)
    return { token }
  })
}
