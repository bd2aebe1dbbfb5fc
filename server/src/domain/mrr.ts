import { MAX_COUNT } from './limits.ts'
import { type Interval, PER_YEAR } from './price.ts'

/**
 * Monthly recurring revenue, from the list prices of what providers charge for now:
 * - A price counts by its interval: a yearly price divided by 12, a weekly one times 52 / 12, a daily one times 365 /
 *   12, each times its quantity. Only the sum is rounded, to whole minor units, halves up.
 * - One-off prices, trials and paused subscriptions do not count.
 * - Past due subscriptions count until they end, and are also reported separately.
 * - Subscriptions with a scheduled end count until then. Discounts, taxes and credit do not count.
 * - Amounts in different currencies or at different providers are not added up. The sandbox moves no money.
 */

/** Whether a subscription is charged for, according to its provider. */
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
  /** past due part of it */
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

/** Classifies a provider's report for revenue. A subscription with paused collection is not charged for. */
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
