import { badUserInput } from './errors.ts'
import { LATEST_TEST_CLOCK } from './limits.ts'

/** `test`: a key of an app with a test clock. */
export type ApiKeyKind = 'live' | 'test'

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** 62^43 > 2^256 */
const RANDOM_DIGITS = 43
/** 62^6 > 2^32 */
const CHECKSUM_DIGITS = 6

/**
 * A new secret from 32 random bytes: a prefix, the bytes in base 62, and a checksum of everything before it. SECURITY.md
 * documents the form for secret scanners.
 */
export function apiKeySecret(kind: ApiKeyKind, random: Uint8Array): string {
  let number = 0n
  for (const byte of random) number = (number << 8n) | BigInt(byte)
  const unsigned = `tg_${kind}_${inBase62(number, RANDOM_DIGITS)}`
  return unsigned + inBase62(BigInt(crc32(unsigned)), CHECKSUM_DIGITS)
}

function inBase62(number: bigint, digits: number): string {
  let text = ''
  for (let rest = number; text.length < digits; rest /= 62n) text = DIGITS.charAt(Number(rest % 62n)) + text
  return text
}

/** CRC-32 of an ASCII text, as in zip files and PNG. */
function crc32(text: string): number {
  let crc = 0xffffffff
  for (let i = 0; i < text.length; i++) {
    crc ^= text.charCodeAt(i)
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  return ~crc >>> 0
}

/** How long a key with this expiry works, in ms; null: it does not expire. Test clocks do not count. */
export function keyLifetime(expiresAt: number | null, now: number): number | null {
  if (expiresAt === null) return null
  if (expiresAt <= now) throw badUserInput('expiresAt must be in the future', 'expiresAt')
  if (expiresAt > LATEST_TEST_CLOCK) {
    const latest = new Date(LATEST_TEST_CLOCK).toISOString()
    throw badUserInput(
      `expiresAt must not be after ${latest}. Omit it if the key does not expire.`,
      'expiresAt',
    )
  }
  return expiresAt - now
}

/** The expiry of the key that replaces one with this lifetime. */
export const renewedExpiry = (lifetimeMs: number | null, now: number): number | null =>
  lifetimeMs === null ? null : Math.min(now + lifetimeMs, LATEST_TEST_CLOCK)
