/** What subscriptions can be filtered by. */
export const SUBSCRIPTION_STATES = [
  { value: 'LIVE', label: 'Live' },
  { value: 'ACTIVE', label: 'Active' },
  { value: 'RENEWING', label: 'Renewing' },
  { value: 'TRIAL', label: 'Trial' },
  { value: 'CHANGING', label: 'Change scheduled' },
  { value: 'ENDING', label: 'Ending' },
  { value: 'PAST_DUE', label: 'Past due' },
  { value: 'CANCELLED', label: 'Cancelled' },
] as const

export type SubscriptionState = (typeof SUBSCRIPTION_STATES)[number]['value']
