import type { ProviderRef } from '../../domain/provider-ref.ts'
import { insertFoundFailure } from '../../store/billing/notices.ts'
import type { Service } from '../call/service.ts'
import { BillingProblem } from './billing-problem.ts'
import { syncCheckout } from './sync-checkout.ts'
import { syncSubscription } from './sync-subscription.ts'

/**
 * Fetches an object without a webhook event. Problems that someone has to fix are stored as an event, because nobody
 * sees failed jobs.
 */
export async function askAboutCheckout(service: Service, at: ProviderRef): Promise<void> {
  await telling(service, at, 'checkout.session.reconciled', () => syncCheckout(service, at))
}

export async function askAboutSubscription(service: Service, at: ProviderRef): Promise<void> {
  await telling(service, at, 'customer.subscription.reconciled', () => syncSubscription(service, at))
}

async function telling(
  service: Service,
  at: ProviderRef,
  type: string,
  ask: () => Promise<void>,
): Promise<void> {
  const { appId, provider, ref } = at
  try {
    await ask()
  } catch (error) {
    if (!(error instanceof BillingProblem)) throw error
    const { message, ref: paymentRef } = error
    service.log.warn({ err: error, appId, provider, ref }, 'a payment could not be applied')
    await insertFoundFailure(service.pool, appId, { provider, type, ref, message, paymentRef })
  }
}
