/**
 * Credits that are sold for money.
 *
 * Invariants (credit-sale.test.ts):
 * - what was used or is reserved is never taken back;
 * - a credit never exceeds what was bought, and has all of it if no money was taken back;
 * - the more money was taken back, the fewer units are left.
 */
import { checkAmount } from './credit.ts'
import { badUserInput } from './errors.ts'
import { MAX_COUNT, MAX_CREDIT_DAYS, MAX_QUANTITY } from './limits.ts'
import type { Price } from './price.ts'
import { isGone, type Payment } from './reversal.ts'

/** Credits that a price sells, if it does not sell a package. */
export interface SoldCredits {
  featureId: string
  units: number
  /** null: they do not expire */
  expiresDays: number | null
}

const DAY_MS = 86_400_000

export function checkSoldCredits({ units, expiresDays }: SoldCredits, { interval }: Price): void {
  checkAmount('units', units)
  if (
    expiresDays !== null &&
    (!Number.isInteger(expiresDays) || expiresDays < 1 || expiresDays > MAX_CREDIT_DAYS)
  ) {
    throw badUserInput(`expiresDays must be an integer from 1 to ${MAX_CREDIT_DAYS}`, 'expiresDays')
  }
  if (interval !== null) {
    throw badUserInput('A price of credits must be a one-off price. Omit interval.', 'interval')
  }
}

/** The same, bought several times at once. */
export function soldTimes(sold: SoldCredits, quantity: number): SoldCredits {
  if (!Number.isInteger(quantity) || quantity < 1 || quantity > MAX_QUANTITY) {
    throw badUserInput(`quantity must be an integer from 1 to ${MAX_QUANTITY}`, 'quantity')
  }
  const units = sold.units * quantity
  if (units > MAX_COUNT) throw badUserInput(`quantity must buy at most ${MAX_COUNT} units`, 'quantity')
  return { ...sold, units }
}

export const expiryOf = ({ expiresDays }: SoldCredits, now: number): number | null =>
  expiresDays === null ? null : now + expiresDays * DAY_MS

/** Of a payment: how much of it was refunded, or is withheld or lost by a dispute. */
export const takenBack = (payment: Pick<Payment, 'amount' | 'refunded' | 'dispute'>): number =>
  isGone(payment) ? payment.amount : payment.refunded

/** Units of a credit after refunds and disputes of its payment. `spent`: used or reserved. */
export function unitsLeft(
  bought: number,
  spent: number,
  payments: readonly Pick<Payment, 'amount' | 'refunded' | 'dispute'>[],
): number {
  const paid = payments.reduce((sum, { amount }) => sum + amount, 0)
  const gone = payments.reduce((sum, payment) => sum + takenBack(payment), 0)
  if (gone === 0) return bought
  // Numbers of this size would lose units.
  const kept = (BigInt(bought) * BigInt(Math.max(paid - gone, 0))) / BigInt(paid)
  return Math.min(bought, Math.max(spent, Number(kept)))
}
