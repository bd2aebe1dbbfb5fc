import { graphql } from '../api/graphql.ts'
import type { GrantCap } from '../grants.ts'

export const SET_CAP = graphql(`
  mutation SetCap($appId: String!, $input: CapInput!) {
    setCap(appId: $appId, input: $input) { limit }
  }
`)
export const REMOVE_CAP = graphql(`
  mutation RemoveCap(
    $appId: String!, $userId: String!, $featureId: String!, $entity: String, $period: ResetPeriod!
  ) {
    removeCap(appId: $appId, userId: $userId, featureId: $featureId, entity: $entity, period: $period) { limit }
  }
`)

/** A cap of a user that has a count of its own. */
export interface UserCap {
  featureId: string
  /** null: all usage of the user */
  entity: string | null
  period: GrantCap['period']
  limit: number
  /** of the plan's cap that it replaces; null: none */
  planLimit: number | null
  used: number | null
}
