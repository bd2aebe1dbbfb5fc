import { closeUnanswered, openCheckouts } from '../../store/billing/checkout-sessions.ts'
import {
  type AskAbout,
  endedProviderSubscriptions,
  liveProviderSubscriptions,
} from '../../store/billing/provider-subscriptions.ts'
import { type Tx, transaction } from '../../store/connection/database.ts'
import { addJobs } from '../../store/jobs/jobs.ts'
import type { Service } from '../call/service.ts'

/** Longer than disputes and refunds usually take. */
const REFUNDABLE_DAYS = 180

/**
 * Queues requests to the providers about every link that can still be paid, and about subscriptions: those that should
 * have changed by now, or all of them including ended ones that may still be refunded. Returns their number. Links that
 * were never created at a provider are closed.
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
  const ended = which === 'all' ? await endedProviderSubscriptions(tx, appId, REFUNDABLE_DAYS) : []
  await ask(tx, ended)
  return checkouts.length + subscriptions.length + ended.length
}

/** Queues requests about subscriptions and one-off payments. */
export async function ask(tx: Tx, about: readonly AskAbout[]): Promise<void> {
  const refsOf = (wanted: boolean) => about.flatMap(({ oneOff, ...ref }) => (oneOff === wanted ? [ref] : []))
  await addJobs(tx, 'sync-checkout', refsOf(true))
  await addJobs(tx, 'sync-subscription', refsOf(false))
}
