import { periodAt, type ResetPeriod } from '../../domain/period.ts'
import type { Interval, Price } from '../../domain/price.ts'
import { prorate } from '../../domain/proration.ts'
import { itemsAfter, sameItems } from '../price-change.ts'
import { type ChangeQuote, type PriceChange, type PriceChangeTime, ProviderError } from '../provider.ts'
import { chargeFor, checkBillTotal, requirePrice } from './bill.ts'
import type { InvoiceLine, SandboxSubscription } from './subscription-books.ts'

interface PlannedPriceChange {
  after: SandboxSubscription
  quote: ChangeQuote
  /** lines of an immediate invoice; empty: there is none */
  lines: InvoiceLine[]
}

/** The effect of a change and its cost, for both the preview and the change itself. */
export function planPriceChange(
  s: SandboxSubscription,
  prices: ReadonlyMap<string, Price>,
  change: PriceChange,
  when: PriceChangeTime,
  now: number,
): PlannedPriceChange {
  if (s.status === 'canceled') throw new ProviderError('refused', 'the subscription has ended')
  const items = itemsAfter(s.items, change)
  const to = requirePrice(prices, change.to)
  const none: ChangeQuote = { credit: 0, charge: 0, currency: to.currency }
  // No change.
  if (sameItems(items, s.items)) return { after: { ...s, scheduled: null }, quote: none, lines: [] }
  const from = requirePrice(prices, change.from)
  const interval = checkTogether(s, from, to)
  checkBillTotal(items, prices)
  if (when === 'period end') {
    // The renewal may be late: then the current period is meant, not the one that has ended.
    const at = now < s.periodEnd ? s.periodEnd : periodEndAt(s.interval, s.anchor, now)
    return {
      after: { ...s, cancelAtPeriodEnd: false, scheduled: { at, interval, items } },
      quote: { ...none, charge: chargeFor(to, change.quantity) },
      lines: [],
    }
  }
  if (s.status === 'past_due')
    throw new ProviderError('refused', 'a payment is past due and has to be paid first')
  const after: SandboxSubscription = { ...s, items, interval, scheduled: null }
  // Nothing has been paid before the trial ends, and nothing is due.
  if (s.trialEndsAt !== null && now < s.trialEndsAt) return { after, quote: none, lines: [] }
  const { quantity } = s.items.find(({ priceId }) => priceId === from.id) ?? change
  const { credit, charge } = prorate(
    { amount: from.amount, quantity, interval: s.interval },
    { amount: to.amount, quantity: change.quantity, interval },
    { start: paidPeriodOf(s).start, end: s.periodEnd },
    now,
  )
  const anew = interval !== s.interval
  return {
    after: anew ? { ...after, anchor: now, periodEnd: periodEndAt(interval, now, now) } : after,
    quote: { credit, charge, currency: to.currency },
    lines: [
      { priceId: from.id, quantity, amount: -credit, proration: true },
      { priceId: to.id, quantity: change.quantity, amount: charge, proration: !anew },
    ],
  }
}

/** All prices on one bill must be charged together. Returns the resulting interval. */
function checkTogether(s: SandboxSubscription, from: Price, to: Price): Interval {
  if (to.interval === null) throw new ProviderError('refused', `the price ${to.id} is a one-off price`)
  if (to.currency !== from.currency) {
    throw new ProviderError(
      'refused',
      `the price ${to.id} is in ${to.currency}, but the subscription is in ${from.currency}`,
    )
  }
  if (to.interval !== s.interval && s.items.length > 1) {
    throw new ProviderError(
      'refused',
      `the price ${to.id} is charged every ${to.interval}, but the other prices every ${s.interval}`,
    )
  }
  return to.interval
}

/** Applies the scheduled change if its time has come, even if the renewal is late. */
export function byTheClock(s: SandboxSubscription, now: number): SandboxSubscription {
  if (s.scheduled === null || s.status === 'canceled' || now < s.scheduled.at) return s
  const { at, interval, items } = s.scheduled
  return { ...s, items, interval, anchor: interval === s.interval ? s.anchor : at, scheduled: null }
}

/** The period that an invoice of that time paid for. */
export function periodOfPayment(
  { interval, anchor }: SandboxSubscription,
  at: number,
): { start: number; end: number } {
  return { start: periodAt(resetOf(interval), anchor, at).start, end: periodEndAt(interval, anchor, at) }
}

/** The current paid period. */
export const paidPeriodOf = ({ interval, anchor, periodEnd }: SandboxSubscription) =>
  periodAt(resetOf(interval), anchor, periodEnd - 1)

export function periodEndAt(interval: Interval, anchor: number, now: number): number {
  const { end } = periodAt(resetOf(interval), anchor, now)
  if (end === null) throw new Error(`the interval ${interval} has no end`)
  return end
}

const resetOf = (interval: Interval) => interval.toUpperCase() as ResetPeriod
