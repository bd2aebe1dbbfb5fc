import { errors, jwtVerify, SignJWT } from 'jose'
import { USER_TOKEN_SECONDS } from '../domain/limits.ts'
import { type Call, mutate, type Service } from './call.ts'
import { foundUser } from './found.ts'

const ISSUER = 'tollgate'
const AUDIENCE = 'tollgate-client'

/** A token for the client API. It names the user by an identity that a change of `id` does not touch. */
export async function generateUserToken(call: Call, userId: string): Promise<{ token: string }> {
  return mutate(call, async (tx) => {
    const user = await foundUser(tx, call.appId, userId)
    const issued = Math.floor(call.service.clock() / 1000)
    const token = await new SignJWT({ app: call.appId })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setIssuer(ISSUER)
      .setAudience(AUDIENCE)
      .setSubject(String(user.uid))
      .setIssuedAt(issued)
      .setExpirationTime(issued + USER_TOKEN_SECONDS)
      .sign(call.service.userTokenSecret)
    return { token }
  })
}

/** Whom a token names; null for one that is not ours, or not good any more. */
export async function readUserToken(
  service: Service,
  token: string,
): Promise<{ appId: string; uid: number } | null> {
  try {
    const { payload } = await jwtVerify<{ app: string }>(token, service.userTokenSecret, {
      algorithms: ['HS256'],
      issuer: ISSUER,
      audience: AUDIENCE,
      requiredClaims: ['sub', 'app', 'exp'],
      currentDate: new Date(service.clock()),
    })
    return { appId: payload.app, uid: Number(payload.sub) }
  } catch (error) {
    if (error instanceof errors.JOSEError) return null
    throw error
  }
}
