import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { apiKeySecret, keyLifetime, renewedExpiry } from './api-key.ts'
import { LATEST_TEST_CLOCK } from './limits.ts'

// Invariants: the random bits can be read back from a secret, and its checksum covers everything before it.

const SECRET = apiKeySecret('live', Buffer.alloc(32, 0xff))
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

const numberOf = (text: string) =>
  [...text].reduce((sum, digit) => sum * 62n + BigInt(ALPHABET.indexOf(digit)), 0n)

describe('the secret of an API key', () => {
  it('has a prefix by kind, 43 random characters and a checksum of 6', () => {
    expect(SECRET).toMatch(/^tg_live_[0-9A-Za-z]{49}$/)
    expect(apiKeySecret('test', randomBytes(32))).toMatch(/^tg_test_[0-9A-Za-z]{49}$/)
    expect(apiKeySecret('live', new Uint8Array(32))).toMatch(/^tg_live_0{43}/)
  })

  it('contains all 256 random bits', () => {
    for (let i = 0; i < 200; i++) {
      const random = randomBytes(32)
      const digits = apiKeySecret('live', random).slice('tg_live_'.length, -6)
      expect(numberOf(digits)).toBe(BigInt(`0x${random.toString('hex')}`))
    }
  })

  it('ends with the CRC-32 of the characters before it, in base 62', () => {
    for (const secret of [SECRET, apiKeySecret('test', randomBytes(32))]) {
      expect(numberOf(secret.slice(-6))).toBe(BigInt(crc32(secret.slice(0, -6))))
    }
  })
})

describe('the expiry of an API key', () => {
  it('is in the future, or absent', () => {
    expect(keyLifetime(null, 1_000)).toBeNull()
    expect(keyLifetime(1_001, 1_000)).toBe(1)
    expect(() => keyLifetime(1_000, 1_000)).toThrow('expiresAt must be in the future')
    expect(keyLifetime(LATEST_TEST_CLOCK, 0)).toBe(LATEST_TEST_CLOCK)
    expect(() => keyLifetime(LATEST_TEST_CLOCK + 1, 0)).toThrow('expiresAt must not be after 9000-01-01')
  })

  it('of its replacement is as far away, and still has a four-digit year', () => {
    expect(renewedExpiry(null, 1_000)).toBeNull()
    expect(renewedExpiry(500, 1_000)).toBe(1_500)
    expect(renewedExpiry(LATEST_TEST_CLOCK, 1_000)).toBe(LATEST_TEST_CLOCK)
  })
})
