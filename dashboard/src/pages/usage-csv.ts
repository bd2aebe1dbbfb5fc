import { csvOf } from '../ui/csv.ts'

interface Point {
  at: string
  used: number
}

/** One line per hour, day or month. `userId` is empty for all users. */
export const seriesCsv = (featureId: string, userId: string, points: readonly Point[]): string =>
  csvOf([
    ['start', 'feature', 'user', 'used'],
    ...points.map(({ at, used }) => [at, featureId, userId, used]),
  ])

interface Entry {
  id: string
  featureId: string
  action: string
  delta: number
  used: number
  periodStart: string
  recordedAt: string
}

/** One line per entry, as they are in the list. */
export const ledgerCsv = (userId: string, entries: readonly Entry[]): string =>
  csvOf([
    ['id', 'recorded', 'user', 'feature', 'operation', 'change', 'total after', 'period start'],
    ...entries.map((e) => [
      e.id,
      e.recordedAt,
      userId,
      e.featureId,
      e.action,
      e.delta,
      e.used,
      e.periodStart,
    ]),
  ])
