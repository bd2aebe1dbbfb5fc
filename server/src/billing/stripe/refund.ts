import type Stripe from 'stripe'
import { ProviderError, type Refund, type Refundable } from '../provider.ts'
import { asked, idOf } from './asked.ts'

/** The paid and the refunded amount of a payment intent. */
interface Part {
  payment: { payment_intent: string } | { charge: string }
  amount: number
  refunded: number
}

/** The paid and refunded amounts of an invoice or one-off payment; null: Stripe has no such payment. */
export async function fetchRefundable(stripe: Stripe, ref: string): Promise<Refundable | null> {
  const parts = await partsOf(stripe, ref)
  if (parts.length === 0) return null
  const sum = (of: 'amount' | 'refunded') => parts.reduce((total, part) => total + part[of], 0)
  return { amount: sum('amount'), refunded: sum('refunded') }
}

/** An invoice is nearly always paid at once. Otherwise the refund is taken from its payments in order. */
export async function refund(stripe: Stripe, ref: string, { amount, reason, key }: Refund): Promise<void> {
  const parts = await partsOf(stripe, ref)
  if (parts.length === 0) throw new ProviderError('refused', `the payment ${ref} does not exist`, true)
  const [only] = parts
  const shares = parts.length === 1 && only ? [{ ...only, share: amount }] : sharesOf(parts, amount)
  for (const [i, { payment, share }] of shares.entries()) {
    await asked(() =>
      stripe.refunds.create(
        { ...payment, amount: share, reason: STRIPE_REASONS[reason] },
        { idempotencyKey: `${key}/${i}` },
      ),
    )
  }
}

const STRIPE_REASONS = {
  REQUESTED_BY_CUSTOMER: 'requested_by_customer',
  DUPLICATE: 'duplicate',
  FRAUDULENT: 'fraudulent',
} as const satisfies Record<Refund['reason'], Stripe.RefundCreateParams.Reason>

function sharesOf(parts: readonly Part[], amount: number): (Part & { share: number })[] {
  const shares: (Part & { share: number })[] = []
  let left = amount
  for (const part of parts) {
    const share = Math.min(left, part.amount - part.refunded)
    if (share > 0) shares.push({ ...part, share })
    left -= share
  }
  if (left > 0) throw new ProviderError('refused', 'the refund is more than what remains of the payment')
  return shares
}

async function partsOf(stripe: Stripe, ref: string): Promise<Part[]> {
  const intents = ref.startsWith('in_') ? await intentsOf(stripe, ref) : [ref]
  const parts = await Promise.all(intents.map((intent) => partOf(stripe, intent)))
  return parts.filter((part) => part !== null)
}

async function intentsOf(stripe: Stripe, invoice: string): Promise<string[]> {
  const { data } = await asked(() => stripe.invoicePayments.list({ invoice, limit: 100 }))
  return data.flatMap(({ status, payment }) => {
    const paidBy = idOf(payment.payment_intent) ?? idOf(payment.charge)
    return status === 'paid' && paidBy !== null ? [paidBy] : []
  })
}

async function partOf(stripe: Stripe, ref: string): Promise<Part | null> {
  const charge = ref.startsWith('ch_')
    ? await asked(() => stripe.charges.retrieve(ref))
    : (await asked(() => stripe.charges.list({ payment_intent: ref, limit: 10 }))).data.find(
        ({ paid }) => paid,
      )
  if (!charge) return null
  return {
    payment: ref.startsWith('ch_') ? { charge: ref } : { payment_intent: ref },
    amount: charge.amount,
    refunded: charge.amount_refunded,
  }
}
