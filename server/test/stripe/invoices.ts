import Stripe from 'stripe'
import { payInvoice } from './charges.ts'
import { discounted } from './discounts.ts'
import { whole } from './lists.ts'
import { idOf, type NewLine, type World } from './world.ts'

interface NewInvoice {
  customer: string
  currency: string
  reason: Stripe.Invoice.BillingReason
  subscription: Stripe.Subscription | null
  lines: NewLine[]
  description?: string | null
}

/** An invoice as a draft. */
export function createInvoice(world: World, given: NewInvoice): Stripe.Invoice {
  const invoice = buildInvoice(world, given)
  world.invoices.set(invoice.id, invoice)
  world.emit('invoice.created', invoice)
  return invoice
}

/** An invoice that nobody has been told of yet. */
export function buildInvoice(world: World, given: NewInvoice): Stripe.Invoice {
  const id = world.id('in')
  const lines = given.lines.map((line) => invoiceLine(world, id, given, line))
  const subtotal = lines.reduce((sum, { amount }) => sum + amount, 0)
  const discounts = discountsOf(lines)
  const total = subtotal - discounts.reduce((sum, { amount }) => sum + amount, 0)
  const customer = world.customer(given.customer)
  return {
    id,
    object: 'invoice',
    account_country: 'US',
    account_name: 'Stand-in',
    account_tax_ids: null,
    amount_due: Math.max(total, 0),
    amount_overpaid: 0,
    amount_paid: 0,
    amount_remaining: Math.max(total, 0),
    amount_shipping: 0,
    application: null,
    attempt_count: 0,
    attempted: false,
    auto_advance: true,
    automatic_tax: { disabled_reason: null, enabled: false, liability: null, provider: null, status: null },
    automatically_finalizes_at: null,
    billing_reason: given.reason,
    collection_method: 'charge_automatically',
    created: world.now,
    currency: given.currency,
    custom_fields: null,
    customer: customer.id,
    customer_account: null,
    customer_address: null,
    customer_email: customer.email,
    customer_name: customer.name ?? null,
    customer_phone: null,
    customer_shipping: null,
    customer_tax_exempt: 'none',
    default_payment_method: null,
    default_source: null,
    default_tax_rates: [],
    description: given.description ?? null,
    discounts: given.subscription?.discounts ?? [],
    due_date: null,
    effective_at: null,
    ending_balance: null,
    footer: null,
    from_invoice: null,
    issuer: { type: 'self' },
    last_finalization_error: null,
    latest_revision: null,
    lines: whole(`/v1/invoices/${id}/lines`, lines),
    livemode: false,
    metadata: {},
    next_payment_attempt: null,
    number: null,
    on_behalf_of: null,
    parent: given.subscription && {
      quote_details: null,
      subscription_details: { metadata: given.subscription.metadata, subscription: given.subscription.id },
      type: 'subscription_details',
    },
    payment_settings: { default_mandate: null, payment_method_options: null, payment_method_types: null },
    period_end: world.now,
    period_start: world.now,
    post_payment_credit_notes_amount: 0,
    pre_payment_credit_notes_amount: 0,
    receipt_number: null,
    rendering: null,
    shipping_cost: null,
    shipping_details: null,
    starting_balance: 0,
    statement_descriptor: null,
    status: 'draft',
    status_transitions: { finalized_at: null, marked_uncollectible_at: null, paid_at: null, voided_at: null },
    subtotal,
    subtotal_excluding_tax: subtotal,
    test_clock: null,
    total,
    total_discount_amounts: discounts,
    total_excluding_tax: total,
    total_pretax_credit_amounts: [],
    total_taxes: [],
    webhooks_delivered_at: null,
  }
}

/** What each discount takes off all lines together. */
function discountsOf(lines: readonly Stripe.InvoiceLineItem[]): Stripe.Invoice.TotalDiscountAmount[] {
  const amounts = new Map<string, number>()
  for (const { amount, discount } of lines.flatMap(({ discount_amounts }) => discount_amounts ?? [])) {
    const id = idOf(discount) ?? ''
    amounts.set(id, (amounts.get(id) ?? 0) + amount)
  }
  return [...amounts].map(([discount, amount]) => ({ amount, discount }))
}

function invoiceLine(
  world: World,
  invoice: string,
  given: NewInvoice,
  line: NewLine,
): Stripe.InvoiceLineItem {
  const product = line.price && idOf(line.price.product)
  const after = discounted(world, given.subscription, line)
  return {
    id: world.id('il'),
    object: 'line_item',
    ...after,
    currency: line.currency,
    description: line.description,
    invoice,
    livemode: false,
    metadata: {},
    parent:
      given.subscription && line.subscriptionItem
        ? {
            invoice_item_details: null,
            subscription_item_details: {
              invoice_item: null,
              proration: line.proration ?? false,
              proration_details: null,
              subscription: given.subscription.id,
              subscription_item: line.subscriptionItem,
            },
            type: 'subscription_item_details',
          }
        : null,
    period: line.period,
    pretax_credit_amounts: [],
    pricing:
      line.price && product
        ? {
            price_details: { price: line.price.id, product },
            type: 'price_details',
            unit_amount_decimal: line.price.unit_amount_decimal,
          }
        : null,
    quantity: line.quantity,
    quantity_decimal: Stripe.Decimal.from(line.quantity),
    subscription: given.subscription?.id ?? null,
    subtotal: after.amount,
    taxes: [],
  }
}

export function finalize(world: World, invoice: Stripe.Invoice): void {
  if (invoice.status !== 'draft') return
  settleBalance(world, invoice)
  invoice.status = 'open'
  invoice.number = `STAND-${invoice.id.slice(-6)}`
  invoice.effective_at = world.now
  invoice.status_transitions.finalized_at = world.now
  world.emit('invoice.finalized', invoice)
}

/** What is owed to the customer comes off what is due; what an invoice gives back is owed to them. */
function settleBalance(world: World, invoice: Stripe.Invoice): void {
  const customer = world.customers.get(idOf(invoice.customer) ?? '')
  if (!customer || customer.deleted) return
  const total = invoice.total + customer.balance
  invoice.starting_balance = customer.balance
  invoice.amount_due = Math.max(total, 0)
  invoice.amount_remaining = invoice.amount_due
  customer.balance = Math.min(total, 0)
  invoice.ending_balance = customer.balance
}

/** Marks an invoice as paid. What becomes of its subscription is told by the caller. */
export function markPaid(world: World, invoice: Stripe.Invoice): void {
  finalize(world, invoice)
  Object.assign(invoice, {
    status: 'paid',
    attempted: true,
    attempt_count: invoice.attempt_count + (invoice.amount_due > 0 ? 1 : 0),
    amount_paid: invoice.amount_due,
    amount_remaining: 0,
    next_payment_attempt: null,
  })
  invoice.status_transitions.paid_at = world.now
  if (invoice.amount_due > 0) payInvoice(world, invoice)
  world.emit('invoice.paid', invoice)
  world.emit('invoice.payment_succeeded', invoice)
}

const A_DAY = 86_400

export function markFailed(world: World, invoice: Stripe.Invoice, { retry }: { retry: boolean }): void {
  finalize(world, invoice)
  invoice.attempted = true
  invoice.attempt_count += 1
  invoice.next_payment_attempt = retry ? world.now + 3 * A_DAY : null
  world.emit('invoice.payment_failed', invoice)
}

export const subscriptionOf = (invoice: Stripe.Invoice): string | null =>
  idOf(invoice.parent?.subscription_details?.subscription)
