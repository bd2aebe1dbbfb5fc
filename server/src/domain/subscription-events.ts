import { changedFields } from './event.ts'
import type { JsonObject } from './metadata.ts'
import { type Change, type Made, timeIn } from './row-change.ts'
import { statusAt } from './subscription.ts'
import { isoOrNull } from './time.ts'

// The events of rows of the table `subscription`.

export function subscriptionEvents(change: Change, together: readonly Change[]): Made[] {
  const { at, operation, before, after, userId } = change
  const [was, is] = [
    before && subscriptionObject(before, userId, at),
    after && subscriptionObject(after, userId, at),
  ]
  if (operation === 'INSERT' && is) {
    if (is.status === 'SCHEDULED') return [{ type: 'subscription.change_scheduled', object: is }]
    return [
      { type: 'subscription.created', object: is },
      ...trialStarted(null, is, at),
      ...replacements(change, is, together),
    ]
  }
  if (operation === 'DELETE' && was) {
    const cancelled = { ...was, status: 'CANCELLED', cancelledAt: isoOrNull(at) }
    return was.status === 'SCHEDULED'
      ? [
          {
            type: 'subscription.cancelled',
            object: cancelled,
            previous: { status: was.status, cancelledAt: null },
          },
        ]
      : []
  }
  if (!was || !is || !before || !after) return []
  const previous = changedFields(was, is)
  if (!previous) return []
  if (after.cancelled_at !== null && before.cancelled_at === null) {
    // By the clock: its event is due then.
    if (!endedByHand(change)) return []
    const ends = { object: is, previous }
    const inTrial = typeof was.trialEndsAt === 'string' && Date.parse(was.trialEndsAt) > at
    const replaced = together.some((other) => isNewPlan(other, after))
    return [
      ...(before.cancel_at === null && !replaced
        ? [{ type: 'subscription.cancelled' as const, ...ends }]
        : []),
      { type: 'subscription.ended', ...ends },
      ...(inTrial ? [{ type: 'trial.ended' as const, ...ends }] : []),
    ]
  }
  // It has taken over, by the clock.
  if (before.follows !== null && after.follows === null) return []
  if (is.status === 'SCHEDULED') return [{ type: 'subscription.change_scheduled', object: is, previous }]
  const cancels = before.cancel_at === null && after.cancel_at !== null
  if (cancels) {
    const followed = together.some(
      (other) =>
        other.kind === 'SUBSCRIPTION' && other.operation === 'INSERT' && other.after?.follows === after.id,
    )
    return followed ? [] : [{ type: 'subscription.cancelled', object: is, previous }]
  }
  return [{ type: 'subscription.changed', object: is, previous }, ...trialStarted(was, is, at)]
}

/** A new plan in place of another one that ended in the same transaction is a change of it too. */
function replacements(change: Change, is: JsonObject, together: readonly Change[]): Made[] {
  const replaced = together.find((other) => endedByHand(other) && isNewPlan(change, other.after))
  if (!replaced?.after) return []
  const { id, package_id: packageId, quantity } = replaced.after
  const previous = changedFields({ id, packageId, quantity } as JsonObject, is)
  return [{ type: 'subscription.changed', object: is, previous }]
}

/** Whether the row is of a subscription that ended now, and not by the clock. */
const endedByHand = ({ kind, operation, before, after }: Change): boolean =>
  kind === 'SUBSCRIPTION' &&
  operation === 'UPDATE' &&
  before?.cancelled_at === null &&
  after !== null &&
  after.cancelled_at !== null &&
  after.cancelled_at !== after.cancel_at

/** Whether a row is a new subscription that replaces one that ended. */
const isNewPlan = ({ kind, operation, userUid, after }: Change, ended: JsonObject | null): boolean =>
  ended !== null &&
  kind === 'SUBSCRIPTION' &&
  operation === 'INSERT' &&
  after !== null &&
  after.follows === null &&
  userUid === ended.user_uid &&
  after.is_addon === ended.is_addon &&
  (after.is_addon === false || after.package_id === ended.package_id)

function trialStarted(was: JsonObject | null, is: JsonObject, at: number): Made[] {
  const ends = (shown: JsonObject | null) =>
    typeof shown?.trialEndsAt === 'string' && Date.parse(shown.trialEndsAt) > at
  return ends(is) && !ends(was) ? [{ type: 'trial.started', object: is }] : []
}

/** A row of the table `subscription`, as payloads show it. */
export function subscriptionObject(row: JsonObject, userId: string | null, at: number): JsonObject {
  const [cancelAt, cancelledAt, startedAt] = [
    timeIn(row.cancel_at),
    timeIn(row.cancelled_at),
    timeIn(row.started_at),
  ]
  const isPlanned = row.follows !== null && startedAt !== null && startedAt > at
  return {
    id: row.id ?? null,
    userId,
    packageId: row.package_id ?? null,
    isAddon: row.is_addon ?? null,
    status: isPlanned && cancelledAt === null ? 'SCHEDULED' : statusAt({ cancelAt, cancelledAt }, at),
    startedAt: isoOrNull(startedAt),
    trialEndsAt: isoOrNull(timeIn(row.trial_ends_at)),
    cancelAt: isoOrNull(cancelAt),
    cancelledAt: isoOrNull(cancelledAt),
    quantity: row.quantity ?? null,
    follows: row.follows ?? null,
    metadata: row.metadata ?? {},
  }
}
