import { endedAt, endOfPlan } from '../../domain/subscription.ts'
import type { UserDb } from '../../store/connection/places.ts'
import type { SubscriptionRow } from '../../store/subscriptions/subscriptions.ts'
import { endAddonsWithPlan } from '../../store/subscriptions/successors.ts'

/**
 * Aligns the end of a user's add-ons with that of the base plan, `ends` (null: none). `held` is what the user had
 * before.
 */
export async function keepAddonsWithPlan(
  db: UserDb,
  appId: string,
  userUid: number,
  { held, now }: { held: readonly SubscriptionRow[]; now: number },
  ends: number | null,
): Promise<void> {
  const live = held.filter((s) => endedAt(s, now) === null)
  const base = live.find((s) => !s.isAddon)
  const was = base ? endOfPlan(base) : null
  const hasAddons = live.some((s) => s.isAddon && s.provider === null)
  if (hasAddons && was !== ends) await endAddonsWithPlan(db, appId, userUid, { was, ends })
}
