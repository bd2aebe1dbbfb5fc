import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { EVENT_TYPES } from '../../server/src/domain/event.ts'
import { newSigningSecret, signatureHeaders } from '../../server/src/webhooks/signature.ts'
import {
  type EventType,
  verifyWebhook,
  type WebhookEvent,
  WebhookVerificationError,
} from '../src/webhooks.ts'

// What the service signs is accepted, and so is what the package standardwebhooks signs. Nothing else is.

const secret = newSigningSecret()
const now = () => Math.floor(Date.now() / 1000)
const event = {
  id: 'evt_1',
  type: 'user.created',
  timestamp: '2027-01-31T00:00:00.000Z',
  appId: 'default',
  userId: 'ada',
  sequence: 7,
  data: { version: 1, object: { id: 'ada', name: 'Ädä “Lovelace”' }, previous: null },
}
const body = JSON.stringify(event)
const signed = (timestamp = now(), secrets = [secret], text = body) =>
  signatureHeaders(secrets, { id: 'evt_1', timestamp, body: text })

const problemOf = (verifying: Promise<unknown>): Promise<unknown> =>
  verifying.then(
    () => null,
    (error) => (error instanceof WebhookVerificationError ? error.problem : error),
  )

describe('gap: webhooks: verifyWebhook', () => {
  it('returns the event of a genuine request', async () => {
    expect(await verifyWebhook(signed(), body, secret)).toEqual(event)
  })

  it('takes the headers and the body in every form in which servers have them', async () => {
    const headers = signed()
    const upper = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
    )
    const lists = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]))
    for (const form of [headers, new Headers(headers), upper, lists, { ...headers, 'x-other': undefined }])
      expect(await verifyWebhook(form, body, secret)).toEqual(event)
    const bytes = new TextEncoder().encode(body)
    const inside = new Uint8Array([1, 2, ...bytes, 3]).subarray(2, 2 + bytes.length)
    for (const form of [bytes, bytes.buffer, Buffer.from(body), inside])
      expect(await verifyWebhook(headers, form, secret)).toEqual(event)
  })

  it('accepts what the reference implementation signs', async () => {
    const at = new Date()
    const headers = {
      'webhook-id': 'evt_1',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign('evt_1', at, body),
    }
    expect(await verifyWebhook(headers, body, secret)).toEqual(event)
  })

  it('accepts either secret while one is rotated', async () => {
    const previous = newSigningSecret()
    const headers = signed(now(), [secret, previous])
    for (const each of [secret, previous]) expect(await verifyWebhook(headers, body, each)).toEqual(event)
  })

  it.each([
    ['another body', signed(), `${body} `],
    ['another secret', signed(now(), [newSigningSecret()]), body],
    ['another id', { ...signed(), 'webhook-id': 'evt_2' }, body],
    ['another time', { ...signed(), 'webhook-timestamp': String(now() - 1) }, body],
    [
      'another version',
      { ...signed(), 'webhook-signature': signed()['webhook-signature']?.replace('v1,', 'v2,') },
      body,
    ],
    [
      'half a signature',
      { ...signed(), 'webhook-signature': signed()['webhook-signature']?.slice(0, -8) },
      body,
    ],
    ['no base64', { ...signed(), 'webhook-signature': 'v1,*' }, body],
    ['an empty signature', { ...signed(), 'webhook-signature': 'v1,' }, body],
    ['no comma', { ...signed(), 'webhook-signature': 'v1' }, body],
  ])('refuses %s', async (_, headers, text) => {
    expect(await problemOf(verifyWebhook(headers, text, secret))).toBe('SIGNATURE')
  })

  it.each([
    'webhook-id',
    'webhook-timestamp',
    'webhook-signature',
  ])('refuses a request without %s', async (name) => {
    const { [name]: gone, ...headers } = signed()
    expect(await problemOf(verifyWebhook(headers, body, secret))).toBe('HEADERS')
    expect(await problemOf(verifyWebhook(new Headers(headers), body, secret))).toBe('HEADERS')
    expect(await problemOf(verifyWebhook({ ...headers, [name]: '' }, body, secret))).toBe('HEADERS')
  })

  it('refuses what is older or younger than five minutes, unless told otherwise', async () => {
    for (const seconds of [now() - 290, now() + 290])
      expect(await verifyWebhook(signed(seconds), body, secret)).toEqual(event)
    for (const seconds of [now() - 310, now() + 310]) {
      expect(await problemOf(verifyWebhook(signed(seconds), body, secret))).toBe('TIMESTAMP')
      expect(await verifyWebhook(signed(seconds), body, secret, { tolerance: 400 })).toEqual(event)
    }
    const noTime = { ...signed(), 'webhook-timestamp': 'yesterday' }
    expect(await problemOf(verifyWebhook(noTime, body, secret))).toBe('HEADERS')
    expect(await problemOf(verifyWebhook(signed(), body, secret, { tolerance: Number.NaN }))).toBe(
      'TIMESTAMP',
    )
  })

  it('refuses a signed body that is no event', async () => {
    for (const text of ['not JSON', '[]', '"text"', '{}', 'null', '{"type":1}'])
      expect(await problemOf(verifyWebhook(signed(now(), [secret], text), text, secret))).toBe('BODY')
  })

  it('says what is wrong with its arguments', async () => {
    await expect(verifyWebhook(signed(), body, 'sk_live')).rejects.toThrow(
      'secret must be the signing secret',
    )
    await expect(verifyWebhook(signed(), body, 'whsec_')).rejects.toThrow('secret must be the signing secret')
    await expect(verifyWebhook(signed(), event as never, secret)).rejects.toThrow('not a parsed object')
  })

  it('narrows the event by its type, for every type of the service', () => {
    const shown = (it: WebhookEvent): string => {
      switch (it.type) {
        case 'subscription.ended':
          return it.data.object.packageId
        case 'entitlements.changed':
          return it.data.object.entitlements.map(({ featureId }) => featureId).join()
        case 'webhook.test':
          return it.data.object.message
        default:
          return it.type
      }
    }
    expect(shown(event as unknown as WebhookEvent)).toBe('user.created')
    const types: Record<EventType, true> = Object.fromEntries(
      EVENT_TYPES.map((type) => [type, true]),
    ) as never
    const known = (type: (typeof EVENT_TYPES)[number]): EventType => type
    expect(Object.keys(types)).toHaveLength(EVENT_TYPES.map(known).length)
  })
})
