import { type Credit, creditState } from './credit.ts'
import { changedFields, type EventData, FORMAT_VERSION } from './event.ts'
import type { JsonObject } from './metadata.ts'
import { type Change, type Made, timeIn } from './row-change.ts'
import { isoOrNull } from './time.ts'

// Events of credits. The call that takes or returns units makes its own event; all others are derived from changed rows of the
// table `credit`.

export function creditEvents({ at, operation, before, after, userId }: Change): Made[] {
  if (!after) return []
  const is = creditObject(after, userId, at)
  if (operation === 'INSERT' || !before) return [{ type: 'credit.added', object: is }]
  const previous = changedFields(creditObject(before, userId, at), is)
  if (!previous) return []
  const isVoided = is.state === 'VOIDED' && 'state' in previous
  return [{ type: isVoided ? 'credit.voided' : 'credit.changed', object: is, previous }]
}

/** The event of units that were taken or returned. Null unless the credit is now spent, or no longer spent. */
export function creditUsedEvent(
  credit: Credit,
  usedBefore: number,
  userId: string,
  at: number,
): { type: 'credit.spent' | 'credit.changed'; data: EventData } | null {
  const isSpent = credit.used >= credit.amount
  if (isSpent === usedBefore >= credit.amount) return null
  const object = payloadOf(credit, userId, at)
  const state = creditState({ ...credit, used: usedBefore }, at)
  const previous = { used: usedBefore, ...(state !== object.state && { state }) }
  // Always within the size of an event, so it is not measured.
  const data = { version: FORMAT_VERSION, object, previous }
  return { type: isSpent ? 'credit.spent' : 'credit.changed', data }
}

/** A row of the table `credit`, as payloads show it. */
export const creditObject = (row: JsonObject, userId: string | null, at: number): JsonObject =>
  payloadOf(
    {
      id: String(row.id),
      featureId: String(row.feature_id),
      amount: Number(row.amount),
      used: Number(row.used),
      kind: row.kind as Credit['kind'],
      priority: Number(row.priority),
      effectiveAt: timeIn(row.effective_at) ?? at,
      expiresAt: timeIn(row.expires_at),
      voidedAt: timeIn(row.voided_at),
      reason: typeof row.reason === 'string' ? row.reason : null,
    },
    userId,
    at,
  )

function payloadOf(credit: Credit, userId: string | null, at: number): JsonObject {
  const { id, featureId, amount, used, kind, priority, effectiveAt, expiresAt, reason } = credit
  const times = { effectiveAt: isoOrNull(effectiveAt), expiresAt: isoOrNull(expiresAt) }
  const state = creditState(credit, at)
  return { id, userId, featureId, amount, used, kind, priority, ...times, state, reason }
}
