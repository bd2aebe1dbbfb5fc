import type Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import { scheduledOf, subscriptionFrom } from './subscription.ts'

const NOTHING_ASKED = { pastDueSince: null, reversal: null, paidThrough: null }

const item = (price: string, quantity: number | undefined, end: number) => ({
  price: { id: price },
  quantity,
  current_period_end: end,
})

/** What Stripe answers, as far as it is read: times in seconds. */
const answered = (more: object = {}) =>
  ({
    id: 'sub_1',
    customer: 'cus_1',
    status: 'active',
    metadata: {},
    items: { data: [item('price_1', 2, 3_000)] },
    schedule: null,
    pause_collection: null,
    trial_end: null,
    created: 1_000,
    billing_cycle_anchor: 1_500,
    cancel_at: null,
    cancel_at_period_end: false,
    ended_at: null,
    ...more,
  }) as unknown as Stripe.Subscription

describe('gap: billing, what Stripe says of a subscription', () => {
  it('is read with its times in milliseconds', () => {
    expect(subscriptionFrom(answered(), NOTHING_ASKED)).toEqual({
      ref: 'sub_1',
      sessionId: null,
      customer: { ref: 'cus_1', email: null, name: null },
      status: 'active',
      billingStatus: 'live',
      final: false,
      items: [{ priceId: 'price_1', quantity: 2 }],
      scheduled: null,
      trialEndsAt: null,
      triedUntil: null,
      madeAt: 1_000_000,
      anchor: 1_500_000,
      paidUntil: 3_000_000,
      cancelAt: null,
      endedAt: null,
      pastDueSince: null,
      reversal: null,
    })
  })

  const READ: [what: string, answer: object, asked: Partial<typeof NOTHING_ASKED>, read: object][] = [
    [
      'several items are paid until the last of them',
      { items: { data: [item('a', 1, 3_000), item('b', undefined, 4_000)] } },
      {},
      {
        paidUntil: 4_000_000,
        items: [
          { priceId: 'a', quantity: 1 },
          { priceId: 'b', quantity: 1 },
        ],
      },
    ],
    ['nothing on the bill is not paid for', { items: { data: [] } }, {}, { paidUntil: null, items: [] }],
    ['an end at a time', { cancel_at: 2_500 }, {}, { cancelAt: 2_500_000 }],
    ['an end with the period', { cancel_at_period_end: true }, {}, { cancelAt: 3_000_000 }],
    [
      'of two ends the earlier one',
      { cancel_at: 3_500, cancel_at_period_end: true },
      {},
      { cancelAt: 3_000_000 },
    ],
    [
      'an end of what is paid',
      { cancel_at: 3_500 },
      { paidThrough: 2_000_000 as never },
      { cancelAt: 2_000_000 },
    ],
    [
      'it is over',
      { status: 'canceled', ended_at: 2_600 },
      {},
      { billingStatus: 'ended', final: true, endedAt: 2_600_000 },
    ],
    ['it never began', { status: 'incomplete_expired' }, {}, { billingStatus: 'never', final: true }],
    ['it may still begin', { status: 'incomplete' }, {}, { billingStatus: 'never', final: false }],
    [
      'a trial',
      { status: 'trialing', trial_end: 2_700 },
      {},
      { billingStatus: 'live', trialEndsAt: 2_700_000, triedUntil: null },
    ],
    ['a trial that was', { trial_end: 2_700 }, {}, { trialEndsAt: null, triedUntil: 2_700_000 }],
    [
      'a trial that was ended early',
      { status: 'canceled', trial_end: 2_700, ended_at: 1_800 },
      {},
      { trialEndsAt: null, triedUntil: 1_800_000 },
    ],
    [
      'it is unpaid',
      { status: 'unpaid' },
      { pastDueSince: 5 as never },
      { billingStatus: 'past due', pastDueSince: 5 },
    ],
    [
      'collection is paused',
      { pause_collection: { behavior: 'void' } },
      {},
      { status: 'active, collection paused' },
    ],
  ]
  it.each(READ)('%s', (_, answer, asked, read) => {
    expect(subscriptionFrom(answered(answer), { ...NOTHING_ASKED, ...asked })).toMatchObject(read)
  })
})

describe('gap: billing, a schedule at Stripe', () => {
  const schedule = (next: object[], more: object = {}) =>
    scheduledOf(
      answered({
        schedule: {
          current_phase: { start_date: 1_000, end_date: 3_000 },
          phases: [{ start_date: 1_000, items: [{ price: 'price_1', quantity: 2 }] }, ...next],
          ...more,
        },
      }),
    )

  it('is the change that the next phase makes', () => {
    expect(schedule([{ start_date: 3_000, items: [{ price: { id: 'price_2' }, quantity: 3 }] }])).toEqual({
      at: 3_000_000,
      items: [{ priceId: 'price_2', quantity: 3 }],
    })
  })

  it.each([
    ['there is no next phase', schedule([])],
    [
      'the next phase is as the present one',
      schedule([{ start_date: 3_000, items: [{ price: 'price_1', quantity: 2 }] }]),
    ],
    [
      'it has not begun',
      schedule([{ start_date: 3_000, items: [{ price: 'p', quantity: 1 }] }], { current_phase: null }),
    ],
    ['it was not asked for', scheduledOf(answered({ schedule: 'sub_sched_1' }))],
    ['there is none', scheduledOf(answered())],
  ])('changes nothing where %s', (_, scheduled) => expect(scheduled).toBeNull())
})
