import type { ProviderRef } from '../../domain/provider-ref.ts'
import type { Service } from '../call/service.ts'
import { providerOf } from './provider-of.ts'
import { syncCheckout } from './sync-checkout.ts'
import { syncSubscription } from './sync-subscription.ts'

/** After a refund or dispute: fetches what the payment was for, and then that object. */
export async function syncPayment(service: Service, at: ProviderRef): Promise<void> {
  const provider = await providerOf(service, at.appId, at.provider)
  const purpose = await provider.fetchPurpose(at.ref)
  if (!purpose) return
  if ('checkoutRef' in purpose) await syncCheckout(service, { ...at, ref: purpose.checkoutRef })
  else await syncSubscription(service, { ...at, ref: purpose.subscriptionRef })
}
