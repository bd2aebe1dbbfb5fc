import { creditState } from './credit.ts'
import { changedFields } from './event.ts'
import type { JsonObject } from './metadata.ts'
import { type Change, type Made, timeIn } from './row-change.ts'
import { isoOrNull } from './time.ts'

// The events of rows of the table `credit`.

export function creditEvents({ at, operation, before, after, userId }: Change): Made[] {
  if (!after) return []
  const is = creditObject(after, userId, at)
  if (operation === 'INSERT' || !before) return [{ type: 'credit.added', object: is }]
  const was = creditObject(before, userId, at)
  const previous = changedFields(was, is)
  if (!previous) return []
  const becomes = (state: string) => is.state === state && was.state !== state
  if (becomes('VOIDED')) return [{ type: 'credit.voided', object: is, previous }]
  // Less is left of one that was refunded, but nobody used it.
  if (becomes('SPENT') && !('amount' in previous)) return [{ type: 'credit.spent', object: is, previous }]
  return [{ type: 'credit.changed', object: is, previous }]
}

/** A row of the table `credit`, as payloads show it. */
export function creditObject(row: JsonObject, userId: string | null, at: number): JsonObject {
  const [amount, used] = [Number(row.amount), Number(row.used)]
  const [effectiveAt, expiresAt] = [timeIn(row.effective_at), timeIn(row.expires_at)]
  const voidedAt = timeIn(row.voided_at)
  return {
    id: row.id ?? null,
    userId,
    featureId: row.feature_id ?? null,
    amount,
    used,
    kind: row.kind ?? null,
    priority: row.priority ?? null,
    effectiveAt: isoOrNull(effectiveAt),
    expiresAt: isoOrNull(expiresAt),
    state: creditState({ amount, used, effectiveAt: effectiveAt ?? at, expiresAt, voidedAt }, at),
    reason: row.reason ?? null,
  }
}
