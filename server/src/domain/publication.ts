import { badUserInput } from './errors.ts'
import { LATEST_TEST_CLOCK } from './limits.ts'
import { timeOf } from './time.ts'

/** Subscriptions that a publication applies to: all now, only new ones, or each at the end of its period. */
export const REACHES = ['ALL', 'NEW_ONLY', 'AT_PERIOD_END'] as const
export type Reach = (typeof REACHES)[number]

/** A publication that takes place at a chosen time. Until then, the draft cannot be edited: what was reviewed is published. */
export interface ScheduledPublication {
  /** by the app's clock */
  at: number
  reach: Reach
  note: string | null
  /** the member who scheduled it, and still needs the role at that time */
  memberId: number
  author: string
  /** why it did not take place; null: it has yet to */
  problem: string | null
}

/** The time of a publication, which must be in the future. */
export function publicationTime(text: string, now: number): number {
  const at = timeOf('at', text)
  if (at <= now) throw badUserInput('The publication must be in the future', 'at')
  if (at > LATEST_TEST_CLOCK)
    throw badUserInput(`at cannot be later than ${new Date(LATEST_TEST_CLOCK).toISOString()}`, 'at')
  return at
}
