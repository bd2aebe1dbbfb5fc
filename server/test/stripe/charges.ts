import type Stripe from 'stripe'
import { idOf, type World } from './world.ts'

interface NewCharge {
  amount: number
  currency: string
  customer: string | null
  method: string | null
  metadata?: Stripe.Metadata
  /** false: the method takes days to tell */
  paid: boolean
}

/** Charges a payment method: a payment intent, and the charge that it made. */
export function charged(world: World, given: NewCharge): Stripe.PaymentIntent {
  const { amount, currency, customer, method, metadata = {}, paid } = given
  const [intentId, chargeId] = [world.id('pi'), world.id('ch')]
  const charge: Stripe.Charge = {
    id: chargeId,
    object: 'charge',
    amount,
    amount_captured: paid ? amount : 0,
    amount_refunded: 0,
    application: null,
    application_fee: null,
    application_fee_amount: null,
    balance_transaction: null,
    billing_details: { address: null, email: null, name: null, phone: null, tax_id: null },
    calculated_statement_descriptor: null,
    captured: true,
    created: world.now,
    currency,
    customer,
    description: null,
    disputed: false,
    failure_balance_transaction: null,
    failure_code: null,
    failure_message: null,
    fraud_details: null,
    livemode: false,
    metadata: {},
    on_behalf_of: null,
    outcome: null,
    paid,
    payment_intent: intentId,
    payment_method: method,
    payment_method_details: null,
    receipt_email: null,
    receipt_number: null,
    receipt_url: null,
    refunded: false,
    review: null,
    shipping: null,
    source: null,
    source_transfer: null,
    statement_descriptor: null,
    statement_descriptor_suffix: null,
    status: paid ? 'succeeded' : 'pending',
    transfer_data: null,
    transfer_group: null,
  }
  world.charges.set(chargeId, charge)
  const intent: Stripe.PaymentIntent = {
    id: intentId,
    object: 'payment_intent',
    allowed_payment_method_types: null,
    amount,
    amount_capturable: 0,
    amount_received: paid ? amount : 0,
    application: null,
    application_fee_amount: null,
    automatic_payment_methods: null,
    canceled_at: null,
    cancellation_reason: null,
    capture_method: 'automatic_async',
    client_secret: null,
    confirmation_method: 'automatic',
    created: world.now,
    currency,
    customer,
    customer_account: null,
    description: null,
    excluded_payment_method_types: null,
    last_payment_error: null,
    latest_charge: chargeId,
    livemode: false,
    managed_payments: null,
    metadata,
    next_action: null,
    on_behalf_of: null,
    payment_method: method,
    payment_method_configuration_details: null,
    payment_method_options: null,
    payment_method_types: ['card'],
    payment_record: null,
    processing: null,
    receipt_email: null,
    review: null,
    setup_future_usage: null,
    shipping: null,
    source: null,
    statement_descriptor: null,
    statement_descriptor_suffix: null,
    status: paid ? 'succeeded' : 'processing',
    transfer_group: null,
  }
  world.paymentIntents.set(intentId, intent)
  return intent
}

/** The payment of an invoice, by a charge of its own. */
export function payInvoice(world: World, invoice: Stripe.Invoice): void {
  const intent = charged(world, {
    amount: invoice.amount_due,
    currency: invoice.currency,
    customer: idOf(invoice.customer),
    method: null,
    paid: true,
  })
  const payment: Stripe.InvoicePayment = {
    id: world.id('inpay'),
    object: 'invoice_payment',
    amount_paid: invoice.amount_due,
    amount_requested: invoice.amount_due,
    created: world.now,
    currency: invoice.currency,
    invoice: invoice.id,
    is_default: true,
    livemode: false,
    payment: { payment_intent: intent.id, type: 'payment_intent' },
    status: 'paid',
    status_transitions: { canceled_at: null, paid_at: world.now },
  }
  world.invoicePayments.set(payment.id, payment)
}
