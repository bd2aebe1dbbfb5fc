import { createHmac, timingSafeEqual } from 'node:crypto'

/** Largest accepted difference between an event's time and ours, in seconds. An older event may be a replay. */
export const SIGNATURE_TOLERANCE_SECONDS = 300

/** The header `t=…,v1=…`, computed over the time and the exact bytes of the body, as Stripe does. */
export function signatureHeader(secret: string, body: Buffer, seconds: number): string {
  return `t=${seconds},v1=${digest(secret, body, seconds)}`
}

export type SignatureVerdict = 'good' | 'signature' | 'stale'

/** Whether the body has a recent signature by one of the secrets. */
export function checkSignature(
  secrets: readonly string[],
  header: string | undefined,
  body: Buffer,
  nowSeconds: number,
): SignatureVerdict {
  const parts = (header ?? '').split(',').map((part) => part.trim().split('=', 2))
  const time = parts.find(([name]) => name === 't')?.[1] ?? ''
  if (!/^\d{1,12}$/.test(time)) return 'signature'
  const signatures = parts.filter(([name]) => name === 'v1').map(([, value = '']) => Buffer.from(value))
  const signed = secrets.some((secret) => {
    const expected = Buffer.from(digest(secret, body, Number(time)))
    return signatures.some((given) => given.length === expected.length && timingSafeEqual(given, expected))
  })
  if (!signed) return 'signature'
  return Math.abs(nowSeconds - Number(time)) > SIGNATURE_TOLERANCE_SECONDS ? 'stale' : 'good'
}

function digest(secret: string, body: Buffer, seconds: number): string {
  return createHmac('sha256', secret).update(`${seconds}.`).update(body).digest('hex')
}
