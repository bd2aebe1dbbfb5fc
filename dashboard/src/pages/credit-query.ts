import { graphql, type ResultOf } from '../api/graphql.ts'

export const CREDITS = graphql(`
  query Credits($appId: String!, $userId: String!, $after: String) {
    creditPage(appId: $appId, userId: $userId, after: $after) {
      next
      balances { featureId left nextExpiry nextExpiring }
      rows { id featureId amount bought provider used reserved kind priority effectiveAt expiresAt state reason }
    }
    reservations(appId: $appId, userId: $userId, state: HELD) {
      id featureId reserved settled createdAt expiresAt
    }
    features(appId: $appId) { id name type unitLabel unitLabelPlural }
  }
`)
type Answer = ResultOf<typeof CREDITS>
export type CreditPage = NonNullable<Answer['creditPage']>
export type Credit = CreditPage['rows'][number]
export type CreditedFeature = Answer['features'][number]
