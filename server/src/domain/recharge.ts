/**
 * Automatic recharges: credits are bought when the balance of a user and feature falls below a threshold.
 *
 * Invariants (recharge.test.ts):
 * - one charge closes the gap in whole packs, and buys no more packs than needed;
 * - what is charged in a month of the UTC calendar never exceeds the maximum;
 * - nothing is charged at or above the threshold, nor before the wait after a decline is over;
 * - three declines in a row, or one hard decline, turn the rule off.
 */
import { windowEnd } from './cap.ts'
import { type Credit, checkAmount, creditState } from './credit.ts'
import { badUserInput } from './errors.ts'
import { MAX_AMOUNT, MAX_COUNT, MAX_QUANTITY } from './limits.ts'
import { costOf } from './price.ts'

/** When to buy credits of a user and feature, and how many. */
export interface RechargeRule {
  /** Units are bought when fewer than these are left. */
  below: number
  /** the balance to reach */
  upTo: number
  /** a price of credits of the feature */
  priceId: string
  /** in minor units of the price's currency, per month of the UTC calendar; null: no maximum */
  maxSpendPerPeriod: number | null
}

export function checkRechargeRule({ below, upTo, maxSpendPerPeriod }: Omit<RechargeRule, 'priceId'>): void {
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

/** Units of live credits that are not used. Reserved units count: they are not spent yet. */
export const balanceOf = (
  credits: readonly Omit<Credit, 'id' | 'featureId' | 'kind' | 'priority' | 'reason'>[],
  now: number,
): number =>
  credits.reduce((sum, one) => sum + (creditState(one, now) === 'LIVE' ? one.amount - one.used : 0), 0)

/** Units and cost of one pack, in minor units. */
interface Pack {
  units: number
  amount: number
}

export type Recharge =
  | { kind: 'charge'; packs: number; units: number; amount: number }
  | { kind: 'enough' }
  /** Another pack would exceed the maximum of the month. */
  | { kind: 'spent' }

/**
 * The charge that a rule makes now. `owed` is usage that the next credit pays for, and `spent` what the rule has
 * charged in this month.
 */
export function rechargeNow(
  { below, upTo, maxSpendPerPeriod }: RechargeRule,
  { units, amount }: Pack,
  { balance, owed }: { balance: number; owed: number },
  spent: number,
): Recharge {
  if (balance >= below) return { kind: 'enough' }
  const needed = Math.ceil((upTo - balance + owed) / units)
  const allowed = maxSpendPerPeriod === null ? needed : packsFor(maxSpendPerPeriod - spent, amount)
  const packs = Math.min(
    ...[needed, allowed, MAX_QUANTITY],
    ...[packsFor(MAX_AMOUNT, amount), Math.floor(MAX_COUNT / units)],
  )
  if (packs < 1) return { kind: 'spent' }
  const cost = costOf({ amount }, packs)
  if (cost === null) throw new Error('a recharge exceeds what can be charged')
  return { kind: 'charge', packs, units: packs * units, amount: cost }
}

const packsFor = (money: number, amount: number): number => Math.max(0, Math.floor(money / amount))

const HOUR_MS = 3_600_000
/** Declines in a row that turn a rule off. */
const MAX_DECLINES = 3

/** How a rule stands after its latest charges. */
export interface RechargeHealth {
  isOn: boolean
  /** declines since the last payment */
  declines: number
  /** no charge before; null: at any time */
  waitUntil: number | null
  /** why it waits or is off; null: it does not */
  reason: string | null
}

export const HEALTHY: RechargeHealth = { isOn: true, declines: 0, waitUntil: null, reason: null }

/** `hard`: the card can never be charged again, as when it was stolen. */
export function afterDecline(
  { isOn, declines }: RechargeHealth,
  { hard, reason }: { hard: boolean; reason: string },
  now: number,
): RechargeHealth {
  const count = declines + 1
  if (!isOn || hard || count >= MAX_DECLINES) return { isOn: false, declines: count, waitUntil: null, reason }
  return { isOn: true, declines: count, waitUntil: now + HOUR_MS * 2 ** (count - 1), reason }
}

/** Waits until a given time, without a decline. */
export const postponed = (
  { declines }: RechargeHealth,
  { until, reason }: { until: number; reason: string },
): RechargeHealth => ({ isOn: true, declines, waitUntil: until, reason })

/** Something on our side is in the way, such as an archived price: it may be gone later. */
export const laterToday = (now: number): number => now + HOUR_MS

export const nextMonth = (now: number): number => windowEnd('MONTH', now) ?? now

/**
 * The state of a rule that is set again. The wait after a decline stays, so that setting a rule repeatedly does not try
 * a declined card each time. A rule that is off is turned on.
 */
export const setAgain = (health: RechargeHealth): RechargeHealth =>
  health.isOn && health.declines > 0 ? health : HEALTHY

export const mayCharge = ({ isOn, waitUntil }: RechargeHealth, now: number): boolean =>
  isOn && (waitUntil === null || waitUntil <= now)

export const RECHARGE_STATES = ['ON', 'CHARGING', 'WAITING', 'OFF'] as const
export type RechargeState = (typeof RECHARGE_STATES)[number]

export function rechargeState(health: RechargeHealth, isUnderWay: boolean, now: number): RechargeState {
  if (isUnderWay) return 'CHARGING'
  if (!health.isOn) return 'OFF'
  return mayCharge(health, now) ? 'ON' : 'WAITING'
}
