import { badUserInput } from './errors.ts'
import { MAX_USAGE_POINTS } from './limits.ts'
import { timeOf } from './time.ts'

export const USAGE_BUCKETS = ['HOUR', 'DAY', 'MONTH'] as const
export type UsageBucket = (typeof USAGE_BUCKETS)[number]

const LENGTHS = { HOUR: 3_600_000, DAY: 86_400_000 }

/** The start of the bucket that contains a time, in UTC. */
function bucketStart(at: number, bucket: UsageBucket): number {
  if (bucket !== 'MONTH') return Math.floor(at / LENGTHS[bucket]) * LENGTHS[bucket]
  const date = new Date(at)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1)
}

function nextBucket(start: number, bucket: UsageBucket): number {
  if (bucket !== 'MONTH') return start + LENGTHS[bucket]
  const date = new Date(start)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)
}

/** The starts of the buckets that cover a range, and the end of the last one. The buckets are whole ones. */
export function usageBuckets(
  from: string,
  to: string,
  bucket: UsageBucket,
): { starts: number[]; end: number } {
  const start = timeOf('from', from)
  const end = timeOf('to', to)
  if (start >= end) throw badUserInput('from must be before to', 'from')
  let next = bucketStart(start, bucket)
  const starts: number[] = []
  while (next < end) {
    if (starts.length === MAX_USAGE_POINTS) {
      throw badUserInput(
        `The range has more than ${MAX_USAGE_POINTS} buckets of one ${bucket}: use a shorter range or larger buckets`,
        'from',
      )
    }
    starts.push(next)
    next = nextBucket(next, bucket)
  }
  return { starts, end: next }
}
