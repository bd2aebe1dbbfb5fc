import type { Interval } from './price.ts'

/**
 * Credit and charge of a price change in the middle of a paid period.
 *
 * Invariants (proration.test.ts):
 * - the credit is the unused share of what was paid for the period, and never more than that;
 * - a change to the same price and quantity charges exactly what it credits;
 * - at the start of the period everything is unused, at its end nothing;
 * - halves are rounded up, for credit and charge, without an intermediate result that loses a unit;
 * - a period of length zero has no credit and no charge;
 * - another interval starts a new period, charged in full.
 */

/** A price and its quantity per period. */
export interface Charged {
  /** minor units, of one */
  amount: number
  quantity: number
  interval: Interval
}

interface Prorated {
  credit: number
  charge: number
}

/** Times in any one unit; `amount` times `quantity` must be a safe integer. */
export function prorate(
  from: Charged,
  to: Charged,
  period: { start: number; end: number },
  now: number,
): Prorated {
  const whole = Math.max(period.end - period.start, 0)
  const unused = Math.min(Math.max(period.end - now, 0), whole)
  return {
    credit: share(from, unused, whole),
    charge: to.interval === from.interval ? share(to, unused, whole) : share(to, 1, 1),
  }
}

function share({ amount, quantity }: Charged, part: number, whole: number): number {
  if (whole === 0) return 0
  const [of, parts] = [BigInt(amount) * BigInt(quantity) * BigInt(part), BigInt(whole)]
  return Number((2n * of + parts) / (2n * parts))
}
