import type { ProviderCheckout } from '../../billing/provider.ts'
import { MAX_PROVIDER_READS } from '../../domain/limits.ts'
import type { ProviderRef } from '../../domain/provider-ref.ts'
import type { CheckoutSession } from '../../store/billing/checkout-sessions.ts'
import { findProviderSubscription } from '../../store/billing/provider-subscriptions.ts'
import type { Service } from '../call/service.ts'
import { applyBilling, type PaidSubscription } from './apply-billing.ts'
import { followCheckout } from './follow-checkout.ts'
import { followOneOff } from './follow-payments.ts'
import { providerOf } from './provider-of.ts'
import { syncSubscription } from './sync-subscription.ts'

/** Fetches a payment link from the provider and applies its state. */
export async function syncCheckout(service: Service, at: ProviderRef): Promise<void> {
  const provider = await providerOf(service, at.appId, at.provider)
  const checkout = await provider.fetchCheckout(at.ref)
  if (!checkout) return
  const session = await followCheckout(service, at, checkout)
  if (session?.state !== 'PAID') return
  if (checkout.subscriptionRef !== null) {
    await syncSubscription(service, { ...at, ref: checkout.subscriptionRef })
  } else {
    await grantForGood(service, at, checkout, session)
  }
}

/** A one-off payment: a subscription that never renews, has no end, and starts with the payment. */
async function grantForGood(
  service: Service,
  at: ProviderRef,
  checkout: ProviderCheckout,
  session: CheckoutSession,
): Promise<void> {
  const { pool } = service
  for (let attempt = 1; attempt <= MAX_PROVIDER_READS; attempt++) {
    const known = await findProviderSubscription(pool, at.appId, at.provider, checkout.ref)
    const paidAt = known?.paidAt ?? session.paidAt ?? checkout.paidAt
    if (paidAt === null) throw new Error(`the paid checkout ${checkout.ref} has no payment time`)
    const startsAt = checkout.startsAt ?? paidAt
    const paid: PaidSubscription = {
      ref: checkout.ref,
      sessionId: session.id,
      customer: checkout.customer,
      status: 'paid',
      billingStatus: 'live',
      final: true,
      items: session.items.map(({ priceId }) => ({ priceId, quantity: 1 })),
      scheduled: null,
      trialEndsAt: null,
      triedUntil: null,
      madeAt: startsAt,
      anchor: startsAt,
      paidUntil: null,
      cancelAt: null,
      endedAt: null,
      pastDueSince: null,
      reversal: checkout.reversal,
      paidAt,
      forGood: true,
      paymentRef: checkout.paymentRef ?? checkout.ref,
    }
    if (
      await applyBilling(
        service,
        { ...at, ref: checkout.ref },
        paid,
        known,
        known?.userUid ?? session.userUid,
      )
    ) {
      await followOneOff(service, at, checkout)
      return
    }
  }
  throw new Error(`the payment ${checkout.ref} was modified concurrently too often`)
}
