import { badUserInput } from '../../domain/errors.ts'
import { MAX_ACTIVITY_POINTS } from '../../domain/limits.ts'

export const ACTIVITY_INTERVALS = ['MINUTE', 'HOUR', 'DAY'] as const
export type ActivityInterval = (typeof ACTIVITY_INTERVALS)[number]

const LENGTHS = { MINUTE: 60_000, HOUR: 3_600_000, DAY: 86_400_000 }

/** The starts of the intervals that cover a range, and the end of the last one. */
export function intervalsBetween(
  from: string,
  to: string,
  interval: ActivityInterval,
): { starts: number[]; end: number } {
  const length = LENGTHS[interval]
  const start = Math.floor(Date.parse(from) / length) * length
  const end = Date.parse(to)
  if (Number.isNaN(start) || Number.isNaN(end)) {
    throw badUserInput('from and to must be ISO 8601 times, such as 2027-01-31T00:00:00Z')
  }
  const count = Math.ceil((end - start) / length)
  if (count < 1 || count > MAX_ACTIVITY_POINTS) {
    throw badUserInput(`from must be before to, and at most ${MAX_ACTIVITY_POINTS} intervals apart`)
  }
  return { starts: Array.from({ length: count }, (_, i) => start + i * length), end: start + count * length }
}
