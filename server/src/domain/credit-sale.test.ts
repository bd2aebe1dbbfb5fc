import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkSoldCredits, expiryOf, soldTimes, takenBack, unitsLeft } from './credit-sale.ts'
import { MAX_COUNT, MAX_CREDIT_DAYS, MAX_QUANTITY } from './limits.ts'
import type { DisputeState } from './reversal.ts'

const SOLD = { featureId: 'call', units: 10_000, expiresDays: null }
const PRICE = { id: 'p', provider: 'sandbox', amount: 2000, currency: 'usd', interval: null }

const dispute = (state: DisputeState) => ({ state, reason: null, openedAt: 0 })
const payment = (amount: number, refunded = 0, state: DisputeState | null = null) => ({
  amount,
  refunded,
  dispute: state && dispute(state),
})

describe('what a price of credits sells', () => {
  it.each([
    ['units', { ...SOLD, units: 0 }],
    ['units', { ...SOLD, units: 1.5 }],
    ['units', { ...SOLD, units: MAX_COUNT + 1 }],
    ['expiresDays', { ...SOLD, expiresDays: 0 }],
    ['expiresDays', { ...SOLD, expiresDays: 1.5 }],
    ['expiresDays', { ...SOLD, expiresDays: MAX_CREDIT_DAYS + 1 }],
  ])('names the field that is wrong: %s', (field, sold) => {
    expect(() => checkSoldCredits(sold, PRICE)).toThrow(expect.objectContaining({ field }))
  })

  it('is paid once', () => {
    expect(() => checkSoldCredits(SOLD, PRICE)).not.toThrow()
    expect(() => checkSoldCredits(SOLD, { ...PRICE, interval: 'month' })).toThrow(
      expect.objectContaining({ field: 'interval' }),
    )
  })

  it('multiplies with the quantity, up to the largest number', () => {
    expect(soldTimes(SOLD, 3)).toEqual({ ...SOLD, units: 30_000 })
    for (const quantity of [0, -1, 1.5, MAX_QUANTITY + 1])
      expect(() => soldTimes(SOLD, quantity)).toThrow(expect.objectContaining({ field: 'quantity' }))
    expect(soldTimes({ ...SOLD, units: MAX_COUNT }, 1).units).toBe(MAX_COUNT)
    expect(() => soldTimes({ ...SOLD, units: MAX_COUNT }, 2)).toThrow(
      expect.objectContaining({ field: 'quantity' }),
    )
  })

  it('expires that many days after the payment, or never', () => {
    expect(expiryOf({ ...SOLD, expiresDays: 30 }, 5)).toBe(5 + 30 * 86_400_000)
    expect(expiryOf(SOLD, 5)).toBeNull()
  })
})

describe('what a refund or dispute takes back', () => {
  it.each<[string, ReturnType<typeof payment>, number]>([
    ['nothing', payment(2000), 0],
    ['a part', payment(2000, 500), 500],
    ['an inquiry: nothing', payment(2000, 0, 'INQUIRY'), 0],
    ['a dispute: all', payment(2000, 500, 'OPEN'), 2000],
    ['a lost dispute: all', payment(2000, 0, 'LOST'), 2000],
    ['a dispute that was won: what had been refunded', payment(2000, 500, 'WON'), 500],
    ['an inquiry that was closed: nothing', payment(2000, 0, 'CLOSED'), 0],
  ])('%s', (_, of, gone) => expect(takenBack(of)).toBe(gone))

  it('leaves the paid share, rounded down, and never less than what is spent', () => {
    expect(unitsLeft(10_000, 0, [payment(2000, 500)])).toBe(7_500)
    expect(unitsLeft(10, 0, [payment(3, 1)])).toBe(6)
    expect(unitsLeft(10_000, 8_000, [payment(2000, 500)])).toBe(8_000)
    expect(unitsLeft(10_000, 0, [payment(2000, 2000)])).toBe(0)
    expect(unitsLeft(10_000, 3, [payment(2000, 0, 'OPEN')])).toBe(3)
    expect(unitsLeft(10_000, 3, [])).toBe(10_000)
    // Nothing was paid for it, so nothing can be taken back.
    expect(unitsLeft(10_000, 0, [payment(0)])).toBe(10_000)
  })

  const bought = fc.integer({ min: 1, max: MAX_COUNT })
  const paid = fc.integer({ min: 1, max: 999_999_999_999 })
  const state = fc.constantFrom<DisputeState | null>(null, 'INQUIRY', 'OPEN', 'WON', 'LOST', 'CLOSED')
  const share = fc.double({ min: 0, max: 1, noNaN: true })
  const part = (of: number, share: number) => Math.min(of, Math.floor(of * share))

  it('keeps between what is spent and what was bought; exactly the paid share in between', () => {
    fc.assert(
      fc.property(bought, paid, share, share, state, (bought, paid, used, refunded, state) => {
        const spent = part(bought, used)
        const gone = payment(paid, part(paid, refunded), state)
        const left = unitsLeft(bought, spent, [gone])
        expect(left).toBeGreaterThanOrEqual(spent)
        expect(left).toBeLessThanOrEqual(bought)
        if (takenBack(gone) === 0) expect(left).toBe(bought)
        if (left > spent) {
          const kept = BigInt(paid - takenBack(gone)) * BigInt(bought)
          expect(BigInt(left) * BigInt(paid)).toBeLessThanOrEqual(kept)
          expect((BigInt(left) + 1n) * BigInt(paid)).toBeGreaterThan(kept)
        }
      }),
    )
  })

  it('leaves less, the more is taken back; and all of it again when that ends', () => {
    fc.assert(
      fc.property(bought, paid, share, share, share, (bought, paid, used, one, other) => {
        const spent = part(bought, used)
        const [less, more] = [part(paid, one), part(paid, other)].sort((a, b) => a - b) as [number, number]
        const left = (refunded: number) => unitsLeft(bought, spent, [payment(paid, refunded)])
        expect(left(more)).toBeLessThanOrEqual(left(less))
        expect(unitsLeft(bought, spent, [payment(paid, 0, 'WON')])).toBe(bought)
      }),
    )
  })
})
