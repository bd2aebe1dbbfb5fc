import { describe, expect, it } from 'vitest'
import { type DisputeState, NO_REVERSAL, type Payment, reversalOf, reversalsDuring } from './reversal.ts'

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
})
