import { exponentOf } from '../../domain/currency.ts'
import {
  churnOf,
  type Days,
  daysOf,
  mrrPerDay,
  perDay,
  previousOf,
  startsOf,
  sumOf,
} from '../../domain/revenue-series.ts'
import {
  countLiveAt,
  type DayOfMoney,
  type Money,
  type Movement,
  movementsPerDay,
  paidPerDay,
  recurringChanges,
  refundedPerDay,
} from '../../store/billing/revenue-series.ts'
import { readAnyApp } from '../../store/connection/read-any-app.ts'
import { requireApp } from '../apps/apps.ts'
import type { Call } from '../call/call.ts'

/** Money of one provider in one currency, in minor units. */
export interface MoneySeries extends Money {
  decimals: number
  /** at the end of each day */
  mrr: number[]
  /** on each day */
  paid: number[]
  refunded: number[]
  totals: MoneyTotals
  previous: MoneyTotals
}

interface MoneyTotals {
  /** at the end */
  mrr: number
  paid: number
  refunded: number
}

export interface RevenueOverTime {
  asOf: number
  /** the starts of the days */
  days: number[]
  money: MoneySeries[]
  started: number[]
  ended: number[]
  totals: MovementTotals
  previous: MovementTotals
}

interface MovementTotals {
  started: number
  ended: number
  /** share of the live subscriptions at the start; null: there were none */
  churn: number | null
}

/** Revenue by day, with the totals of the period before. Days after today are empty. */
export async function revenueOverTime(call: Call, from: string, to: string): Promise<RevenueOverTime> {
  const { service, appId } = call
  const days = daysOf(from, to)
  const before = previousOf(days)
  const { now } = await requireApp(service.pool, appId)
  // Scheduled starts and ends are not counted before their time; current ones are.
  const span = { from: before.from, to: Math.min(days.to, now + 1) }
  return readAnyApp(service.pool, async (tx) => {
    const recurring = await recurringChanges(tx, appId, span)
    const paid = await paidPerDay(tx, appId, span)
    const refunded = await refundedPerDay(tx, appId, span)
    const moved = await movementsPerDay(tx, appId, span)
    const live = {
      before: await countLiveAt(tx, appId, before.from),
      days: await countLiveAt(tx, appId, days.from),
    }
    const kinds = [...new Map([...recurring, ...paid, ...refunded].map((one) => [keyOf(one), one])).values()]
    return {
      asOf: now,
      days: startsOf(days),
      money: kinds
        .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
        .map((kind) => seriesOf(kind, { recurring, paid, refunded }, days, before)),
      started: perDay(moved, days, (row) => row.started),
      ended: perDay(moved, days, (row) => row.ended),
      totals: movementsIn(moved, days, live.days),
      previous: movementsIn(moved, before, live.before),
    }
  })
}

const keyOf = ({ provider, currency }: Money): string => `${provider} ${currency}`

interface Read {
  recurring: Awaited<ReturnType<typeof recurringChanges>>
  paid: readonly DayOfMoney[]
  refunded: readonly DayOfMoney[]
}

function seriesOf(
  { provider, currency }: Money,
  { recurring, paid, refunded }: Read,
  days: Days,
  before: Days,
): MoneySeries {
  const own = <Row extends Money>(rows: readonly Row[]) =>
    rows.filter((row) => row.provider === provider && row.currency === currency)
  const amount = (row: DayOfMoney) => row.amount
  const [changes, payments, refunds] = [own(recurring), own(paid), own(refunded)]
  const during = (some: Days) => ({
    mrr: mrrPerDay(changes, some),
    paid: perDay(payments, some, amount),
    refunded: perDay(refunds, some, amount),
  })
  const [series, earlier] = [during(days), during(before)]
  const totalsOf = (of: typeof series): MoneyTotals => ({
    mrr: of.mrr.at(-1) ?? 0,
    paid: sumOf(of.paid),
    refunded: sumOf(of.refunded),
  })
  return {
    ...{ provider, currency, decimals: exponentOf(provider, currency) },
    ...series,
    totals: totalsOf(series),
    previous: totalsOf(earlier),
  }
}

function movementsIn(moved: readonly Movement[], days: Days, live: number): MovementTotals {
  const started = sumOf(perDay(moved, days, (row) => row.started))
  const ended = sumOf(perDay(moved, days, (row) => row.ended))
  return { started, ended, churn: churnOf(ended, live) }
}
