import type { ProviderCheckout, ProviderSubscription } from '../../billing/provider.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import {
  type CheckoutState,
  findCheckoutSession,
  settleCheckoutSession,
} from '../../store/checkout-sessions.ts'
import { findProviderSubscription } from '../../store/provider-subscriptions.ts'
import type { Service } from '../call.ts'
import { applyBilling } from './apply-billing.ts'
import { providerOf } from './provider-of.ts'
import { syncSubscription } from './sync-subscription.ts'

/** Where something is at a provider. */
export interface At {
  appId: string
  provider: string
  ref: string
}

/** Asks the provider what became of a payment link, and makes it so. */
export async function syncCheckout(service: Service, at: At): Promise<void> {
  const provider = await providerOf(service, at.appId, at.provider)
  const checkout = await provider.fetchCheckout(at.ref)
  if (!checkout || (await settle(service, at, checkout)) !== 'PAID') return
  if (checkout.subscriptionRef !== null) {
    await syncSubscription(service, { ...at, ref: checkout.subscriptionRef })
  } else {
    await grantForGood(service, at, checkout)
  }
}

/** The state of our own session by that; null where the link is none of this app's. */
export async function settle(
  { pool }: Service,
  { appId, provider }: At,
  { sessionId, ref, state }: ProviderCheckout,
): Promise<CheckoutState | null> {
  if (sessionId === null || !isIdentifier(sessionId)) return null
  return settleCheckoutSession(pool, appId, provider, sessionId, ref, state)
}

/** Paid once: a subscription that nobody renews and that ends only by hand. */
async function grantForGood(service: Service, at: At, checkout: ProviderCheckout): Promise<void> {
  const { pool } = service
  const known = await findProviderSubscription(pool, at.appId, at.provider, checkout.ref)
  const session = await findCheckoutSession(pool, at.appId, checkout.sessionId ?? '')
  // What was paid for once was given once.
  if (known || !session) return
  const paid: ProviderSubscription = {
    ref: checkout.ref,
    sessionId: session.id,
    customer: checkout.customer,
    status: 'paid',
    standing: 'live',
    settled: true,
    priceIds: session.items.map(({ priceId }) => priceId),
    madeAt: checkout.madeAt,
    anchor: checkout.madeAt,
    paidUntil: null,
    cancelAt: null,
    endedAt: null,
    pastDueSince: null,
  }
  await applyBilling(service, { ...at, ref: checkout.ref }, paid, null, session.userUid)
}
