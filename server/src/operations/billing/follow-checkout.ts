import type { ProviderCheckout } from '../../billing/provider.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import type { ProviderRef } from '../../domain/provider-ref.ts'
import { type CheckoutSession, updateCheckoutState } from '../../store/checkout-sessions.ts'
import type { Service } from '../call/service.ts'

/** Brings our own session up to what the provider says of its checkout; null if the link is none of this app's. */
export async function followCheckout(
  { pool }: Service,
  { appId, provider }: ProviderRef,
  { sessionId, ref, state, paidAt }: ProviderCheckout,
): Promise<CheckoutSession | null> {
  if (sessionId === null || !isIdentifier(sessionId)) return null
  return updateCheckoutState(pool, appId, provider, sessionId, ref, state, paidAt)
}
