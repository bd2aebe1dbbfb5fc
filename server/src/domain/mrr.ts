import { MAX_COUNT } from './limits.ts'
import { type Interval, PER_YEAR } from './price.ts'

/**
 * Monthly recurring revenue, from the list prices of what providers charge for now:
 * - A price counts by its interval: a year's divided by 12, a week's times 52 / 12, a day's times 365 / 12, each times
 *   its quantity. Only the sum is rounded, to whole minor units, halves up.
 * - A one-off price recurs never, a trial costs nothing yet, and a paused subscription is not charged: none of them
 *   counts.
 * - What is past due counts as long as it is not ended, and is shown beside the sum as well.
 * - What is set to end counts until it ends. Discounts, taxes and credit do not count.
 * - Nothing is summed across currencies, nor across providers: the sandbox moves no money.
 */

/** Whether a subscription is charged for, as far as its provider says. */
export type BillingState = 'active' | 'past due' | 'paused'

export interface ChargedPrice {
  provider: string
  currency: string
  /** of one, in minor units */
  amount: number
  /** null: once */
  interval: Interval | null
  state: BillingState
  trialing: boolean
  /** of all subscriptions together */
  quantity: number
}

export interface Mrr {
  provider: string
  currency: string
  /** minor units a month */
  amount: number
  /** of which is past due */
  pastDue: number
}

/** By provider and currency, the largest first within a provider. */
export function mrrOf(charged: readonly ChargedPrice[]): Mrr[] {
  const sums = new Map<string, { provider: string; currency: string; year: bigint; pastDueYear: bigint }>()
  for (const { provider, currency, amount, interval, state, trialing, quantity } of charged) {
    if (interval === null || trialing || state === 'paused') continue
    const key = JSON.stringify([provider, currency])
    const sum = sums.get(key) ?? { provider, currency, year: 0n, pastDueYear: 0n }
    const year = BigInt(amount) * BigInt(quantity) * BigInt(PER_YEAR[interval])
    sum.year += year
    if (state === 'past due') sum.pastDueYear += year
    sums.set(key, sum)
  }
  return [...sums.values()]
    .map(({ provider, currency, year, pastDueYear }) => ({
      provider,
      currency,
      amount: aMonth(year),
      pastDue: aMonth(pastDueYear),
    }))
    .sort((a, b) => compare(a.provider, b.provider) || b.amount - a.amount || compare(a.currency, b.currency))
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

function aMonth(year: bigint): number {
  const month = (year + 6n) / 12n
  return month > BigInt(MAX_COUNT) ? MAX_COUNT : Number(month)
}

/** What a provider's report means for revenue. A subscription whose collection is paused is not charged for. */
export function billingStateOf({
  billingStatus,
  status,
}: {
  billingStatus: string
  status: string
}): BillingState {
  if (/\bpaused\b/.test(status) || billingStatus === 'paused') return 'paused'
  return billingStatus === 'past due' ? 'past due' : 'active'
}
