import { paymentsOf, reverse } from '../../billing/sandbox/reversals.ts'
import { findSandboxSubscription as findInBooks } from '../../billing/sandbox/subscription-books.ts'
import { badUserInput, creditNotFound } from '../../domain/errors.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import type { SandboxReversal } from '../../domain/reversal.ts'
import type { HomeDb } from '../../store/connection/places.ts'
import { findPurchase } from '../../store/credits/credits.ts'
import type { SubscriptionRow } from '../../store/subscriptions/subscriptions.ts'
import { type Call, momentOf } from '../call/call.ts'
import { mutate } from '../call/mutate.ts'
import { requireSubscription } from '../call/require.ts'
import { type PaymentAt, paymentsAt } from '../subscriptions/subscription-billing.ts'
import { askingProvider, sandboxIsOn } from './provider-of.ts'

/** Sandbox payments for a subscription, newest first; none for one paid elsewhere. */
export async function sandboxPayments(call: Call, subscriptionId: string): Promise<PaymentAt[]> {
  const { service, appId } = call
  const { now } = await momentOf(call)
  const subscription = await requireSubscription(service.pool, appId, subscriptionId, now)
  return paidFor(service.pool, subscription, now)
}

/** Simulates a refund or a dispute. It takes effect by a webhook event, as with any provider. */
export function reverseSandboxPayment(
  call: Call,
  subscriptionId: string,
  paymentRef: string,
  wanted: { action: SandboxReversal; amount: number | null },
): Promise<PaymentAt> {
  const { service, appId } = call
  return mutate(call, async (tx, moment) => {
    const { now } = await moment()
    const subscription = await requireSubscription(tx, appId, subscriptionId, now)
    const isPayment = ({ ref }: PaymentAt) => ref === paymentRef
    if (!(await paidFor(tx, subscription, now)).some(isPayment))
      throw badUserInput('Sandbox payment not found for this subscription', 'paymentRef')
    const isOn = sandboxIsOn(service.billing)
    await askingProvider('sandbox', () => reverse(tx, appId, paymentRef, wanted, isOn))
    const after = (await paidFor(tx, subscription, now)).find(isPayment)
    if (!after) throw new Error(`the payment ${paymentRef} no longer exists`)
    return after
  })
}

/** The sandbox payment of a bought credit; none for one paid elsewhere. */
export async function sandboxCreditPayments(call: Call, creditId: string): Promise<PaymentAt[]> {
  await momentOf(call)
  return paidForCredit(call.service.pool, call.appId, creditId)
}

/** The same for a payment that bought a credit. */
export function reverseSandboxCredit(
  call: Call,
  creditId: string,
  wanted: { action: SandboxReversal; amount: number | null },
): Promise<PaymentAt> {
  const { service, appId } = call
  return mutate(call, async (tx) => {
    const [payment] = await paidForCredit(tx, appId, creditId)
    if (!payment) throw badUserInput('The credit was not bought in the sandbox', 'creditId')
    const isOn = sandboxIsOn(service.billing)
    await askingProvider('sandbox', () => reverse(tx, appId, payment.ref, wanted, isOn))
    const [after] = await paidForCredit(tx, appId, creditId)
    if (!after) throw new Error(`the payment ${payment.ref} no longer exists`)
    return after
  })
}

async function paidForCredit(db: HomeDb, appId: string, creditId: string): Promise<PaymentAt[]> {
  const bought = isIdentifier(creditId) ? await findPurchase(db, appId, creditId) : null
  if (!bought) throw creditNotFound(creditId)
  if (bought.provider !== 'sandbox' || bought.ref === null) return []
  const payments = await paymentsOf(db, appId, bought.ref, null)
  return payments.map((payment) => ({ ...payment, provider: 'sandbox' }))
}

async function paidFor(
  db: HomeDb,
  { id, appId, userUid, provider, providerRef: ref }: SubscriptionRow,
  now: number,
): Promise<PaymentAt[]> {
  if (provider !== 'sandbox' || ref === null) return []
  const payments = await paymentsOf(db, appId, ref, await findInBooks(db, appId, ref))
  return paymentsAt(db, { appId, provider, ref }, userUid, id, payments, now)
}
