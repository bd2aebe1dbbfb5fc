import { type UsageBucket, usageBuckets } from '../../domain/usage-series.ts'
import {
  type UsageRange,
  usageOfFeature,
  usageOfUser,
  userCompleteFrom,
} from '../../store/usage/usage-hours.ts'
import { type Call, momentOf } from '../call/call.ts'
import { requireFeature, requireUser } from '../call/require.ts'

interface UsageSeriesQuery {
  featureId: string
  /** null: all users */
  userId?: string | null | undefined
  from: string
  to: string
  bucket: UsageBucket
}

export interface UsageSeries {
  /** one per bucket, also without usage */
  points: { at: number; used: number }[]
  total: number
  /** earlier usage is missing; null: none is */
  completeFrom: number | null
}

/** Recorded usage of a feature over time, of one user or of all. */
export async function usageSeries(call: Call, query: UsageSeriesQuery): Promise<UsageSeries> {
  const { featureId, userId, bucket } = query
  const { appId } = call
  const { pool } = call.service
  const { app } = await momentOf(call)
  const { starts, end } = usageBuckets(query.from, query.to, bucket)
  requireFeature(app.catalogue, featureId)
  const from = starts[0] ?? end
  const range: UsageRange = { appId, featureId, bucket, from, to: end }
  const found = await read()
  const points = starts.map((at) => ({ at, used: found.buckets.get(at) ?? 0 }))
  const { completeFrom } = found
  return {
    points,
    total: points.reduce((sum, { used }) => sum + used, 0),
    completeFrom: completeFrom !== null && completeFrom > from ? completeFrom : null,
  }

  async function read() {
    if (userId === null || userId === undefined) return usageOfFeature(pool, range)
    const { uid } = await requireUser(pool, appId, userId)
    const buckets = await usageOfUser(pool, uid, range)
    return { buckets, completeFrom: await userCompleteFrom(pool, appId, uid, featureId) }
  }
}
