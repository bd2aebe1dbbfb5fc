import type Stripe from 'stripe'

type Recurring = Pick<Stripe.Price.Recurring, 'interval' | 'interval_count'>

const SECONDS: Record<string, number> = { day: 86_400, week: 7 * 86_400 }

/** The end of the nth period, counted from the anchor: months end on the anchor's day or on their last one. */
export function afterPeriods(
  anchor: number,
  { interval, interval_count }: Recurring,
  periods: number,
): number {
  const count = interval_count * periods
  const seconds = SECONDS[interval]
  if (seconds !== undefined) return anchor + seconds * count
  const from = new Date(anchor * 1000)
  const to = new Date(from)
  to.setUTCDate(1)
  to.setUTCMonth(from.getUTCMonth() + count * (interval === 'year' ? 12 : 1))
  const lastDay = new Date(Date.UTC(to.getUTCFullYear(), to.getUTCMonth() + 1, 0)).getUTCDate()
  to.setUTCDate(Math.min(from.getUTCDate(), lastDay))
  return to.getTime() / 1000
}

/** The first end of a period that lies after this time. */
export function periodEndAfter(anchor: number, recurring: Recurring, time: number): number {
  let periods = 0
  while (afterPeriods(anchor, recurring, periods) <= time) periods += 1
  return afterPeriods(anchor, recurring, periods)
}
