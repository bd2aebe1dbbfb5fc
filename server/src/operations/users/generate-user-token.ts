import { decodeJwt, decodeProtectedHeader, errors, jwtVerify, SignJWT } from 'jose'
import { isIdentifier } from '../../domain/identifier.ts'
import { USER_TOKEN_SECONDS } from '../../domain/limits.ts'
import type { Call } from '../call/call.ts'
import { mutate } from '../call/mutate.ts'
import { requireUser } from '../call/require.ts'
import type { Service } from '../call/service.ts'

const ISSUER = 'tollgate'
const AUDIENCE = 'tollgate-client'

/** A token's claims and signing key, from which the same token can be signed again. */
interface Issued {
  uid: number
  issued: number
  key: string
}

/** A token for the client API. It identifies the user by the uid, which does not change with `id`. */
export async function generateUserToken(call: Call, userId: string): Promise<{ token: string }> {
  const { appId, service } = call
  // This is stored under an Idempotency-Key instead of the token.
  const issued = await mutate<Issued>(call, async (tx) => {
    const user = await requireUser(tx, appId, userId)
    const issued = Math.floor(service.clock() / 1000)
    return { uid: user.uid, issued, key: await service.tokenKeys.current(tx, appId) }
  })
  return { token: await signed(service, appId, issued) }
}

async function signed(service: Service, appId: string, { uid, issued, key }: Issued): Promise<string> {
  const signing = await service.tokenKeys.signing(appId, key)
  if (!signing) throw new Error(`the token key ${key} of the app ${appId} no longer exists`)
  const { id, algorithm, sign } = signing
  return new SignJWT({ app: appId })
    .setProtectedHeader({ alg: algorithm, typ: 'JWT', kid: id })
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setSubject(String(uid))
    .setIssuedAt(issued)
    .setExpirationTime(issued + USER_TOKEN_SECONDS)
    .sign(sign)
}

/** The user and the signing key of a token. */
export interface TokenClaims {
  appId: string
  uid: number
  tokenKey: string
}

/** Null for a token that is not ours or has expired. The user may have been deleted since. */
export async function readUserToken(service: Service, token: string): Promise<TokenClaims | null> {
  try {
    // Only to find the app's key: the claims are trusted once the key has verified them.
    const { kid } = decodeProtectedHeader(token)
    const { app } = decodeJwt<{ app: unknown }>(token)
    if (typeof app !== 'string' || !isIdentifier(app) || kid === undefined) return null
    const key = await service.tokenKeys.verifying(app, kid)
    if (!key) return null
    const { payload } = await jwtVerify<{ app: string }>(token, key.verify, {
      algorithms: [key.algorithm],
      issuer: ISSUER,
      audience: AUDIENCE,
      requiredClaims: ['sub', 'app', 'exp'],
      currentDate: new Date(service.clock()),
    })
    return { appId: payload.app, uid: Number(payload.sub), tokenKey: kid }
  } catch (error) {
    // An undecodable token throws a TypeError.
    if (error instanceof errors.JOSEError || error instanceof TypeError) return null
    throw error
  }
}
