import { describe, expect, it } from 'vitest'
import {
  type DisputeState,
  NO_REVERSAL,
  type Payment,
  paymentsFor,
  reversalOf,
  reversalsDuring,
} from './reversal.ts'

const paid = (change: Partial<Payment> = {}): Payment => ({
  ref: 'pay_1',
  amount: 1200,
  currency: 'usd',
  paidAt: 100,
  period: { start: 100, end: 200 },
  refunded: 0,
  refundedAt: null,
  dispute: null,
  ...change,
})
const disputed = (state: DisputeState) => ({ dispute: { state, reason: null, openedAt: 120 } })

describe('gap: billing, what a refund or a dispute takes back', () => {
  it.each<[what: string, payments: (Payment | null)[], whole: boolean]>([
    ['nothing was paid', [], false],
    ['nothing was taken back', [paid()], false],
    ['a part was refunded', [paid({ refunded: 1199 })], false],
    ['all was refunded', [paid({ refunded: 1200 })], true],
    ['one of two payments was refunded', [paid({ refunded: 1200 }), paid()], false],
    ['both were', [paid({ refunded: 1200 }), paid({ refunded: 1200 })], true],
    ['one was refunded, the other disputed', [paid({ refunded: 1200 }), paid(disputed('OPEN'))], true],
    ['one was refunded, of the other nothing is known', [paid({ refunded: 1200 }), null], false],
    ['the bank asks', [paid(disputed('INQUIRY'))], false],
    ['it is disputed', [paid(disputed('OPEN'))], true],
    ['a part was refunded and the rest disputed', [paid({ refunded: 500, ...disputed('OPEN') })], true],
    ['the dispute was lost', [paid(disputed('LOST'))], true],
    ['the dispute was won', [paid(disputed('WON'))], false],
    ['the dispute was won after a full refund', [paid({ refunded: 1200, ...disputed('WON') })], true],
    ['the inquiry came to nothing', [paid(disputed('CLOSED'))], false],
  ])('%s', (_, payments, whole) => {
    expect(reversalOf([], payments).whole).toBe(whole)
  })

  it('names the payments of which something was taken back', () => {
    const part = paid({ ref: 'pay_2', refunded: 1 })
    const won = paid({ ref: 'pay_3', ...disputed('WON') })
    expect(reversalOf([paid(), part, won], []).payments).toEqual([part, won])
  })

  it('is none where nothing was taken back', () => {
    expect(NO_REVERSAL).toEqual({ payments: [], whole: false })
    expect(reversalOf([paid()], [paid()])).toEqual({ payments: [], whole: false })
  })

  it('belongs to the subscriptions that the payment paid for', () => {
    const [first, second] = [paid({ ref: 'one' }), paid({ ref: 'two', period: { start: 200, end: 300 } })]
    const once = paid({ ref: 'once', period: null })
    const during = (startedAt: number, endedAt: number | null) =>
      reversalsDuring([first, second, once], { startedAt, endedAt }).map(({ ref }) => ref)
    expect(during(100, 150)).toEqual(['one', 'once'])
    // ended in the moment that it was paid in
    expect(during(100, 100)).toEqual(['one', 'once'])
    expect(during(200, null)).toEqual(['two', 'once'])
    expect(during(150, null)).toEqual(['one', 'two', 'once'])
  })

  // On one bill, in a period from 100 to 200: Starter was exchanged for Pro at 150, then for three of it at 170.
  const BILL = [
    { id: 'starter', packageId: 'starter', quantity: 1, startedAt: 100, endedAt: 150 },
    { id: 'addon', packageId: 'addon', quantity: 1, startedAt: 100, endedAt: null },
    { id: 'pro', packageId: 'pro', quantity: 1, startedAt: 150, endedAt: 170 },
    { id: 'three', packageId: 'pro', quantity: 3, startedAt: 170, endedAt: null },
  ]
  it.each<[what: string, payment: Partial<Payment>, subscriptions: string[]]>([
    ['the plan before the change', { charged: [{ priceId: 'p_starter', quantity: 1 }] }, ['starter']],
    ['the plan after it', { charged: [{ priceId: 'p_pro', quantity: 1 }] }, ['pro']],
    ['another quantity', { charged: [{ priceId: 'p_pro', quantity: 3 }] }, ['three']],
    [
      'a plan with an add-on',
      {
        charged: [
          { priceId: 'p_starter', quantity: 1 },
          { priceId: 'p_addon', quantity: 1 },
        ],
      },
      ['starter', 'addon'],
    ],
    [
      'a quantity that the provider has changed since',
      { charged: [{ priceId: 'p_pro', quantity: 9 }] },
      ['pro', 'three'],
    ],
    [
      'a price that is not known here',
      { charged: [{ priceId: 'p_other', quantity: 1 }] },
      ['starter', 'addon', 'pro', 'three'],
    ],
    ['what was not recorded', {}, ['starter', 'addon', 'pro', 'three']],
    ['a one-off purchase', { period: null, charged: [] }, ['starter', 'addon', 'pro', 'three']],
    ['the next period', { period: { start: 200, end: 300 } }, ['addon', 'three']],
  ])('a payment for %s belongs to what was charged', (_, payment, expected) => {
    const packageOf = (priceId: string) =>
      new Map([
        ['p_starter', 'starter'],
        ['p_addon', 'addon'],
        ['p_pro', 'pro'],
      ]).get(priceId)
    const found = BILL.filter(({ id }) => paymentsFor(id, BILL, [paid(payment)], packageOf).length > 0)
    expect(found.map(({ id }) => id)).toEqual(expected)
  })

  it.each([
    ['when the first began', 100, 'first'],
    ['while the first ran', 120, 'first'],
    ['when the plan came back', 170, 'second'],
    ['just before the subscription was stored', 169, 'second'],
  ])('after a change to another plan and back, a payment made %s belongs to one of the two', (_, paidAt, expected) => {
    const bill = [
      { id: 'first', packageId: 'starter', quantity: 1, startedAt: 100, endedAt: 150 },
      { id: 'pro', packageId: 'pro', quantity: 1, startedAt: 150, endedAt: 170 },
      { id: 'second', packageId: 'starter', quantity: 1, startedAt: 170, endedAt: null },
    ]
    const payment = paid({ paidAt, charged: [{ priceId: 'p_starter', quantity: 1 }] })
    const found = bill.filter(({ id }) => paymentsFor(id, bill, [payment], () => 'starter').length > 0)
    expect(found.map(({ id }) => id)).toEqual([expected])
  })

  it('belongs to the subscription that a dispute ended and to the one restored when it was won', () => {
    const bill = [
      { id: 'ended', packageId: 'starter', quantity: 1, startedAt: 100, endedAt: 150 },
      { id: 'restored', packageId: 'starter', quantity: 1, startedAt: 170, endedAt: null },
      { id: 'addon', packageId: 'seats', quantity: 1, startedAt: 170, endedAt: null },
    ]
    const payment = paid({ paidAt: 99, charged: [{ priceId: 'p_starter', quantity: 1 }] })
    const found = bill.filter(({ id }) => paymentsFor(id, bill, [payment], () => 'starter').length > 0)
    expect(found.map(({ id }) => id)).toEqual(['ended', 'restored'])
  })
})
