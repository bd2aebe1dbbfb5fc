import Stripe from 'stripe'
import { createPrice, createProduct } from './catalogue.ts'
import { type Payer, pay, settle } from './checkout-payment.ts'
import { expire } from './checkout-sessions.ts'
import { advance } from './clock.ts'
import { createCustomer, deleteCustomer, updateCustomer } from './customers.ts'
import { type Attempt, Delivery, type Endpoint, type Plan } from './delivery.ts'
import { giveDiscount } from './discounts.ts'
import { subscriptionOf } from './invoices.ts'
import { createPaymentMethod } from './payment-methods.ts'
import { seeded } from './random.ts'
import * as reversals from './reversals.ts'
import { ApiServer, type Asked, type Failing } from './server.ts'
import * as lifecycle from './subscription-lifecycle.ts'
import { type Behaviour, idOf, World } from './world.ts'

const TEST_KEY = 'sk_test_standin_0123456789abcdef'

interface Options {
  key?: string
  /** of the delivery plan's dice */
  seed?: number
  /** in seconds; real time unless told */
  now?: number
  /** sends each notice as soon as it happens, instead of when `deliver` is called */
  deliverAtOnce?: boolean
}

interface Catalogue {
  name: string
  amount: number
  currency?: string
  /** null: paid once */
  interval?: Stripe.Price.Recurring.Interval | null
}

/** A Stripe of one's own: its API over HTTP, and what its payers, its clock and its failures do by these functions. */
export class StripeStandIn {
  readonly key: string
  readonly world: World
  readonly #server: ApiServer
  readonly #delivery: Delivery
  #delivering: Promise<void> = Promise.resolve()
  #url = ''

  constructor(options: Options = {}) {
    this.key = options.key ?? TEST_KEY
    this.world = new World(options.now ?? Math.floor(Date.now() / 1000), Stripe.API_VERSION)
    this.#delivery = new Delivery(seeded(options.seed ?? 1))
    this.#server = new ApiServer(this.world, this.key)
    this.world.onEvent = (event) => {
      this.#delivery.add(event)
      if (options.deliverAtOnce) this.#delivering = this.#delivering.then(() => this.#delivery.deliver())
    }
  }

  async start(): Promise<void> {
    this.#url = await this.#server.listen()
    this.world.url = this.#url
  }

  async stop(): Promise<void> {
    await this.#delivering
    this.#delivery.close()
    await this.#server.close()
  }

  /** for `STRIPE_API_BASE`, and for the CLI's `--api-base` */
  get url(): string {
    return this.#url
  }

  /** The official SDK, pointed here. */
  sdk(key = this.key, config: Partial<ConstructorParameters<typeof Stripe>[1]> = {}): Stripe {
    const { hostname, port } = new URL(this.#url)
    return new Stripe(key, { host: hostname, port, protocol: 'http', telemetry: false, ...config })
  }

  /** Every request so far. */
  get asked(): readonly Asked[] {
    return this.#server.asked
  }

  /** Makes requests fail until it is told `null`. */
  fail(failing: Failing | null): void {
    this.#server.failing = failing
  }

  /* Notices */

  register(endpoint: Endpoint): () => void {
    return this.#delivery.register(endpoint)
  }

  /** Everything that happened, oldest first. */
  get events(): Stripe.Event[] {
    return [...this.world.events.values()]
  }

  get waiting(): readonly Stripe.Event[] {
    return this.#delivery.waiting
  }

  get dropped(): readonly Stripe.Event[] {
    return this.#delivery.dropped
  }

  get attempts(): readonly Attempt[] {
    return this.#delivery.attempts
  }

  async deliver(plan: Plan = {}): Promise<void> {
    await this.#delivering
    await this.#delivery.deliver(plan)
  }

  /* What happens at Stripe without a request of ours */

  /** A product with one price. */
  sell({ name, amount, currency = 'usd', interval = 'month' }: Catalogue): Stripe.Price {
    const product = createProduct(this.world, { name })
    return createPrice(this.world, { product: product.id, unit_amount: amount, currency, interval })
  }

  customer(given: { email?: string; name?: string } = {}): Stripe.Customer {
    return createCustomer(this.world, given)
  }

  paymentMethod(behaviour: Behaviour): string {
    return createPaymentMethod(this.world, { behaviour }).id
  }

  /** From now on, the saved cards of a customer behave like this when they are charged. */
  cardsBehave(customer: string, behaviour: Behaviour): void {
    for (const { id, customer: owner } of this.world.paymentMethods.values())
      if (owner === customer) this.world.behaviours.set(id, behaviour)
  }

  /** The payer presses Pay. Throws as Checkout shows an error when the method is declined. */
  pay(session: string, payer: Payer = {}): Stripe.Checkout.Session {
    return pay(this.world, this.world.session(session), payer)
  }

  /** The payer pays by a method that tells days later, with `settle`, whether it did. */
  payLater(session: string, payer: Omit<Payer, 'method'> = {}): Stripe.Checkout.Session {
    return this.pay(session, { ...payer, method: this.paymentMethod('pays later') })
  }

  settle(session: string, outcome: 'paid' | 'failed'): void {
    settle(this.world, this.world.session(session), outcome)
  }

  expire(session: string): void {
    expire(this.world, this.world.session(session))
  }

  /** The subscription's next period begins, whatever the clock says. */
  renew(subscription: string, outcome?: 'paid' | 'failed'): Stripe.Invoice {
    return lifecycle.renew(this.world, this.world.subscription(subscription), outcome)
  }

  /** The open invoice of a subscription is paid after all. */
  payInvoice(subscription: string): Stripe.Invoice {
    return lifecycle.collect(this.world, this.#latestInvoice(subscription))
  }

  failInvoice(subscription: string): Stripe.Invoice {
    return lifecycle.failToCollect(this.world, this.#latestInvoice(subscription))
  }

  #latestInvoice(subscription: string): Stripe.Invoice {
    return this.world.invoice(idOf(this.world.subscription(subscription).latest_invoice) ?? '')
  }

  update(subscription: string, changes: Partial<Stripe.Subscription>): void {
    this.world.change('customer.subscription.updated', this.world.subscription(subscription), changes)
  }

  /** So many percent off everything that it is charged from now on. */
  discount(subscription: string, percentOff: number): void {
    giveDiscount(this.world, this.world.subscription(subscription), percentOff)
  }

  pause(subscription: string): void {
    lifecycle.pause(this.world, this.world.subscription(subscription))
  }

  resume(subscription: string): void {
    lifecycle.resume(this.world, this.world.subscription(subscription))
  }

  cancel(subscription: string, when: 'now' | 'at period end' = 'now'): void {
    const found = this.world.subscription(subscription)
    if (when === 'now') lifecycle.cancelNow(this.world, found)
    else lifecycle.cancelAtPeriodEnd(this.world, found, true)
  }

  /** Takes back what would end it at its period's end. */
  uncancel(subscription: string): void {
    lifecycle.cancelAtPeriodEnd(this.world, this.world.subscription(subscription), false)
  }

  /** The payment intents of a subscription's invoices, newest first. */
  payments(subscription: string): string[] {
    const { invoices, invoicePayments } = this.world
    const mine = [...invoicePayments.values()].filter(({ invoice }) => {
      const paid = invoices.get(idOf(invoice) ?? '')
      return paid !== undefined && subscriptionOf(paid) === subscription
    })
    return mine.flatMap(({ payment }) => idOf(payment.payment_intent) ?? []).reverse()
  }

  /** What was charged is given back: all of it unless told. Returns the refund's id. */
  refund(payment: string, amount?: number): string {
    return reversals.refund(this.world, payment, amount).id
  }

  takeRefundBack(refund: string, status: 'failed' | 'canceled' = 'failed'): void {
    reversals.takeRefundBack(this.world, refund, status)
  }

  /** The payer objects to a charge. Returns the dispute's id. */
  dispute(payment: string, given: { status?: Stripe.Dispute.Status; amount?: number } = {}): string {
    return reversals.dispute(this.world, payment, given).id
  }

  decide(dispute: string, status: Stripe.Dispute.Status): void {
    reversals.decide(this.world, dispute, status)
  }

  updateCustomer(customer: string, changes: { email?: string; name?: string }): void {
    updateCustomer(this.world, this.world.customer(customer), changes)
  }

  deleteCustomer(customer: string): void {
    deleteCustomer(this.world, customer)
  }

  advance(seconds: number): void {
    advance(this.world, this.world.now + seconds)
  }
}

export async function startStripe(options: Options = {}): Promise<StripeStandIn> {
  const stripe = new StripeStandIn(options)
  await stripe.start()
  return stripe
}
