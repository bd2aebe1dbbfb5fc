import type { BillingProvider, ProviderSubscription } from '../../billing/provider.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import { MAX_PROVIDER_READS } from '../../domain/limits.ts'
import type { ProviderRef } from '../../domain/provider-ref.ts'
import { findCheckoutSession } from '../../store/billing/checkout-sessions.ts'
import {
  findProviderSubscription,
  type ProviderSubscriptionRow,
} from '../../store/billing/provider-subscriptions.ts'
import { findUserByBillingId } from '../../store/users/users.ts'
import type { Service } from '../call/service.ts'
import { applyBilling } from './apply-billing.ts'
import { followCheckout } from './follow-checkout.ts'
import { followPayments } from './follow-payments.ts'
import { untilFree } from './lease-waits.ts'
import { providerOf } from './provider-of.ts'

/**
 * Fetches the current state of a subscription and applies it. No lock is held meanwhile: the result is written only if
 * nobody has written since, otherwise it is fetched again. If a change from here to the provider is in progress, it
 * waits for that.
 */
export async function syncSubscription(
  service: Service,
  at: ProviderRef,
  payments: 'ask' | 'if changed' = 'if changed',
): Promise<void> {
  const provider = await providerOf(service, at.appId, at.provider)
  for (let attempt = 1; attempt <= MAX_PROVIDER_READS; attempt++) {
    await untilFree(service, at)
    const known = await findProviderSubscription(service.pool, at.appId, at.provider, at.ref)
    const fetched = (await provider.fetchSubscription(at.ref)) ?? (known && vanished(at.ref, known))
    if (!fetched) return
    const payer = await payerOf(service, at, provider, fetched, known)
    if (payer === 'nobody of ours') return
    const { uid, paidAt } = payer
    const said = { ...fetched, paidAt, forGood: false, paymentRef: at.ref }
    if (await applyBilling(service, at, said, known, uid)) {
      if (payments === 'ask' || mayHavePaid(known, fetched)) await followPayments(service, at, provider)
      return
    }
  }
  throw new Error(`the subscription ${at.ref} was modified concurrently too often`)
}

/** Whether there may be new payments since the last fetch, as far as known without fetching invoices. */
function mayHavePaid(known: ProviderSubscriptionRow | null, now: ProviderSubscription): boolean {
  return known === null || known.paidUntil !== now.paidUntil || known.status !== now.status
}

/** A subscription that the provider no longer knows has ended. */
function vanished(ref: string, known: ProviderSubscriptionRow): ProviderSubscription {
  return {
    ref,
    sessionId: null,
    customer: null,
    status: 'canceled',
    billingStatus: 'ended',
    final: true,
    items: [],
    scheduled: null,
    trialEndsAt: null,
    triedUntil: null,
    madeAt: known.madeAt,
    anchor: known.madeAt,
    paidUntil: known.paidUntil,
    cancelAt: null,
    endedAt: null,
    pastDueSince: null,
    reversal: null,
  }
}

interface Payer {
  /** null: the payer becomes a user */
  uid: number | null
  paidAt: number
}

/** The paying user, and the time of the first payment. Subscriptions from another app's link are ignored. */
async function payerOf(
  service: Service,
  at: ProviderRef,
  provider: BillingProvider,
  fetched: ProviderSubscription,
  known: ProviderSubscriptionRow | null,
): Promise<Payer | 'nobody of ours'> {
  if (known) return { uid: known.userUid, paidAt: known.paidAt }
  const { sessionId, customer, madeAt } = fetched
  if (sessionId !== null) {
    const session = isIdentifier(sessionId)
      ? await findCheckoutSession(service.pool, at.appId, sessionId)
      : null
    if (!session || session.provider !== at.provider) return 'nobody of ours'
    const { userUid: uid, paidAt } = session
    if (session.state === 'PAID' && paidAt !== null) return { uid, paidAt }
    // It may exist before it is paid: nothing is granted until then.
    const checkout = session.providerRef === null ? null : await provider.fetchCheckout(session.providerRef)
    const now = checkout && (await followCheckout(service, at, checkout))
    return now?.state === 'PAID' ? { uid, paidAt: now.paidAt ?? madeAt } : 'nobody of ours'
  }
  // Created by hand at the provider, for a known user.
  const user = customer && (await findUserByBillingId(service.pool, at.appId, customer.ref))
  return user ? { uid: user.uid, paidAt: madeAt } : 'nobody of ours'
}
