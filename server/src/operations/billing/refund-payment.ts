import { exponentOf } from '../../domain/currency.ts'
import { badUserInput, creditNotFound } from '../../domain/errors.ts'
import { checkIdentifier, isIdentifier } from '../../domain/identifier.ts'
import { REFUND_REASONS, type RefundReason } from '../../domain/reversal.ts'
import { type BillPayment, paymentsOfBill } from '../../store/billing/payments.ts'
import { findProviderSubscription } from '../../store/billing/provider-subscriptions.ts'
import { findPurchase } from '../../store/credits/credits.ts'
import { addJob } from '../../store/jobs/jobs.ts'
import type { Call } from '../call/call.ts'
import { mutate } from '../call/mutate.ts'
import { askingProvider, providerOf } from './provider-of.ts'
import { subscriptionPayments } from './user-payments.ts'

/** The refundable amount of a payment, as reported by its provider. */
export interface RefundPreview {
  provider: string
  paymentRef: string
  /** minor units */
  amount: number
  refunded: number
  remaining: number
  currency: string
  decimals: number
}

/** Purpose of a payment. */
type PaidFor = { subscriptionId: string } | { creditId: string }

export async function refundPreview(
  call: Call,
  paidFor: PaidFor,
  paymentRef: string,
): Promise<RefundPreview> {
  return previewOf(call, await requirePayment(call, paidFor, paymentRef))
}

interface RefundInput {
  paidFor: PaidFor
  paymentRef: string
  /** null: the rest */
  amount: number | null
  reason: RefundReason
  /** A repeated call with this key refunds once. */
  key: string
}

/** Refunds a payment at its provider, in part or in full. The provider's report of it is applied soon after. */
export async function refundPayment(call: Call, input: RefundInput): Promise<RefundPreview> {
  const { service, appId } = call
  const { paidFor, paymentRef, reason } = input
  checkIdentifier('key', input.key)
  if (!REFUND_REASONS.includes(reason))
    throw badUserInput(`reason must be one of ${REFUND_REASONS.join(', ')}`, 'reason')
  const payment = await requirePayment(call, paidFor, paymentRef)
  const { provider, subscriptionRef } = payment
  const amount = input.amount ?? (await previewOf(call, payment)).remaining
  if (!Number.isInteger(amount) || amount < 1 || amount > payment.amount)
    throw badUserInput(`amount must be from 1 to ${payment.amount}, in minor units`, 'amount')
  const key = `${appId}/${paymentRef}/${input.key}`
  await askingProvider(provider, async () =>
    (await providerOf(service, appId, provider)).refund(paymentRef, { amount, reason, key }),
  )
  await mutate(call, async (tx) => {
    const at = { appId, provider, ref: subscriptionRef }
    const known = await findProviderSubscription(tx, appId, provider, subscriptionRef)
    await addJob(tx, known?.status === 'paid' ? 'sync-checkout' : 'sync-subscription', at)
    return true
  })
  return previewOf(call, payment)
}

type RefundablePayment = Pick<BillPayment, 'provider' | 'ref' | 'subscriptionRef' | 'amount' | 'currency'>

async function requirePayment(call: Call, paidFor: PaidFor, paymentRef: string): Promise<RefundablePayment> {
  const payments =
    'creditId' in paidFor
      ? await creditPayments(call, paidFor.creditId)
      : await subscriptionPayments(call, paidFor.subscriptionId)
  const found = payments.find(({ ref, state }) => ref === paymentRef && state === 'PAID')
  if (!found) {
    const what = 'creditId' in paidFor ? 'credit' : 'subscription'
    throw badUserInput(`Payment not found for this ${what}`, 'paymentRef')
  }
  return found
}

/** The payment that bought a credit; none if it was not bought through a payment link. */
async function creditPayments({ service, appId }: Call, id: string): Promise<BillPayment[]> {
  if (!isIdentifier(id)) throw creditNotFound(id)
  const bought = await findPurchase(service.pool, appId, id)
  if (!bought) throw creditNotFound(id)
  const { provider, ref } = bought
  return provider === null || ref === null ? [] : paymentsOfBill(service.pool, { appId, provider, ref }, 1)
}

async function previewOf(call: Call, { provider, ref, currency }: RefundablePayment): Promise<RefundPreview> {
  const { service, appId } = call
  const said = await askingProvider(provider, async () =>
    (await providerOf(service, appId, provider)).fetchRefundable(ref),
  )
  if (!said) throw badUserInput('The payment no longer exists at its provider', 'paymentRef')
  const decimals = exponentOf(provider, currency)
  return { provider, paymentRef: ref, ...said, remaining: said.amount - said.refunded, currency, decimals }
}
