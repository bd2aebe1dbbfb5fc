import type Stripe from 'stripe'
import type { PaymentPurpose } from '../provider.ts'
import { idOf } from './asked.ts'
import { SESSION } from './checkout.ts'
import { ifPermitted } from './reversals.ts'

/** Purpose of a payment: the subscription of its invoice, or the checkout of a one-off purchase. */
export async function purposeOf(stripe: Stripe, ref: string): Promise<PaymentPurpose | null> {
  const intent = ref.startsWith('pi_') ? ref : idOf((await stripe.charges.retrieve(ref)).payment_intent)
  if (intent === null) return null
  const payment = { type: 'payment_intent', payment_intent: intent } as const
  const [paid] = (await stripe.invoicePayments.list({ payment, limit: 1 })).data
  const invoice = idOf(paid?.invoice)
  if (invoice !== null) {
    const { parent } = await stripe.invoices.retrieve(invoice)
    const subscriptionRef = idOf(parent?.subscription_details?.subscription)
    return subscriptionRef === null ? null : { subscriptionRef }
  }
  const [session] = (await stripe.checkout.sessions.list({ payment_intent: intent, limit: 1 })).data
  if (session) return { checkoutRef: session.id }
  // A charge of a saved card has no checkout session.
  const charge = await ifPermitted(() => stripe.paymentIntents.retrieve(intent))
  return charge?.metadata[SESSION] === undefined ? null : { checkoutRef: intent }
}
