import { endedAt } from '../../domain/subscription.ts'
import { subscriptionsOfUser } from '../../store/subscriptions/subscriptions.ts'
import { countCounters } from '../../store/usage/usage.ts'
import { requireApp } from '../apps/apps.ts'
import type { Call } from '../call/call.ts'
import { requireUser } from '../call/require.ts'
import { liveBilling } from './end-what-is-live.ts'

export interface UserDeletion {
  liveSubscriptions: number
  paidSubscriptions: number
  openLinks: number
  pastSubscriptions: number
  counters: number
}

export async function userDeletion({ service: { pool }, appId }: Call, id: string): Promise<UserDeletion> {
  const { now } = await requireApp(pool, appId)
  const { uid } = await requireUser(pool, appId, id)
  const held = await subscriptionsOfUser(pool, appId, uid, now)
  const live = held.filter((s) => endedAt(s, now) === null)
  const { subscriptions, links } = await liveBilling(pool, appId, uid)
  return {
    liveSubscriptions: live.length,
    paidSubscriptions: subscriptions.length,
    openLinks: links.length,
    pastSubscriptions: held.length - live.length,
    counters: await pool.places.of(appId, id, (db) => countCounters(db, appId, uid)),
  }
}
