/** When a change takes effect: now, at the end of the period, or whichever is better for the customer. */
export const CHANGE_TIMES = ['NOW', 'PERIOD_END', 'BEST'] as const
export type ChangeTime = (typeof CHANGE_TIMES)[number]
