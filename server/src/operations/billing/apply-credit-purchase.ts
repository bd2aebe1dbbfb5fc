import { SANDBOX_CUSTOMERS } from '../../billing/customer-refs.ts'
import type { ProviderCheckout } from '../../billing/provider.ts'
import { DEFAULT_PRIORITY } from '../../domain/credit.ts'
import { expiryOf, type SoldCredits, unitsLeft } from '../../domain/credit-sale.ts'
import { TollgateError } from '../../domain/errors.ts'
import { providerName } from '../../domain/provider-name.ts'
import type { ProviderRef } from '../../domain/provider-ref.ts'
import type { Payment } from '../../domain/reversal.ts'
import { heldOf } from '../../domain/split.ts'
import { accessAfterRefund } from '../../store/apps/apps.ts'
import { insertAuditEntry } from '../../store/audit/audit.ts'
import { snapshot } from '../../store/audit/snapshots.ts'
import type { CheckoutSession } from '../../store/billing/checkout-sessions.ts'
import { deleteDeclinedCharge } from '../../store/billing/payments.ts'
import {
  type ProviderSubscriptionRow,
  writeProviderSubscription,
} from '../../store/billing/provider-subscriptions.ts'
import { transaction } from '../../store/connection/database.ts'
import { findBoughtCredit, setCreditAmount } from '../../store/credits/credits.ts'
import { endRechargeAttempt, forgetDeclines } from '../../store/credits/recharges.ts'
import { keepBillingId } from '../../store/users/users.ts'
import type { Service } from '../call/service.ts'
import { writeCredit } from '../credits/add-credit.ts'
import { type Spender, withSpender, writeBurn } from '../credits/mutate-spender.ts'
import { BillingProblem } from './billing-problem.ts'

interface PaidCredits {
  checkout: ProviderCheckout
  session: CheckoutSession
  credits: SoldCredits
  paidAt: number
  /** the stored version from before the provider was asked */
  known: ProviderSubscriptionRow | null
}

/**
 * Applies a provider's report of paid credits, all or nothing: one credit for the payment, with as many units as refunds
 * and disputes leave. Returns false if the report has been written since `known` was read.
 */
export function applyCreditPurchase(
  service: Service,
  at: ProviderRef,
  purchase: PaidCredits,
): Promise<boolean> {
  const { userUid: uid } = purchase.session
  if (uid === null) throw new Error('a payment link for credits has no user')
  const { featureId } = purchase.credits
  return transaction(service.pool, async (tx) => {
    // The user was deleted meanwhile, along with the data about this payment: start again.
    const written = await withSpender(service, tx, { appId: at.appId, uid, featureId }, (spender) =>
      applyLocked(spender, at, purchase),
    )
    return written ?? false
  })
}

async function applyLocked(spender: Spender, at: ProviderRef, purchase: PaidCredits): Promise<boolean> {
  const { tx, user } = spender
  const { appId, provider, ref } = at
  const { checkout, session, paidAt, known } = purchase
  const reversals = checkout.reversal?.payments ?? known?.reversals ?? []
  const written = await writeProviderSubscription(tx, appId, provider, ref, {
    userUid: user.uid,
    customerRef: checkout.customer?.ref ?? known?.customerRef ?? null,
    status: 'paid',
    madeAt: checkout.startsAt ?? paidAt,
    paidAt,
    paidUntil: null,
    pastDueSince: null,
    live: false,
    anchor: null,
    interval: null,
    reversals,
    accessEndedAt: null,
    items: session.items.map(({ priceId, quantity }) => ({ priceId, quantity: quantity ?? 1 })),
    trialEndsAt: null,
    billingState: 'active',
    version: known?.version ?? 0,
  })
  if (!written) return false
  if (checkout.customer) await keepBillingId(tx, appId, user.uid, checkout.customer.ref, SANDBOX_CUSTOMERS)
  const counted = (await accessAfterRefund(tx, appId)) === 'END' ? reversals : []
  const id = `crd_${session.id.replace(/^ses_/, '')}`
  const before = await snapshot(tx, 'credit', appId, id)
  if (before) await adjustCredit(spender, at, counted)
  else await grantCredit(spender, at, id, purchase, counted)
  const recharged = await endRechargeAttempt(tx, appId, session.id, 'PAID')
  if (recharged) {
    await forgetDeclines(tx, { appId, ...recharged })
    await deleteDeclinedCharge(tx, { appId, provider, ref: session.id })
  }
  const after = await snapshot(tx, 'credit', appId, id)
  if (JSON.stringify(before) === JSON.stringify(after)) return true
  await insertAuditEntry(tx, {
    actorKind: 'PROVIDER',
    memberEmail: provider,
    appId,
    operation: 'syncCredit',
    subjectKind: 'credit',
    subjectId: id,
    before,
    after,
  })
  return true
}

/** It can be used from now on, also if the payment is known late. */
async function grantCredit(
  spender: Spender,
  { provider, ref }: ProviderRef,
  id: string,
  { checkout, credits }: PaidCredits,
  reversals: readonly Payment[],
): Promise<void> {
  const { now } = spender
  const { featureId, units } = credits
  const credit = {
    id,
    featureId,
    amount: unitsLeft(units, 0, reversals),
    kind: 'PAID' as const,
    priority: DEFAULT_PRIORITY,
    effectiveAt: now,
    expiresAt: expiryOf(credits, now),
    reason: null,
  }
  try {
    await writeCredit(spender, credit, { provider, ref, units, paid: checkout.paid })
  } catch (error) {
    if (!(error instanceof TollgateError) || error.code !== 'BAD_USER_INPUT') throw error
    throw new BillingProblem(
      ref,
      `${error.message} Void credits of the user and replay this event, or refund the payment ${checkout.paymentRef ?? ref} at ${providerName(provider)}.`,
    )
  }
}

/** Used and reserved units stay. */
async function adjustCredit(spender: Spender, at: ProviderRef, reversals: readonly Payment[]): Promise<void> {
  const { tx, spending } = spender
  const credit = await findBoughtCredit(tx, at)
  if (!credit || credit.bought === null) throw new Error(`the credit of ${at.ref} is not its purchase`)
  const reserved = heldOf(spending.held.filter((part) => part.credit === credit.id))
  const amount = unitsLeft(credit.bought, credit.used + reserved, reversals)
  if (amount === credit.amount) return
  await setCreditAmount(tx, at.appId, credit.id, amount)
  await writeBurn(spender, null)
}
