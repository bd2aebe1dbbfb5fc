import type { ProviderCheckout } from '../../billing/provider.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import type { ProviderRef } from '../../domain/provider-ref.ts'
import { type CheckoutSession, updateCheckoutState } from '../../store/billing/checkout-sessions.ts'
import type { Service } from '../call/service.ts'

/** Updates our session from the provider's checkout; null if the link belongs to another app. */
export async function followCheckout(
  { pool }: Service,
  { appId, provider }: ProviderRef,
  { sessionId, ref, state, paidAt }: ProviderCheckout,
): Promise<CheckoutSession | null> {
  if (sessionId === null || !isIdentifier(sessionId)) return null
  return updateCheckoutState(pool, appId, provider, sessionId, ref, state, paidAt)
}
