import type { Catalogue } from '../../domain/catalogue.ts'
import { entitlementObject, entitlementsData, entitlementsOf } from '../../domain/entitlements-payload.ts'
import type { NewEvent } from '../../domain/event.ts'
import type { Tx } from '../../store/connection/database.ts'
import { holders, usedOf } from '../../store/subscriptions/subscribers.ts'

/**
 * The event `entitlements.changed` of these users, as they are now. It is composed when it is published, so an event with a
 * higher sequence has the later state.
 */
export async function entitlementEvents(
  tx: Tx,
  { appId, catalogue, now }: { appId: string; catalogue: Catalogue; now: number },
  /** by uid */
  userIds: ReadonlyMap<number, string>,
): Promise<NewEvent[]> {
  const held = await holders(tx, appId, [...userIds.keys()], now)
  const users = [...userIds].map(([uid, userId]) => {
    const holder = held.get(uid) ?? { live: [], overrides: null }
    return { uid, userId, entitlements: entitlementsOf(catalogue, holder, now) }
  })
  const counters = users.flatMap(({ uid, entitlements }) =>
    entitlements.flatMap(({ featureId, entitlement }) => {
      if (entitlement.kind !== 'metered') return []
      const { resetPeriod } = entitlement.allowance
      return [{ uid, featureId, resetPeriod, periodStart: entitlement.period.start }]
    }),
  )
  const used = await usedOf(tx, appId, counters)
  let next = 0
  return users.map(({ uid, userId, entitlements }) => {
    const objects = entitlements.map(({ featureId, entitlement }) =>
      entitlementObject(featureId, entitlement, entitlement.kind === 'metered' ? (used[next++] ?? 0) : 0),
    )
    const data = entitlementsData(userId, objects)
    return { appId, type: 'entitlements.changed', at: now, userUid: uid, userId, data }
  })
}
