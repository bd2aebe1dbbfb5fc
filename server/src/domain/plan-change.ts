import type { Catalogue } from './catalogue.ts'
import type { ChangeTime } from './change-time.ts'
import { exponentOf } from './currency.ts'
import { badUserInput } from './errors.ts'
import { MAX_QUANTITY } from './limits.ts'
import type { ResetPeriod } from './period.ts'
import { costOf, PER_YEAR, type Price } from './price.ts'
import { type Charged, prorate } from './proration.ts'
import { anchorFor, type EarlierBase } from './subscription.ts'
import { type Holder, type UserEntitlement, userEntitlement } from './user-entitlement.ts'

/**
 * Changing from one base plan to another.
 *
 * Invariants (plan-change.test.ts): BEST is now unless the new plan is cheaper in a price that can be compared; a change
 * between plans that share a reset period never moves where periods are counted from; the quote of a change and back
 * at one moment is zero; usage refuses only a lower quantity of the same plan.
 */

/** A recurring price, and how many of it. */
interface Bought {
  price: Price
  quantity: number
}

/**
 * The prices of two plans that can be compared: in one currency, counted in the same minor units, best at one provider and
 * for one interval.
 */
export function comparable(from: readonly Price[], to: readonly Price[]): { from: Price; to: Price } | null {
  const pairs = from.flatMap((a) =>
    to
      .filter((b) => inOneUnit(a, b) && a.interval !== null && b.interval !== null)
      .map((b) => ({ from: a, to: b })),
  )
  const sameness = ({ from, to }: { from: Price; to: Price }) =>
    2 * Number(from.interval === to.interval) + Number(from.provider === to.provider)
  return pairs.sort((a, b) => sameness(b) - sameness(a))[0] ?? null
}

/**
 * The prices that a quote is worked out from. A plan without a recurring price costs nothing, compared with the newest
 * one of the other plan. Null: neither plan has a recurring price, or the two have none in one currency.
 */
export function quotedPrices(
  from: readonly Price[],
  to: readonly Price[],
): { from: Price; to: Price } | null {
  const [was, becomes] = [newestRecurring(from), newestRecurring(to)]
  if (was && becomes) return comparable(from, to)
  if (becomes) return { from: { ...becomes, amount: 0 }, to: becomes }
  return was && { from: was, to: { ...was, amount: 0 } }
}

const newestRecurring = (prices: readonly Price[]): Price | null =>
  prices.findLast(({ interval }) => interval !== null) ?? null

export const hasRecurringPrice = ({ prices }: { prices: readonly Price[] }): boolean =>
  newestRecurring(prices) !== null

const inOneUnit = (a: Price, b: Price): boolean =>
  a.currency === b.currency && exponentOf(a.provider, a.currency) === exponentOf(b.provider, b.currency)

const perYear = ({ price, quantity }: Bought): bigint =>
  price.interval === null ? 0n : BigInt(price.amount) * BigInt(quantity) * BigInt(PER_YEAR[price.interval])

/** Dearer now, cheaper at the end of what has been paid for. */
export function bestTime(from: Bought, to: Bought): Exclude<ChangeTime, 'BEST'> {
  return perYear(to) < perYear(from) ? 'PERIOD_END' : 'NOW'
}

/**
 * Where the periods of a base plan are counted from that succeeds another at `at`: where the two count by a common
 * period, from the same anchor, so that nothing is refilled or lost; otherwise as for any new one.
 */
export function anchorAfter(
  ending: { anchor: number; resetPeriods: readonly ResetPeriod[] },
  starting: readonly ResetPeriod[],
  earlier: readonly EarlierBase[],
  at: number,
): number {
  const shared = ending.resetPeriods.some((reset) => reset !== 'NEVER' && starting.includes(reset))
  if (shared) return ending.anchor
  const last = { anchor: ending.anchor, resetPeriods: [...ending.resetPeriods], lastLiveAt: at - 1 }
  return anchorFor([...earlier, last], at)
}

/**
 * What a change gives back and charges by the list prices, for whoever takes the money outside of Tollgate. Null: a price
 * does not recur, or costs more than can be charged.
 */
export function quoteOf(
  from: Bought,
  to: Bought,
  period: { start: number; end: number },
  at: number,
): { credit: number; charge: number; currency: string } | null {
  const [old, next] = [chargedOf(from), chargedOf(to)]
  return old && next && { ...prorate(old, next, period, at), currency: to.price.currency }
}

function chargedOf({ price, quantity }: Bought): Charged | null {
  const { amount, interval } = price
  return interval === null || costOf(price, quantity) === null ? null : { amount, quantity, interval }
}

export function checkQuantity(quantity: number): void {
  if (!Number.isInteger(quantity) || quantity < 1 || quantity > MAX_QUANTITY) {
    throw badUserInput(`quantity must be an integer from 1 to ${MAX_QUANTITY}`, 'quantity')
  }
}

/** The limit of a feature after a change that lowers it. */
interface LoweredLimit {
  featureId: string
  budget: number
  periodStart: number
}

/**
 * The limits that usage must not exceed for a change to be accepted, by feature id. They are those of features that never
 * reset and have no overage, and only if the change is to a lower quantity of the same plan: units that are in use cannot
 * be returned. A change to another plan is accepted whatever is in use, and nothing more is granted until usage is below
 * its limits.
 *
 * `after` is what the user has after the change.
 */
export function loweredLimits(
  catalogue: Catalogue,
  from: { packageId: string; quantity: number },
  after: Holder,
  at: number,
): LoweredLimit[] {
  const plan = after.live.find((subscription) => !subscription.isAddon)
  if (plan?.packageId !== from.packageId || plan.quantity >= from.quantity) return []
  const others = after.live.filter((subscription) => subscription !== plan)
  const before = { ...after, live: [...others, { ...plan, quantity: from.quantity }] }
  const lowered: LoweredLimit[] = []
  for (const featureId of [...catalogue.features.keys()].sort()) {
    const was = lastingLimit(userEntitlement(catalogue, featureId, before, at))
    const becomes = lastingLimit(userEntitlement(catalogue, featureId, after, at))
    if (was && becomes && becomes.budget < was.budget) lowered.push({ featureId, ...becomes })
  }
  return lowered
}

function lastingLimit(entitlement: UserEntitlement): Omit<LoweredLimit, 'featureId'> | null {
  if (entitlement.kind !== 'metered') return null
  const { budget, overageEnabled, resetPeriod } = entitlement.allowance
  if (resetPeriod !== 'NEVER' || budget === null || overageEnabled) return null
  return { budget, periodStart: entitlement.period.start }
}
