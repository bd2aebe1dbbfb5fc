import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { newSigningSecret, signatureHeaders } from '../../src/webhooks/signature.ts'

// The package standardwebhooks is the oracle.

describe('gap: signatures by Standard Webhooks', () => {
  const message = () => ({
    id: 'evt_1',
    timestamp: Math.floor(Date.now() / 1000),
    body: JSON.stringify({ id: 'evt_1', data: { text: 'ünïcode . and “quotes”', big: 2 ** 53 - 1 } }),
  })

  it('are verified by the reference implementation', () => {
    for (let i = 0; i < 100; i++) {
      const secret = newSigningSecret()
      const signed = message()
      const verify = () => new Webhook(secret).verify(signed.body, signatureHeaders([secret], signed))
      expect(verify()).toEqual(JSON.parse(signed.body))
    }
  })

  it('are two while a secret is rotated: each verifies', () => {
    const [secret, previous] = [newSigningSecret(), newSigningSecret()]
    const signed = message()
    const headers = signatureHeaders([secret, previous], signed)
    for (const each of [secret, previous]) new Webhook(each).verify(signed.body, headers)
    expect(() => new Webhook(newSigningSecret()).verify(signed.body, headers)).toThrow()
  })

  it('cover the id, the time and the body', () => {
    const secret = newSigningSecret()
    const signed = message()
    const headers = signatureHeaders([secret], signed)
    const verify =
      (changed: Record<string, string>, body = signed.body) =>
      () =>
        new Webhook(secret).verify(body, { ...headers, ...changed })
    expect(verify({})).not.toThrow()
    expect(verify({ 'webhook-id': 'evt_2' })).toThrow()
    expect(verify({ 'webhook-timestamp': String(signed.timestamp + 1) })).toThrow()
    expect(verify({}, `${signed.body} `)).toThrow()
  })

  it('use secrets of 32 random bytes', () => {
    const secrets = new Set(Array.from({ length: 50 }, newSigningSecret))
    expect(secrets.size).toBe(50)
    for (const secret of secrets) {
      expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
      expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32)
    }
  })
})
