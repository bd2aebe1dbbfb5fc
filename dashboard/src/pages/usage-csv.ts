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
