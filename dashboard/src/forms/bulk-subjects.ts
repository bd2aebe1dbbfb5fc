/** The users or subscriptions of a bulk change. */
export interface BulkSubjects {
  list: 'USERS' | 'SUBSCRIPTIONS'
  ids?: string[]
  search?: string | null
  packageId?: string | null
  state?: string | null
  provider?: string | null
}

export type BulkKind = 'plan' | 'trial' | 'cancel' | 'override'
