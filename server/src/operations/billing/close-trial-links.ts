import { findApp } from '../../store/apps/apps.ts'
import { checkoutsOfUser } from '../../store/billing/checkout-sessions.ts'
import type { Tx } from '../../store/connection/database.ts'
import { addJob } from '../../store/jobs/jobs.ts'
import { subscriptionsOfUser } from '../../store/subscriptions/subscriptions.ts'
import type { Service } from '../call/service.ts'
import { providerOf } from './provider-of.ts'

/** Closes the user's open links with a trial that the user has had since. A new link is charged immediately. */
export async function closeTrialLinks(
  service: Service,
  { appId, userUid }: { appId: string; userUid: number },
): Promise<void> {
  const app = await findApp(service.pool, appId)
  if (!app) return
  const held = await subscriptionsOfUser(service.pool, appId, userUid, app.now)
  const tried = new Set(held.filter((s) => s.trialEndsAt !== null).map((s) => s.packageId))
  const links = await checkoutsOfUser(service.pool, appId, userUid)
  for (const { provider, providerRef, state, terms, items } of links) {
    const promises =
      terms.trialDays !== null && items.some(({ packageId }) => packageId !== null && tried.has(packageId))
    if (state !== 'OPEN' || providerRef === null || !promises) continue
    await (await providerOf(service, appId, provider)).closeCheckout(providerRef)
  }
}

/** Schedules that for after the commit. */
export function trialLinksToClose(tx: Tx, appId: string, userUid: number): Promise<void> {
  return addJob(tx, 'close-trial-links', { appId, userUid }, `close-trial-links:${appId}:${userUid}`)
}
