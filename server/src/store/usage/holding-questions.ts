import { longestMs, RESET_PERIODS, type ResetPeriod } from '../../domain/period.ts'
import type { UnheldCredit } from '../../domain/purse.ts'
import { textArray } from '../connection/arrays.ts'
import type { PlaceLayout } from '../connection/places.ts'

/** One question: what does this user hold, and what are the counters of this feature and reset period? */
export interface Question {
  appId: string
  userId: string
  featureId: string
  resetPeriod: ResetPeriod | null
  /** whether to read what else pays for the feature */
  spends: boolean
  /** whose counts of the plan's caps to read with it */
  entities: readonly string[]
  /** credits that need not be read again unless they have changed; null: none */
  known: KnownCredits | null
  /** where users are, as far as known; null: all in one place */
  layout: PlaceLayout | null
  /** whether the app's time is perhaps not that of the servers */
  testClock: boolean
}

/** The credits of a user and feature, as of a version of the spender's row. */
export interface KnownCredits {
  uid: number
  version: number
  credits: readonly UnheldCredit[]
}

/** A row for each counter; where there is none, its columns are null. */
export type HoldingRow = [
  ord: string,
  version: string,
  now: string,
  uid: string | null,
  overrides: string | null,
  subscriptions: string | null,
  userTid: string,
  userVersion: string,
  periodStart: string | null,
  used: string,
  ref: string,
]

/** With what else pays for the feature. */
export type SpenderRow = [...HoldingRow, spending: string | null]

/** How long ago a period of each kind may have started, in hours, which are independent of time zones. */
export const LONGEST = new Map<ResetPeriod | null, string>(
  RESET_PERIODS.flatMap((reset) => {
    const ms = longestMs(reset)
    return ms === null ? [] : [[reset, `${ms / 3_600_000}:00:00`]]
  }),
)

/** Choosing one of these is faster than parsing an interval for each question. */
export const CHOSEN = [...LONGEST]
  .map(([reset, longest]) => `when '${reset}' then interval '${longest}'`)
  .join(' ')

export const columns = (questions: readonly Question[]): string[] => [
  textArray(questions, (q) => q.appId),
  textArray(questions, (q) => q.userId),
  textArray(questions, (q) => q.featureId),
  textArray(questions, (q) => q.resetPeriod),
]
