import type Stripe from 'stripe'
import type { ProviderPayment } from '../provider.ts'

/** Drafts, voided invoices, free invoices and invoices without a payment attempt are not payments. */
export function paymentFrom(invoice: Stripe.Invoice): ProviderPayment[] {
  const { id, status, currency, attempted, created, status_transitions: times } = invoice
  if (id === undefined) return []
  if (status === 'paid' && invoice.amount_paid > 0) {
    const at = (times.paid_at ?? created) * 1000
    return [{ ref: id, state: 'PAID', amount: invoice.amount_paid, currency, at }]
  }
  const due = status === 'uncollectible' || (status === 'open' && attempted)
  if (!due || invoice.amount_remaining <= 0) return []
  return [{ ref: id, state: 'FAILED', amount: invoice.amount_remaining, currency, at: created * 1000 }]
}
