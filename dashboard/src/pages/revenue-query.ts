import { graphql, type ResultOf } from '../api/graphql.ts'

export const REVENUE = graphql(`
  query Revenue($appId: String!, $days: Int!, $fresh: Boolean!) {
    revenue(appId: $appId, days: $days, fresh: $fresh) {
      asOf from new changed cancelled pastDue trialing
      plans { packageId packageName isAddon active trialing pastDue unpaid }
      mrr { provider currency decimals amount pastDue }
      payments { provider currency decimals paid paidAmount failed failedAmount refunded refundedAmount }
    }
  }
`)
export type Figures = NonNullable<ResultOf<typeof REVENUE>['revenue']>
