/**
 * Automatic recharges: credits are bought when the balance of a user and feature falls below a threshold.
 *
 * Invariants (recharge.test.ts):
 * - one charge closes the gap in whole packs, and buys no more packs than needed;
 * - what is charged in a period never exceeds the maximum;
 * - nothing is charged at or above the threshold, nor before the wait after a decline is over;
 * - three declines, or one hard decline, turn the rule off; a payment in between starts the count anew.
 */
import { checkAmount } from './credit.ts'
import { badUserInput } from './errors.ts'
import { MAX_AMOUNT, MAX_QUANTITY } from './limits.ts'
import { costOf } from './price.ts'

/** A rule of a user and feature. */
export interface RechargeRule {
  /** Units are bought when fewer than these are left. */
  below: number
  /** The balance to reach. */
  upTo: number
  /** a price of credits of the feature */
  priceId: string
  /** in minor units of the price's currency, per month of the UTC calendar; null: no maximum */
  maxSpendPerPeriod: number | null
}

export function checkRechargeRule({ below, upTo, maxSpendPerPeriod }: RechargeRule): void {
  checkAmount('below', below)
  checkAmount('upTo', upTo)
  if (upTo < below) throw badUserInput('upTo must be at least below', 'upTo')
  if (
    maxSpendPerPeriod !== null &&
    (!Number.isInteger(maxSpendPerPeriod) || maxSpendPerPeriod < 1 || maxSpendPerPeriod > MAX_AMOUNT)
  ) {
    throw badUserInput(
      `maxSpendPerPeriod must be an integer number of minor units from 1 to ${MAX_AMOUNT}`,
      'maxSpendPerPeriod',
    )
  }
}

/** What one pack costs and contains. */
export interface Pack {
  units: number
  /** minor units */
  amount: number
}

export type Recharge =
  | { kind: 'charge'; packs: number; units: number; amount: number }
  | { kind: 'enough' }
  /** Another pack would exceed the maximum of the period. */
  | { kind: 'spent' }

/** The charge that a rule makes now, with this balance and what it has charged in the period. */
export function rechargeNow(
  { below, upTo, maxSpendPerPeriod }: RechargeRule,
  { units, amount }: Pack,
  balance: number,
  spent: number,
): Recharge {
  if (balance >= below) return { kind: 'enough' }
  const needed = Math.ceil((upTo - balance) / units)
  const allowed = maxSpendPerPeriod === null ? needed : packsFor(maxSpendPerPeriod - spent, amount, needed)
  const packs = Math.min(needed, allowed, packsFor(MAX_AMOUNT, amount, needed), MAX_QUANTITY)
  if (packs < 1) return { kind: 'spent' }
  const cost = costOf({ amount }, packs)
  if (cost === null) throw new Error('a recharge exceeds what can be charged')
  return { kind: 'charge', packs, units: packs * units, amount: cost }
}

/** Packs that this much money pays for, at most `needed`: a free pack is not bought more often than that. */
const packsFor = (money: number, amount: number, needed: number): number =>
  amount === 0 ? needed : Math.max(0, Math.floor(money / amount))

const HOUR_MS = 3_600_000
/** Declines in a row that turn a rule off. */
const MAX_DECLINES = 3

/** How a rule stands after its latest charges. */
export interface RechargeHealth {
  /** declines since the last payment */
  declines: number
  /** no charge before; null: at any time */
  waitUntil: number | null
  on: boolean
}

/** `hard`: the card can never be charged again, as when it was stolen or is unknown. */
export function afterDecline({ declines }: RechargeHealth, hard: boolean, now: number): RechargeHealth {
  const count = declines + 1
  const on = !hard && count < MAX_DECLINES
  return { declines: count, waitUntil: on ? now + HOUR_MS * 2 ** (count - 1) : null, on }
}

export const afterPayment = ({ on }: RechargeHealth): RechargeHealth => ({ declines: 0, waitUntil: null, on })

export const mayCharge = ({ on, waitUntil }: RechargeHealth, now: number): boolean =>
  on && (waitUntil === null || waitUntil <= now)
