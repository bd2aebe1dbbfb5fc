import type Stripe from 'stripe'
import { itemsAfter, sameItems } from '../price-change.ts'
import {
  type BilledItem,
  type ChangeQuote,
  type PriceChange,
  type PriceChangeTime,
  ProviderError,
} from '../provider.ts'
import { asked, idOf } from './asked.ts'
import { releaseSchedule, scheduleItems } from './schedule.ts'
import { BILLING_STATUS, itemsOf, scheduledOf } from './subscription.ts'

/** Stripe's preview of the invoice that the change results in. */
export async function previewInvoice(
  stripe: Stripe,
  ref: string,
  change: PriceChange,
  when: PriceChangeTime,
): Promise<ChangeQuote> {
  const { current, after } = await planned(stripe, ref, change, when)
  const { currency } = current
  if (sameItems(after, itemsOf(current))) return { credit: 0, charge: 0, currency }
  const invoice = await asked(() =>
    stripe.invoices.createPreview({
      subscription: ref,
      subscription_details: {
        items: [itemChange(current, change)],
        // Without proration it is the invoice of the first period at the new price.
        proration_behavior: when === 'now' ? 'always_invoice' : 'none',
      },
    }),
  )
  const amounts = invoice.lines.data.filter((line) => isOfChange(line, change, when)).map(afterDiscounts)
  const sum = (sign: 1 | -1) => amounts.reduce((total, amount) => total + Math.max(sign * amount, 0), 0)
  return { credit: sum(-1), charge: sum(1), currency }
}

/** A discount is either included in the amount or listed beside it. It brings the amount closer to zero. */
function afterDiscounts({ amount, discount_amounts: discounts }: Stripe.InvoiceLineItem): number {
  const off = (discounts ?? []).reduce((sum, discount) => sum + Math.abs(discount.amount), 0)
  return Math.sign(amount) * Math.max(Math.abs(amount) - off, 0)
}

/** An invoice may contain other lines: pending items of the customer, and the other prices on the bill. */
function isOfChange(
  { parent, pricing }: Stripe.InvoiceLineItem,
  { to }: PriceChange,
  when: PriceChangeTime,
): boolean {
  const proration =
    parent?.subscription_item_details?.proration ?? parent?.invoice_item_details?.proration ?? false
  return when === 'now' && proration ? true : !proration && pricing?.price_details?.price === to
}

export async function changePrice(
  stripe: Stripe,
  ref: string,
  change: PriceChange,
  when: PriceChangeTime,
): Promise<void> {
  const { current, after } = await planned(stripe, ref, change, when)
  const before = scheduledOf(current)?.items ?? null
  if (sameItems(after, itemsOf(current))) return releaseSchedule(stripe, current)
  if (when === 'period end') {
    if (before && sameItems(before, after)) return
    if (current.schedule === null) await takeBackEnd(stripe, current)
    return scheduleItems(stripe, current, itemsOf(current), after)
  }
  await releaseSchedule(stripe, current)
  try {
    await asked(() =>
      stripe.subscriptions.update(ref, {
        items: [itemChange(current, change)],
        proration_behavior: 'always_invoice',
        payment_behavior: 'error_if_incomplete',
      }),
    )
  } catch (error) {
    // The scheduled change is kept, unless this change was made and only its response was lost.
    const found = before && (await asked(() => stripe.subscriptions.retrieve(ref)))
    if (found && sameItems(itemsOf(found), itemsOf(current)))
      await scheduleItems(stripe, found, itemsOf(found), before)
    throw error
  }
}

export async function dropScheduledChange(stripe: Stripe, ref: string): Promise<void> {
  const current = await asked(() => stripe.subscriptions.retrieve(ref))
  await releaseSchedule(stripe, current)
}

export async function takeBackEnd(stripe: Stripe, current: Stripe.Subscription): Promise<void> {
  const { id } = current
  if (current.cancel_at_period_end) {
    await asked(() => stripe.subscriptions.update(id, { cancel_at_period_end: false }))
  } else if (current.cancel_at !== null) {
    await asked(() => stripe.subscriptions.update(id, { cancel_at: '' }))
  }
}

async function planned(
  stripe: Stripe,
  ref: string,
  change: PriceChange,
  when: PriceChangeTime,
): Promise<{ current: Stripe.Subscription; after: BilledItem[] }> {
  const current = await asked(() => stripe.subscriptions.retrieve(ref, { expand: ['schedule'] }))
  const after = itemsAfter(itemsOf(current), change)
  const billingStatus = BILLING_STATUS[current.status]
  if (billingStatus === 'past due' && when === 'now') {
    throw new ProviderError('refused', 'a payment is past due and has to be paid first')
  }
  if (billingStatus !== 'live' && billingStatus !== 'past due') {
    throw new ProviderError('refused', `the subscription is ${current.status}`)
  }
  return { current, after }
}

function itemChange({ items }: Stripe.Subscription, { from, to, quantity }: PriceChange) {
  const item = items.data.find(({ price }) => idOf(price) === from)
  if (!item) throw new ProviderError('refused', `the price ${from} is not part of the subscription`)
  return { id: item.id, price: to, quantity }
}
