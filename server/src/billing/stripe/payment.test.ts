import type Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import { paymentFrom } from './payment.ts'

const invoice = (more: object) =>
  ({
    id: 'in_1',
    status: 'paid',
    currency: 'usd',
    attempted: true,
    created: 1_000,
    amount_paid: 900,
    amount_remaining: 0,
    status_transitions: { paid_at: 2_000 },
    ...more,
  }) as unknown as Stripe.Invoice

const OPEN = { status: 'open', amount_paid: 0, amount_remaining: 900 }

describe('gap: billing, an invoice of Stripe', () => {
  it.each<[string, object, object[]]>([
    ['paid', {}, [{ ref: 'in_1', state: 'PAID', amount: 900, currency: 'usd', at: 2_000_000 }]],
    [
      'paid at an unknown time',
      { status_transitions: { paid_at: null } },
      [{ state: 'PAID', at: 1_000_000 }],
    ],
    ['paid in part by credit', { amount_paid: 1 }, [{ state: 'PAID', amount: 1 }]],
    ['that costs nothing', { amount_paid: 0 }, []],
    ['that is not yet one', { id: undefined }, []],
    ['unpaid', OPEN, [{ ref: 'in_1', state: 'FAILED', amount: 900, currency: 'usd', at: 1_000_000 }]],
    ['that nobody has tried to collect', { ...OPEN, attempted: false }, []],
    ['given up', { ...OPEN, status: 'uncollectible', attempted: false }, [{ state: 'FAILED', amount: 900 }]],
    ['of which one is left', { ...OPEN, amount_remaining: 1 }, [{ state: 'FAILED', amount: 1 }]],
    ['of which nothing is left', { ...OPEN, amount_remaining: 0 }, []],
    ['voided', { ...OPEN, status: 'void' }, []],
    ['that is a draft', { ...OPEN, status: 'draft' }, []],
  ])('%s', (_, more, payments) => {
    expect(paymentFrom(invoice(more))).toEqual(payments.map((one) => expect.objectContaining(one)))
  })
})
