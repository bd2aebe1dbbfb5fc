import { named, type Sentence, type SentencePart, say } from '../../domain/sentence.ts'
import { endedAt } from '../../domain/subscription.ts'
import { userEntitlement } from '../../domain/user-entitlement.ts'
import { EVERYTHING, searchAudit } from '../../store/audit/audit-search.ts'
import { holders, usedOf } from '../../store/subscriptions/subscribers.ts'
import { ALL_SUBSCRIPTIONS, filteredSubscriptions } from '../../store/subscriptions/subscription-list.ts'
import {
  type ActivityUnit,
  activityBetween,
  type Calls,
  type Checklist,
  listRecentUsage,
  readChecklist,
} from '../../store/usage/activity.ts'
import { findUsers } from '../../store/users/users.ts'
import { requireApp } from '../apps/apps.ts'
import type { Call } from '../call/call.ts'
import { pageSize } from '../call/pages.ts'
import { catalogueOf } from '../catalogue/catalogue.ts'
import { describeEntries } from './describe-entries.ts'
import { type ActivityInterval, intervalsBetween } from './intervals.ts'

/** The steps a newcomer has completed. */
export async function checklist({ service, appId }: Call): Promise<Checklist> {
  await requireApp(service.pool, appId)
  const done = await readChecklist(service.pool, appId)
  return { ...done, check: done.check || service.activity.pending(appId).checks > 0 }
}

/** Calls per interval, including empty ones. */
export async function activity(
  { service, appId }: Call,
  from: string,
  to: string,
  interval: ActivityInterval,
): Promise<(Calls & { at: number })[]> {
  await requireApp(service.pool, appId)
  const { starts, end } = intervalsBetween(from, to, interval)
  const unit = interval.toLowerCase() as ActivityUnit
  await service.activity.flush(service.pool)
  const counted = await activityBetween(service.pool, appId, unit, starts[0] ?? end, end)
  return starts.map((at) => ({ at, ...(counted.get(at) ?? { checks: 0, records: 0 }) }))
}

export interface NearLimit {
  userId: string
  userName: string | null
  featureId: string
  featureName: string
  used: number
  budget: number
  overageEnabled: boolean
  periodEnd: number | null
}

/** Users closest to a limit, among those with recent usage. */
export async function nearLimits(call: Call, first: number | null | undefined): Promise<NearLimit[]> {
  const { appId } = call
  const { pool } = call.service
  const { now } = await requireApp(pool, appId)
  const size = pageSize(first ?? 10)
  await call.service.activity.flush(pool)
  const recent = await listRecentUsage(pool, appId)
  const catalogue = await catalogueOf(call)
  const users = await findUsers(pool, appId, [...new Set(recent.map(({ userId }) => userId))])
  const held = await holders(
    pool,
    appId,
    [...users.values()].map(({ uid }) => uid),
    now,
  )
  const metered = recent.flatMap(({ userId, featureId }) => {
    const user = users.get(userId)
    if (!user) return []
    const entitlement = userEntitlement(catalogue, featureId, held.get(user.uid) ?? null, now)
    if (entitlement.kind !== 'metered' || entitlement.allowance.budget === null) return []
    return [{ user, featureId, ...entitlement, budget: entitlement.allowance.budget }]
  })
  const used = await usedOf(
    pool,
    appId,
    metered.map(({ user, featureId, allowance, period }) => ({
      uid: user.uid,
      featureId,
      resetPeriod: allowance.resetPeriod,
      periodStart: period.start,
    })),
  )
  return metered
    .map(({ user, featureId, allowance, period, budget }, i) => ({
      userId: user.id,
      userName: user.name ?? user.email,
      featureId,
      featureName: catalogue.features.get(featureId)?.name ?? featureId,
      used: used[i] ?? 0,
      budget,
      overageEnabled: allowance.overageEnabled,
      periodEnd: period.end,
    }))
    .sort((a, b) => b.used / Math.max(b.budget, 1) - a.used / Math.max(a.budget, 1))
    .slice(0, size)
}

export const EVENT_KINDS = ['USAGE', 'SUBSCRIBED', 'CANCELLED', 'CHANGE'] as const

export interface LatestEvent {
  id: string
  kind: (typeof EVENT_KINDS)[number]
  at: number
  parts: Sentence
  userId: string | null
  featureId: string | null
  packageId: string | null
}

/** Recent events: usage, subscriptions, and changes by members. */
export async function latestEvents(call: Call, first: number | null | undefined): Promise<LatestEvent[]> {
  const { appId } = call
  const { pool } = call.service
  const { now } = await requireApp(pool, appId)
  const size = pageSize(first ?? 20)
  await call.service.activity.flush(pool)
  const usage = (await listRecentUsage(pool, appId)).slice(0, size)
  const newest = { after: null, oldestFirst: false, most: 2 * size }
  const { rows: subscriptions } = await filteredSubscriptions(
    pool,
    appId,
    ALL_SUBSCRIPTIONS,
    newest,
    size,
    now,
  )
  const { rows: changes } = await searchAudit(pool, { ...EVERYTHING, appId, actorKind: 'MEMBER' }, null, size)
  const catalogue = await catalogueOf(call)
  const users = await findUsers(pool, appId, [...new Set(usage.map(({ userId }) => userId))])
  const described = await describeEntries(pool, changes)
  const user = (id: string, name: string | null | undefined): SentencePart =>
    named(name ?? id, { kind: 'USER', appId, id })
  const recent = (id: string): SentencePart => {
    const found = users.get(id)
    return found ? user(id, found.name) : named(id, null)
  }
  const feature = (id: string): SentencePart => {
    const found = catalogue.features.get(id)
    return named(found?.name ?? id, found ? { kind: 'FEATURE', appId, id } : null)
  }
  const pack = (id: string): SentencePart => {
    const found = catalogue.packages.get(id)
    return named(found?.name ?? id, found ? { kind: 'PACKAGE', appId, id } : null)
  }
  const nothing = { userId: null, featureId: null, packageId: null }
  const events: LatestEvent[] = [
    ...usage.map(({ userId, featureId, used, budget, recordedAt }) => ({
      ...nothing,
      id: `usage:${userId}:${featureId}`,
      kind: 'USAGE' as const,
      at: recordedAt,
      // Without a budget of the plan, credits or a pool pay, which the counter does not show.
      parts:
        budget === 0
          ? say`${recent(userId)} used ${feature(featureId)}`
          : say`${recent(userId)} has used ${used}${budget === null ? '' : say` of ${budget}`} of ${feature(featureId)}`,
      userId,
      featureId,
    })),
    ...subscriptions.flatMap((s) => {
      const { userId, packageId } = s
      const ended = endedAt(s, now)
      const made = { ...nothing, userId, packageId }
      const began: LatestEvent = {
        ...made,
        id: `subscribed:${s.id}`,
        kind: 'SUBSCRIBED',
        at: s.startedAt,
        parts: say`${user(userId, s.userName)} subscribed to ${pack(packageId)}`,
      }
      const end: LatestEvent | null =
        ended === null
          ? null
          : {
              ...made,
              id: `cancelled:${s.id}`,
              kind: 'CANCELLED',
              at: ended,
              parts: say`The subscription of ${user(userId, s.userName)} to ${pack(packageId)} ended`,
            }
      return end ? [began, end] : [began]
    }),
    ...described.map((change) => ({
      ...nothing,
      id: `change:${change.seq}`,
      kind: 'CHANGE' as const,
      at: change.at,
      parts: say`${change.by} ${change.parts}`,
    })),
  ]
  return events.sort((a, b) => b.at - a.at).slice(0, size)
}
