import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { KNOWN_DEVICE_SECONDS } from '../../domain/limits.ts'
import { secretNamed } from '../../store/secrets/secrets.ts'
import type { Service } from '../call/service.ts'

/**
 * A token that a browser keeps after signing in to an account. It grants no access; it only exempts the browser from
 * limits caused by other people's wrong guesses.
 */
export async function deviceToken(service: Service, memberId: number): Promise<string> {
  const claim = `${randomBytes(16).toString('base64url')}.${Math.floor(service.clock() / 1_000) + KNOWN_DEVICE_SECONDS}`
  return `${claim}.${await signatureOf(service, memberId, claim)}`
}

export async function isDeviceOf(service: Service, memberId: number, token: string): Promise<boolean> {
  const [, claim, expires, signature] = /^([\w-]{22}\.(\d{1,12}))\.([\w-]{43})$/.exec(token) ?? []
  if (claim === undefined || signature === undefined) return false
  const right = await signatureOf(service, memberId, claim)
  return (
    timingSafeEqual(Buffer.from(signature), Buffer.from(right)) && Number(expires) * 1_000 > service.clock()
  )
}

async function signatureOf({ pool, keyring }: Service, memberId: number, claim: string): Promise<string> {
  const key = await secretNamed(pool, keyring, 'known-device')
  return createHmac('sha256', key).update(`${memberId} ${claim}`).digest('base64url')
}
