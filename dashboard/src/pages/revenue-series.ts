import { graphql, type ResultOf } from '../api/graphql.ts'
import { csvOf } from '../ui/csv.ts'
import { decimalText } from '../ui/price.ts'

export const OVER_TIME = graphql(`
  query RevenueOverTime($appId: String!, $from: String!, $to: String!) {
    revenueOverTime(appId: $appId, from: $from, to: $to) {
      asOf days started ended
      totals { started ended churn }
      previous { started ended churn }
      money {
        provider currency decimals mrr paid refunded
        totals { mrr paid refunded }
        previous { mrr paid refunded }
      }
    }
  }
`)
export type OverTime = NonNullable<ResultOf<typeof OVER_TIME>['revenueOverTime']>
export type MoneySeries = OverTime['money'][number]

const DAY_MS = 86_400_000

/** A day of UTC, such as 2027-01-31. */
export const dayText = (at: number): string => new Date(at).toISOString().slice(0, 10)

export interface Period {
  from: string
  to: string
}

/** The days of a range that ends today, or the chosen ones. */
export function periodOf(
  { range = '30', from, to }: { range?: string; from?: string; to?: string },
  now: number,
): Period {
  if (from !== undefined && to !== undefined) return { from, to }
  return { from: dayText(now - (Number(range) - 1) * DAY_MS), to: dayText(now) }
}

/** "+12%", "−3%"; null: there is nothing to compare with. */
export function changeText(now: number, before: number): string | null {
  if (before === 0) return null
  const percent = Math.round(((now - before) / before) * 100)
  return percent === 0 ? 'no change' : `${percent > 0 ? '+' : '−'}${Math.abs(percent)}%`
}

/** One line per day, provider and currency. */
export function revenueCsv({ days, started, ended, money }: OverTime): string {
  const head = ['day', 'provider', 'currency', 'mrr', 'paid', 'refunded', 'new', 'cancelled']
  const none = { provider: '', currency: '', decimals: 2, mrr: [], paid: [], refunded: [] }
  const lines = days.flatMap((day, i) =>
    (money.length === 0 ? [none] : money).map((of: Pick<MoneySeries, keyof typeof none>) => {
      const amount = (values: readonly number[]) => {
        const value = values[i]
        return value === undefined ? '' : decimalText(value, of.decimals)
      }
      const counts = [started[i] ?? 0, ended[i] ?? 0]
      return [
        day.slice(0, 10),
        of.provider,
        of.currency,
        amount(of.mrr),
        amount(of.paid),
        amount(of.refunded),
        ...counts,
      ]
    }),
  )
  return csvOf([head, ...lines])
}
