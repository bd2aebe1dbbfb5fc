import type Stripe from 'stripe'
import { parseUrl } from '../../src/domain/url.ts'
import { priceFrom } from './catalogue.ts'
import type { Form } from './form.ts'
import { invalid, missingParameter } from './refusals.ts'
import type { World } from './world.ts'

const MODES = ['subscription', 'payment'] as const

/** Parameters of Checkout that change nothing here: how its page looks and what else it would ask for. */
const IGNORED = [
  'automatic_tax',
  'billing_address_collection',
  'consent_collection',
  'custom_text',
  'customer_update',
  'integration_identifier',
  'invoice_creation',
  'locale',
  'origin_context',
  'phone_number_collection',
  'saved_payment_method_options',
  'submit_type',
  'tax_id_collection',
]

const HALF_AN_HOUR = 1800
const A_DAY = 86_400

function address(form: Form, name: string): string | null {
  const value = form.text(name)
  if (value === undefined) return null
  if (!parseUrl(value) || !/^https?:/.test(value)) throw invalid('Not a valid URL', name, 'url_invalid')
  return value
}

function lineItem(world: World, form: Form): Stripe.LineItem {
  const inline = form.form('price_data')
  const price = inline ? priceFrom(world, inline) : world.price(form.required('price'), form.path('price'))
  if (!price.active) {
    throw invalid(
      `The price specified is inactive. This field only accepts active prices.`,
      form.path('price'),
    )
  }
  const quantity = form.integer('quantity')
  if (quantity === undefined) throw missingParameter(form.path('quantity'))
  const amount = (price.unit_amount ?? 0) * quantity
  const product = world.products.get(String(price.product))
  return {
    id: world.id('li'),
    object: 'item',
    adjustable_quantity: null,
    amount_discount: 0,
    amount_subtotal: amount,
    amount_tax: 0,
    amount_total: amount,
    currency: price.currency,
    description: product?.name ?? null,
    metadata: {},
    price,
    quantity,
  }
}

function checkItems(mode: (typeof MODES)[number], items: Stripe.LineItem[]): void {
  const recurring = items.flatMap(({ price }) => (price?.recurring ? [price.recurring] : []))
  if (items.length === 0) throw missingParameter('line_items')
  if (mode === 'payment' && recurring.length > 0) {
    throw invalid('You specified `payment` mode but passed a recurring price.', 'mode')
  }
  if (mode === 'subscription' && recurring.length === 0) {
    throw invalid('You must provide at least one recurring price in `subscription` mode.', 'mode')
  }
  if (new Set(items.map(({ currency }) => currency)).size > 1) {
    throw invalid('All line items must have the same currency.', 'line_items')
  }
  if (new Set(recurring.map((one) => `${one.interval} ${one.interval_count}`)).size > 1) {
    throw invalid('Checkout does not support multiple prices with different billing intervals.', 'line_items')
  }
}

/** A session as its parameters ask for it, or a refusal in Stripe's words. */
export function createSession(world: World, form: Form): Stripe.Checkout.Session {
  const mode = form.word('mode', MODES)
  if (!mode) throw missingParameter('mode')
  const successUrl = address(form, 'success_url')
  if (successUrl === null) throw missingParameter('success_url')
  const customer = form.text('customer')
  const email = form.text('customer_email')
  if (customer && email)
    throw invalid('You may only specify one of these parameters: customer, customer_email.')
  const creation = form.word('customer_creation', ['always', 'if_required'])
  if (creation && mode === 'subscription') {
    throw invalid('`customer_creation` can only be used in `payment` and `setup` mode.', 'customer_creation')
  }
  const items = form.forms('line_items').map((item) => lineItem(world, item))
  checkItems(mode, items)
  const expiresAt = form.integer('expires_at') ?? world.now + A_DAY
  if (expiresAt < world.now + HALF_AN_HOUR || expiresAt > world.now + A_DAY) {
    throw invalid('The `expires_at` timestamp must be between 30 minutes and 24 hours ahead.', 'expires_at')
  }
  const reference = form.text('client_reference_id') ?? null
  if (reference && reference.length > 200) throw invalid('Invalid string: too long', 'client_reference_id')
  const methods = form.texts('payment_method_types')
  form.without(...IGNORED)
  const id = world.id('cs_test')
  keepPromise(world, id, mode, form)
  const total = items.reduce((sum, item) => sum + item.amount_total, 0)
  const session: Stripe.Checkout.Session = {
    id,
    object: 'checkout.session',
    adaptive_pricing: { enabled: false },
    after_expiration: null,
    allow_promotion_codes: form.flag('allow_promotion_codes') ?? null,
    allowed_payment_method_types: null,
    amount_subtotal: total,
    amount_total: total,
    automatic_tax: { enabled: false, liability: null, provider: null, status: null },
    billing_address_collection: null,
    cancel_url: address(form, 'cancel_url'),
    client_reference_id: reference,
    client_secret: null,
    collected_information: null,
    consent: null,
    consent_collection: null,
    created: world.now,
    currency: items[0]?.currency ?? null,
    currency_conversion: null,
    custom_fields: [],
    custom_text: {
      after_submit: null,
      shipping_address: null,
      submit: null,
      terms_of_service_acceptance: null,
    },
    customer: customer ? world.customer(customer).id : null,
    customer_account: null,
    customer_creation: mode === 'subscription' ? 'always' : (creation ?? 'if_required'),
    customer_details: null,
    customer_email: email ?? null,
    discounts: [],
    expires_at: expiresAt,
    integration_identifier: null,
    invoice: null,
    invoice_creation: null,
    livemode: false,
    locale: null,
    managed_payments: null,
    metadata: form.metadata(),
    mode,
    origin_context: null,
    payment_intent: null,
    payment_link: null,
    payment_method_collection: form.word('payment_method_collection', ['always', 'if_required']) ?? 'always',
    payment_method_configuration_details: null,
    payment_method_options: {},
    payment_method_types: methods.length > 0 ? methods : ['card'],
    payment_status: 'unpaid',
    permissions: null,
    recovered_from: null,
    saved_payment_method_options: null,
    setup_intent: null,
    shipping_address_collection: null,
    shipping_cost: null,
    shipping_options: [],
    status: 'open',
    submit_type: null,
    subscription: null,
    success_url: successUrl,
    total_details: { amount_discount: 0, amount_shipping: 0, amount_tax: 0 },
    ui_mode: 'hosted_page',
    url: `${world.url}/c/pay/${id}`,
    wallet_options: null,
  }
  world.sessions.set(id, session)
  world.lineItems.set(id, items)
  return session
}

function keepPromise(world: World, session: string, mode: (typeof MODES)[number], form: Form): void {
  const [own, other] =
    mode === 'subscription'
      ? ['subscription_data', 'payment_intent_data']
      : ['payment_intent_data', 'subscription_data']
  if (form.has(other)) throw invalid(`You can not pass \`${other}\` in \`${mode}\` mode.`, other)
  const data = form.form(own)
  data?.without('description', 'proration_behavior', 'billing_mode', 'shipping')
  const ending = data?.form('trial_settings')?.form('end_behavior')
  world.promises.set(session, {
    metadata: data?.metadata() ?? {},
    savesMethod: data?.word('setup_future_usage', ['off_session', 'on_session']) !== undefined,
    trialDays: data?.integer('trial_period_days') ?? 0,
    missingMethod:
      ending?.word('missing_payment_method', ['pause', 'cancel', 'create_invoice']) ?? 'create_invoice',
    anchor: data?.integer('billing_cycle_anchor') ?? null,
  })
}

export function expire(world: World, session: Stripe.Checkout.Session): void {
  if (session.status !== 'open')
    throw invalid('Only Checkout Sessions with a status of `open` can be expired.')
  session.status = 'expired'
  session.url = null
  world.emit('checkout.session.expired', session)
}
