import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { readSandboxNotice, readStripeNotice, subjectOf } from './notice.ts'

// Both providers sign alike. The header is made here by hand, so that a scheme that changed unnoticed is seen.

const NOW = 1_800_000_000
const SECRETS = ['whsec_new', 'whsec_former']
const BODY = Buffer.from('{"id":"evt_1","type":"invoice.paid"}')

const digest = (secret: string, time: number, body = BODY) =>
  createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')
const signed = (time: number, secret = 'whsec_new') => `t=${time},v1=${digest(secret, time)}`

const READERS = [
  ['the sandbox', readSandboxNotice],
  ['Stripe', readStripeNotice],
] as const

describe.each(READERS)('gap: billing, a notice of %s', (name, read) => {
  const verdict = async (header: string | undefined, body = BODY, secrets = SECRETS) => {
    const answer = await read(secrets, header, body, NOW)
    return 'refused' in answer ? answer.refused : answer.eventId
  }

  it('is taken when one of the secrets has signed it', async () => {
    expect(await verdict(signed(NOW))).toBe('evt_1')
    expect(await verdict(signed(NOW, 'whsec_former'))).toBe('evt_1')
    expect(await verdict(`t=${NOW},v1=${'0'.repeat(64)},v1=${digest('whsec_new', NOW)}`)).toBe('evt_1')
  })

  it('is refused when nobody has, or for another time or body', async () => {
    expect(await verdict(undefined)).toBe('signature')
    expect(await verdict('')).toBe('signature')
    expect(await verdict(signed(NOW, 'whsec_guessed'))).toBe('signature')
    expect(await verdict(signed(NOW), BODY, [])).toBe('signature')
    expect(await verdict(signed(NOW), Buffer.from('{}'))).toBe('signature')
    expect(await verdict(`t=${NOW - 1},v1=${digest('whsec_new', NOW)}`)).toBe('signature')
    expect(await verdict(`t=${NOW},v0=${digest('whsec_new', NOW)}`)).toBe('signature')
  })

  it('is stale after five minutes, whichever secret has signed it', async () => {
    expect(await verdict(signed(NOW - 300))).toBe('evt_1')
    expect(await verdict(signed(NOW - 301))).toBe('stale')
    expect(await verdict(signed(NOW - 301, 'whsec_former'))).toBe('stale')
    expect(await verdict(signed(NOW - 86_400))).toBe('stale')
  })

  // Stripe's own code compares with the past alone: what comes from ahead is stale five minutes after its time.
  it.runIf(name === 'the sandbox')('is stale from more than five minutes ahead as well', async () => {
    expect(await verdict(signed(NOW + 300))).toBe('evt_1')
    expect(await verdict(signed(NOW + 301))).toBe('stale')
  })
})

describe('gap: billing, what a notice says', () => {
  const read = (body: string) => {
    const bytes = Buffer.from(body)
    return readSandboxNotice(SECRETS, `t=${NOW},v1=${digest('whsec_new', NOW, bytes)}`, bytes, NOW)
  }

  it('is kept as it came', () => {
    expect(read('{"id":"evt","type":"x","more":[1]}')).toEqual({
      eventId: 'evt',
      type: 'x',
      payload: { id: 'evt', type: 'x', more: [1] },
    })
  })

  it.each([
    '',
    'no JSON',
    'null',
    '[]',
    '"evt"',
    '{}',
    '{"id":"evt"}',
    '{"type":"x"}',
    '{"id":"","type":"x"}',
    '{"id":"evt","type":""}',
    '{"id":7,"type":"x"}',
  ])('is refused where it is %j', (body) => {
    expect(read(body)).toEqual({ refused: 'malformed' })
  })
})

describe('gap: billing, what a notice is about', () => {
  const NOTHING = { checkoutRef: null, subscriptionRef: null, customerRef: null, paymentRef: null }
  const CASES: [string, object, object][] = [
    ['checkout.session.completed', { id: 'cs_1' }, { checkoutRef: 'cs_1' }],
    ['customer.subscription.updated', { id: 'sub_1' }, { subscriptionRef: 'sub_1' }],
    [
      'invoice.paid',
      { id: 'in_1', parent: { subscription_details: { subscription: 'sub_1' } } },
      { subscriptionRef: 'sub_1' },
    ],
    [
      'invoice.paid',
      { id: 'in_1', parent: { subscription_details: { subscription: { id: 'sub_1' } } } },
      { subscriptionRef: 'sub_1' },
    ],
    ['invoice.payment_failed', { id: 'in_1', subscription: 'sub_1' }, { subscriptionRef: 'sub_1' }],
    ['invoice.payment_failed', { id: 'in_1', subscription: { id: 'sub_1' } }, { subscriptionRef: 'sub_1' }],
    ['invoice.paid', { id: 'in_1', parent: null }, {}],
    ['customer.updated', { id: 'cus_1' }, { customerRef: 'cus_1' }],
    ['customer.deleted', { id: 'cus_1' }, { customerRef: 'cus_1' }],
    ['customer.created', { id: 'cus_1' }, {}],
    ['charge.refunded', { id: 'ch_1', object: 'charge' }, { paymentRef: 'ch_1' }],
    ['refund.updated', { id: 're_1', object: 'refund', charge: 'ch_1' }, { paymentRef: 'ch_1' }],
    ['charge.dispute.created', { id: 'dp_1', object: 'dispute', charge: 'ch_1' }, { paymentRef: 'ch_1' }],
    ['charge.succeeded', { id: 'ch_1', object: 'charge' }, {}],
    ['checkout.session.completed', { id: 7 }, {}],
    ['checkout.session.completed', { id: '' }, {}],
  ]
  it.each(CASES)('%s %j', (type, object, about) => {
    const payload = JSON.parse(JSON.stringify({ data: { object } }))
    expect(subjectOf({ type, payload })).toEqual({ ...NOTHING, ...about })
  })

  it.each([{}, { data: null }, { data: [] }, { data: { object: 'cs_1' } }])('nothing, of %j', (payload) => {
    expect(subjectOf({ type: 'checkout.session.completed', payload })).toEqual(NOTHING)
  })
})
