import { closeUnanswered, openCheckouts } from '../../store/checkout-sessions.ts'
import { type Tx, transaction } from '../../store/database.ts'
import { addJobs } from '../../store/jobs.ts'
import { liveProviderSubscriptions } from '../../store/provider-subscriptions.ts'
import type { Service } from '../call/service.ts'

/**
 * Finds what was lost: queues questions to the providers about every link that may still be paid, and about the
 * subscriptions that should have changed by now, or all of them. Returns how many. Links that no provider ever answered
 * for are closed.
 */
export function reconcile(service: Service, appId: string | null, which: 'due' | 'all'): Promise<number> {
  return transaction(service.pool, (tx) => askAgain(tx, appId, which))
}

export async function askAgain(tx: Tx, appId: string | null, which: 'due' | 'all'): Promise<number> {
  await closeUnanswered(tx, appId)
  const checkouts = await openCheckouts(tx, appId, which)
  const subscriptions = await liveProviderSubscriptions(tx, appId, which)
  await addJobs(tx, 'sync-checkout', checkouts)
  await addJobs(tx, 'sync-subscription', subscriptions)
  return checkouts.length + subscriptions.length
}
