import type { ProviderCheckout } from '../../billing/provider.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import { type CheckoutSession, settleCheckoutSession } from '../../store/checkout-sessions.ts'
import { findProviderSubscription } from '../../store/provider-subscriptions.ts'
import { isGiven } from '../../store/subscriptions.ts'
import type { Service } from '../call/call.ts'
import { applyBilling, type PaidSubscription } from './apply-billing.ts'
import { providerOf } from './provider-of.ts'
import { syncSubscription } from './sync-subscription.ts'

/** Whoever writes meanwhile is at most a handful. */
const TRIES = 10

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
  if (!checkout) return
  const session = await settle(service, at, checkout)
  if (session?.state !== 'PAID') return
  if (checkout.subscriptionRef !== null) {
    await syncSubscription(service, { ...at, ref: checkout.subscriptionRef })
  } else {
    await grantForGood(service, at, checkout, session)
  }
}

/** Our own session as it stands by that; null where the link is none of this app's. */
export async function settle(
  { pool }: Service,
  { appId, provider }: At,
  { sessionId, ref, state, paidAt }: ProviderCheckout,
): Promise<CheckoutSession | null> {
  if (sessionId === null || !isIdentifier(sessionId)) return null
  return settleCheckoutSession(pool, appId, provider, sessionId, ref, state, paidAt)
}

/** Paid once: a subscription that nobody renews and that ends only by hand. It counts from the payment on. */
async function grantForGood(
  service: Service,
  at: At,
  checkout: ProviderCheckout,
  session: CheckoutSession,
): Promise<void> {
  const { pool } = service
  for (let attempt = 1; attempt <= TRIES; attempt++) {
    // What was paid for once is given once.
    if (await isGiven(pool, at.appId, at.provider, checkout.ref)) return
    const known = await findProviderSubscription(pool, at.appId, at.provider, checkout.ref)
    const paidAt = known?.paidAt ?? session.paidAt ?? checkout.paidAt
    if (paidAt === null) throw new Error(`the checkout ${checkout.ref} is paid and has no time`)
    const startsAt = checkout.startsAt ?? paidAt
    const paid: PaidSubscription = {
      ref: checkout.ref,
      sessionId: session.id,
      customer: checkout.customer,
      status: 'paid',
      standing: 'live',
      settled: true,
      priceIds: session.items.map(({ priceId }) => priceId),
      madeAt: startsAt,
      anchor: startsAt,
      paidUntil: null,
      cancelAt: null,
      endedAt: null,
      pastDueSince: null,
      paidAt,
      forGood: true,
      paymentRef: checkout.paymentRef ?? checkout.ref,
    }
    if (await applyBilling(service, { ...at, ref: checkout.ref }, paid, known, session.userUid)) return
  }
  throw new Error(`the payment ${checkout.ref} kept changing while it was written down`)
}
