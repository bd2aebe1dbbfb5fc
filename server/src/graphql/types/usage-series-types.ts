import { USAGE_BUCKETS } from '../../domain/usage-series.ts'
import type { UsageSeries } from '../../operations/usage/usage-series.ts'
import type { Builder } from './builder.ts'
import { isoTime, isoTimeOrNull } from './time.ts'

export const USAGE_SERIES =
  'Recorded usage of a feature over time, by one user or by all users. Includes everything recorded so far.'

export const USAGE_RANGE = {
  userId: 'Return only usage of this user. Default: all users.',
  from: 'Start of the range (ISO 8601), rounded down to the start of a bucket in UTC.',
  to: 'End of the range (ISO 8601), rounded up to the end of a bucket in UTC.',
  bucket: 'Length of one bucket. A range has at most 1,000 buckets.',
}

export function defineUsageSeries<Context extends object>(builder: Builder<Context>) {
  const point = builder.objectRef<UsageSeries['points'][number]>('UsagePoint').implement({
    fields: (t) => ({
      at: t.string({ description: 'Start of the bucket (ISO 8601, UTC).', resolve: ({ at }) => isoTime(at) }),
      used: t.exposeFloat('used', {
        description: 'Recorded usage; negative if more was reverted than recorded.',
      }),
    }),
  })
  const usageSeries = builder.objectRef<UsageSeries>('UsageSeries').implement({
    fields: (t) => ({
      total: t.exposeFloat('total', { description: 'Sum of all points.' }),
      completeFrom: t.string({
        nullable: true,
        description: 'Usage before this time is incomplete (ISO 8601); null if all usage is included.',
        resolve: ({ completeFrom }) => isoTimeOrNull(completeFrom),
      }),
      points: t.field({
        type: [point],
        description: 'One point per bucket, in order.',
        resolve: ({ points }) => points,
      }),
    }),
  })
  return { usageSeries, usageBucket: builder.enumType('UsageBucket', { values: USAGE_BUCKETS }) }
}
