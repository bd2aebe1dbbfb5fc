import { creditEvents } from './credit-events.ts'
import { changedFields, eventData, type NewEvent } from './event.ts'
import type { JsonObject } from './metadata.ts'
import type { Override } from './override.ts'
import { paymentEvents, reversalEvents } from './payment-events.ts'
import { type Change, type Made, timeIn } from './row-change.ts'
import { subscriptionEvents } from './subscription-events.ts'
import { isoOrNull } from './time.ts'

/**
 * The events that follow from rows that changed together, in one transaction.
 *
 * Invariants (row-events.test.ts):
 * - a change of a row that no field of a payload shows is no event;
 * - a deleted user leaves one event, with ids alone;
 * - an event caused by time alone is published when it is due, not when it is scheduled.
 */

/** The rows are in the order in which they changed. */
export function eventsOfRows(changes: readonly Change[]): NewEvent[] {
  const deleted = new Set(
    changes.flatMap(({ kind, operation, userUid }) =>
      kind === 'USER' && operation === 'DELETE' ? [userUid] : [],
    ),
  )
  const published = new Set<string>()
  return changes.flatMap((change) => {
    const { appId, at, userUid, userId, kind, operation } = change
    if (userUid !== null && deleted.has(userUid) && !(kind === 'USER' && operation === 'DELETE')) return []
    return eventsOf(change, changes)
      .filter(({ type, object }) => {
        if (type !== 'package.published') return true
        // Its name and its grants are written separately.
        const name = String(object.id)
        return !published.has(name) && published.add(name)
      })
      .map(({ type, object, previous }) => ({
        appId,
        type,
        at,
        userUid,
        userId,
        data: eventData(object, previous ?? null),
      }))
  })
}

/** Whether a row affects the entitlements of a user. */
export const changesEntitlements = ({ kind, operation, before, after }: Change): boolean =>
  kind === 'SUBSCRIPTION' ||
  (kind === 'USER' &&
    operation === 'UPDATE' &&
    JSON.stringify(before?.overrides ?? null) !== JSON.stringify(after?.overrides ?? null))

function eventsOf(change: Change, together: readonly Change[]): Made[] {
  switch (change.kind) {
    case 'USER':
      return userEvents(change)
    case 'SUBSCRIPTION':
      return subscriptionEvents(change, together)
    case 'FEATURE':
      return featureEvents(change)
    case 'PACKAGE':
      return packageEvents(change)
    case 'PAYMENT':
      return paymentEvents(change)
    case 'REVERSALS':
      return reversalEvents(change)
    case 'CREDIT':
      return creditEvents(change)
  }
}

function userEvents({ operation, before, after, userId, at }: Change): Made[] {
  if (operation === 'DELETE' || !after) return [{ type: 'user.deleted', object: { id: userId } }]
  const { overrides, ...user } = after
  if (operation === 'INSERT' || !before) return [{ type: 'user.created', object: user }]
  const { overrides: had, ...was } = before
  const changed = changedFields(was, user)
  return [
    ...(changed ? [{ type: 'user.updated' as const, object: user, previous: changed }] : []),
    ...overrideEvents(
      { had: had as unknown as Override[] | null, has: overrides as unknown as Override[] | null },
      String(user.id),
      at,
    ),
  ]
}

/** An override that has expired was removed by time, which has its own event. */
function overrideEvents(
  { had, has }: { had: readonly Override[] | null; has: readonly Override[] | null },
  userId: string,
  at: number,
): Made[] {
  const named = (all: readonly Override[] | null) =>
    new Map((all ?? []).map((override) => [override.featureId, overrideObject(override, userId)]))
  const [before, after] = [named(had), named(has)]
  const expired = (featureId: string) =>
    (had ?? []).some((o) => o.featureId === featureId && o.expiresAt !== null && o.expiresAt <= at)
  const set = [...after].flatMap(([featureId, object]): Made[] => {
    const earlier = expired(featureId) ? undefined : before.get(featureId)
    if (!earlier) return [{ type: 'override.set', object }]
    const previous = changedFields(earlier, object)
    return previous ? [{ type: 'override.set', object, previous }] : []
  })
  const removed = [...before].flatMap(([featureId, object]): Made[] =>
    after.has(featureId) || expired(featureId) ? [] : [{ type: 'override.removed', object }],
  )
  return [...set, ...removed]
}

export const overrideObject = (override: Override, userId: string | null): JsonObject => ({
  userId,
  featureId: override.featureId,
  mode: override.mode,
  limit: override.limit,
  overageEnabled: override.overageEnabled,
  startedAt: isoOrNull(override.startedAt),
  expiresAt: isoOrNull(override.expiresAt),
  reason: override.reason,
})

function featureEvents({ operation, before, after }: Change): Made[] {
  const [was, is] = [before && featureObject(before), after && featureObject(after)]
  if (operation === 'INSERT' && is) return [{ type: 'feature.created', object: is }]
  if (operation === 'DELETE' && was) return [{ type: 'feature.deleted', object: was }]
  if (!was || !is) return []
  const previous = changedFields(was, is)
  if (!previous) return []
  const archives = was.archivedAt === null && is.archivedAt !== null
  return [{ type: archives ? 'feature.archived' : 'feature.updated', object: is, previous }]
}

const featureObject = (row: JsonObject): JsonObject => ({
  id: row.id ?? null,
  name: row.name ?? null,
  type: row.type ?? null,
  unitLabel: row.unit_label ?? null,
  unitLabelPlural: row.unit_label_plural ?? null,
  metadata: row.metadata ?? {},
  thresholds: row.thresholds ?? null,
  costs: row.costs ?? [],
  archivedAt: isoOrNull(timeIn(row.archived_at)),
})

/** The grants of the package are added when the event is published. */
function packageEvents({ before, after }: Change): Made[] {
  if (!before || !after) return []
  const [was, is] = [packageObject(before), packageObject(after)]
  const previous = changedFields(was, is)
  if (!previous) return []
  if (was.archivedAt === null && is.archivedAt !== null)
    return [{ type: 'package.archived', object: is, previous }]
  const isPublished = is.status === 'PUBLISHED' && !('archivedAt' in previous)
  return isPublished ? [{ type: 'package.published', object: is, previous }] : []
}

const packageObject = (row: JsonObject): JsonObject => ({
  ...row,
  archivedAt: isoOrNull(timeIn(row.archivedAt)),
})
