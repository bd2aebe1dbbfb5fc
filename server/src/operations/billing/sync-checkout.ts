import type { ProviderCheckout } from '../../billing/provider.ts'
import { MAX_PROVIDER_READS } from '../../domain/limits.ts'
import type { ProviderRef } from '../../domain/provider-ref.ts'
import type { CheckoutSession } from '../../store/billing/checkout-sessions.ts'
import {
  findProviderSubscription,
  type ProviderSubscriptionRow,
} from '../../store/billing/provider-subscriptions.ts'
import type { Service } from '../call/service.ts'
import { applyBilling, type PaidSubscription } from './apply-billing.ts'
import { applyCreditPurchase } from './apply-credit-purchase.ts'
import { declineRecharge } from './decline-recharge.ts'
import { followCheckout } from './follow-checkout.ts'
import { followOneOff } from './follow-payments.ts'
import { providerOf } from './provider-of.ts'
import { syncSubscription } from './sync-subscription.ts'

/**
 * Fetches a payment link from the provider and applies its state. No lock is held meanwhile: the state of a one-off
 * payment is written only if nobody has written since, otherwise it is fetched again.
 */
export async function syncCheckout(service: Service, at: ProviderRef): Promise<void> {
  const provider = await providerOf(service, at.appId, at.provider)
  for (let attempt = 1; attempt <= MAX_PROVIDER_READS; attempt++) {
    const known = await findProviderSubscription(service.pool, at.appId, at.provider, at.ref)
    const checkout = await provider.fetchCheckout(at.ref)
    if (!checkout) return
    const session = await followCheckout(service, at, checkout)
    if (session?.state === 'FAILED' && session.credits !== null)
      await declineRecharge(service, at.appId, session, { hard: false, reason: 'The card was declined.' })
    if (session?.state !== 'PAID') return
    if (checkout.subscriptionRef !== null) {
      return syncSubscription(service, { ...at, ref: checkout.subscriptionRef })
    }
    if (await applyOneOff(service, at, checkout, session, known)) {
      return followOneOff(service, at, checkout)
    }
  }
  throw new Error(`the payment ${at.ref} was modified concurrently too often`)
}

/** False: it has been written since `known` was read. */
async function applyOneOff(
  service: Service,
  at: ProviderRef,
  checkout: ProviderCheckout,
  session: CheckoutSession,
  known: ProviderSubscriptionRow | null,
): Promise<boolean> {
  const paidAt = known?.paidAt ?? session.paidAt ?? checkout.paidAt
  if (paidAt === null) throw new Error(`the paid checkout ${checkout.ref} has no payment time`)
  if (session.credits !== null) {
    return applyCreditPurchase(service, at, { checkout, session, credits: session.credits, paidAt, known })
  }
  return grantForGood(service, at, { checkout, session, paidAt, known })
}

interface OneOff {
  checkout: ProviderCheckout
  session: CheckoutSession
  paidAt: number
  known: ProviderSubscriptionRow | null
}

/** A subscription that never renews, has no end, and starts with the payment. */
function grantForGood(
  service: Service,
  at: ProviderRef,
  { checkout, session, paidAt, known }: OneOff,
): Promise<boolean> {
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
  return applyBilling(service, at, paid, known, known?.userUid ?? session.userUid)
}
