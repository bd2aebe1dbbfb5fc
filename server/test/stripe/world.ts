import type Stripe from 'stripe'
import { noSuch } from './refusals.ts'

type EventType = Stripe.Event['type']
/** What an event of this type is about. */
type Subject<Type extends EventType> = Extract<Stripe.Event, { type: Type }>['data']['object']

/** A thing that some other thing names, by its id or as a whole. */
type Reference = string | { id: string } | null | undefined

export const idOf = (reference: Reference): string | null =>
  typeof reference === 'string' ? reference : (reference?.id ?? null)

/** A line of an invoice to be made. */
export interface NewLine {
  amount: number
  currency: string
  description: string | null
  period: { start: number; end: number }
  quantity: number
  price: Stripe.Price | null
  subscriptionItem: string | null
  /** for a part of a period */
  proration?: boolean
}

export type PendingItem = Pick<
  Stripe.InvoiceItem,
  'id' | 'object' | 'amount' | 'currency' | 'customer' | 'date' | 'description' | 'livemode'
> & {
  /** of a change that is not invoiced at once: the line that its next invoice carries */
  line?: NewLine
  subscription?: string
}

interface Promised {
  /** whether the payment method of a one-off payment is saved */
  savesMethod: boolean
  metadata: Stripe.Metadata
  trialDays: number
  missingMethod: Stripe.Subscription.TrialSettings.EndBehavior.MissingPaymentMethod
  anchor: number | null
}

/** How a payment method behaves when it is charged. */
export type Behaviour = 'pays' | 'declines' | 'stolen' | 'needs action' | 'pays later' | 'declines later'

/** Everything that this Stripe knows. Things name each other by id; `expand` puts the whole in their place. */
export class World {
  readonly customers = new Map<string, Stripe.Customer | Stripe.DeletedCustomer>()
  readonly products = new Map<string, Stripe.Product>()
  readonly prices = new Map<string, Stripe.Price>()
  readonly coupons = new Map<string, Stripe.Coupon>()
  readonly discounts = new Map<string, Stripe.Discount>()
  readonly sessions = new Map<string, Stripe.Checkout.Session>()
  readonly lineItems = new Map<string, Stripe.LineItem[]>()
  /** what Checkout was told about the subscription or the payment that it will make */
  readonly promises = new Map<string, Promised>()
  readonly subscriptions = new Map<string, Stripe.Subscription>()
  readonly schedules = new Map<string, Stripe.SubscriptionSchedule>()
  readonly invoices = new Map<string, Stripe.Invoice>()
  /** waiting to be put on an invoice */
  readonly invoiceItems = new Map<string, PendingItem>()
  readonly paymentMethods = new Map<string, Stripe.PaymentMethod>()
  readonly behaviours = new Map<string, Behaviour>()
  readonly paymentIntents = new Map<string, Stripe.PaymentIntent>()
  readonly charges = new Map<string, Stripe.Charge>()
  readonly invoicePayments = new Map<string, Stripe.InvoicePayment>()
  readonly refunds = new Map<string, Stripe.Refund>()
  readonly disputes = new Map<string, Stripe.Dispute>()
  readonly events = new Map<string, Stripe.Event>()
  readonly apiVersion: string
  /** told of every event when it happens */
  onEvent: (event: Stripe.Event) => void = () => {}
  /** the request that is being answered, which its events name */
  request: Stripe.Event.Request | null = null
  /** where its own pages are */
  url = ''
  #now: number
  #count = 0

  constructor(now: number, apiVersion: string) {
    this.#now = now
    this.apiVersion = apiVersion
  }

  /** in seconds, as everywhere at Stripe */
  get now(): number {
    return this.#now
  }

  setClock(now: number): void {
    if (now < this.#now) throw new Error('the clock only goes forward')
    this.#now = now
  }

  id(prefix: string): string {
    this.#count += 1
    return `${prefix}_${this.#count.toString(36).padStart(14, '0')}`
  }

  emit<Type extends EventType>(type: Type, object: Subject<Type>, previous?: object): void {
    const event = {
      id: this.id('evt'),
      object: 'event',
      api_version: this.apiVersion,
      created: this.#now,
      // As it stands now: later changes are other events.
      data: {
        object: JSON.parse(JSON.stringify(object)),
        ...(previous && { previous_attributes: previous }),
      },
      livemode: false,
      pending_webhooks: 1,
      request: this.request ?? { id: null, idempotency_key: null },
      type,
    } as Stripe.Event
    this.events.set(event.id, event)
    this.onEvent(event)
  }

  /** Changes what differs, and says so in an event that carries the values from before. */
  change<Type extends EventType>(type: Type, object: Subject<Type>, changes: Partial<Subject<Type>>): void {
    const previous: Record<string, unknown> = {}
    const now: Record<string, unknown> = { ...object }
    for (const [key, value] of Object.entries(changes)) {
      if (JSON.stringify(now[key]) === JSON.stringify(value)) continue
      previous[key] = JSON.parse(JSON.stringify(now[key] ?? null))
    }
    if (Object.keys(previous).length === 0) return
    Object.assign(object, changes)
    this.emit(type, object, previous)
  }

  customer(id: string, param = 'customer'): Stripe.Customer {
    const found = this.customers.get(id)
    if (!found || found.deleted) throw noSuch('customer', id, param, 400)
    return found
  }

  price(id: string, param: string): Stripe.Price {
    const found = this.prices.get(id)
    if (!found) throw noSuch('price', id, param, 400)
    return found
  }

  session(id: string): Stripe.Checkout.Session {
    return found(this.sessions, 'checkout.session', id)
  }

  subscription(id: string): Stripe.Subscription {
    return found(this.subscriptions, 'subscription', id)
  }

  invoice(id: string): Stripe.Invoice {
    return found(this.invoices, 'invoice', id)
  }
}

export function found<Thing>(things: ReadonlyMap<string, Thing>, kind: string, id: string): Thing {
  const thing = things.get(id)
  if (!thing) throw noSuch(kind, id)
  return thing
}
