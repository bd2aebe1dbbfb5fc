import type Stripe from 'stripe'
import { pick, type Random, seeded } from '../stripe/random.ts'
import type { StripeStandIn } from '../stripe/stand-in.ts'
import { isOver } from '../stripe/subscriptions.ts'

/** Whoever pays: a user of ours, or somebody who becomes one by paying. */
export interface Payer {
  userId: string | null
  sessions: string[]
  /** their customer is gone, and so is whoever would pay once more */
  gone: boolean
}

/** Asks our service for a payment link; answers the provider's session that it leads to, or null where it is refused. */
export type Link = (userId: string | null, templateId: string) => Promise<string | null>

/** What is on offer, each by its template. */
export interface Shop {
  /** templates of base plans, of which one replaces another */
  plans: readonly string[]
  /** the template of an add-on for who has a plan */
  addon: string
  /** the template of a plan that is paid once */
  forGood: string
  /** Stripe's prices of the base plans, for changes that are made at Stripe */
  planPrices: readonly Stripe.Price[]
}

type Step = [weight: number, name: string, take: () => void | Promise<void>]

const LIVE = ['active', 'past_due', 'trialing']

/** What a seed makes happen to a few payers, at the provider. */
export class History {
  readonly seed: number
  readonly payers: Payer[]
  /** told when something is not as it should be */
  readonly steps: string[] = []
  readonly #stripe: StripeStandIn
  readonly #shop: Shop
  readonly #link: Link
  readonly #random: Random

  constructor(seed: number, stripe: StripeStandIn, shop: Shop, link: Link) {
    this.seed = seed
    this.#stripe = stripe
    this.#shop = shop
    this.#link = link
    this.#random = seeded(seed)
    this.payers = Array.from({ length: this.#random() < 0.7 ? 1 : 2 }, (_, at) => ({
      userId: this.#random() < 0.7 ? `h${seed}-${at}` : null,
      sessions: [],
      gone: false,
    }))
  }

  async begin(): Promise<void> {
    for (const payer of this.payers) {
      await this.#take(payer, [
        [9, 'asks for a plan', () => this.#ask(payer, pick(this.#random, this.#shop.plans))],
        [1, 'asks for a plan for good', () => this.#ask(payer, this.#shop.forGood)],
      ])
    }
    await this.goOn()
  }

  /** One more thing happens to each. */
  async goOn(): Promise<void> {
    for (const payer of this.payers) await this.#take(payer, this.#possible(payer))
  }

  async #take(payer: Payer, steps: Step[]): Promise<void> {
    const total = steps.reduce((sum, [weight]) => sum + weight, 0)
    let lot = this.#random() * total
    const step = steps.find(([weight]) => {
      lot -= weight
      return lot < 0
    })
    if (!step) return
    const [, name, take] = step
    this.steps.push(`${this.payers.indexOf(payer)} ${name}`)
    const { world } = this.#stripe
    world.setClock(world.now + 1)
    await take()
  }

  async #ask(payer: Payer, template: string): Promise<void> {
    const session = await this.#link(payer.userId, template)
    if (session === null) this.steps.push('  and is refused')
    else payer.sessions.push(session)
  }

  #possible(payer: Payer): Step[] {
    const stripe = this.#stripe
    const sessions = payer.sessions.map((id) => stripe.world.session(id))
    const steps: Step[] = sessions.flatMap((session) => this.#possibleWith(session))
    if (payer.gone) return steps
    const subscriptions = sessions.flatMap((session) =>
      typeof session.subscription === 'string' && !this.#isPending(session)
        ? [stripe.world.subscription(session.subscription)]
        : [],
    )
    for (const subscription of subscriptions) steps.push(...this.#possibleTo(subscription))
    const customers = subscriptions.map(({ customer }) => String(customer))
    const live = subscriptions.some(({ status }) => LIVE.includes(status))
    const ofOurs = payer.userId !== null && customers.length > 0
    if (ofOurs && !sessions.some(({ status }) => status === 'open')) {
      steps.push([2, 'asks for another plan', () => this.#ask(payer, pick(this.#random, this.#shop.plans))])
      if (live) steps.push([1, 'asks for an add-on', () => this.#ask(payer, this.#shop.addon)])
    }
    if (customers.length > 0) {
      const leave = () => {
        payer.gone = true
        for (const customer of new Set(customers)) stripe.deleteCustomer(customer)
      }
      steps.push([0.5, 'is deleted', leave])
    }
    return steps
  }

  #possibleWith(session: Stripe.Checkout.Session): Step[] {
    const stripe = this.#stripe
    const { id } = session
    const payer = { email: `${id}@example.com`, name: `Payer of ${id}` }
    if (session.status === 'open') {
      return [
        [8, 'pays', () => void stripe.pay(id, payer)],
        [2, 'pays later', () => void stripe.payLater(id, payer)],
        [1, 'lets it expire', () => stripe.expire(id)],
      ]
    }
    if (!this.#isPending(session)) return []
    return [
      [4, 'has paid at last', () => stripe.settle(id, 'paid')],
      [2, 'has not paid', () => stripe.settle(id, 'failed')],
    ]
  }

  /** Whether it is not known yet if its first payment will come. */
  #isPending({ status, payment_status, invoice, payment_intent }: Stripe.Checkout.Session): boolean {
    if (status !== 'complete' || payment_status !== 'unpaid') return false
    const { world } = this.#stripe
    return typeof invoice === 'string'
      ? world.invoice(invoice).attempt_count === 0
      : world.paymentIntents.get(String(payment_intent))?.status === 'processing'
  }

  #possibleTo(subscription: Stripe.Subscription): Step[] {
    if (isOver(subscription)) return []
    const stripe = this.#stripe
    const { id, status } = subscription
    if (status === 'paused') return [[3, 'resumes', () => stripe.resume(id)]]
    const steps: Step[] = [
      [2, 'renews', () => void stripe.renew(id, 'paid')],
      [2, 'does not pay a renewal', () => void stripe.renew(id, 'failed')],
      [1, 'pauses', () => stripe.pause(id)],
      [1, 'cancels', () => stripe.cancel(id)],
      [1, 'changes the plan', () => this.#changePlan(subscription)],
    ]
    if (status === 'past_due') steps.push([3, 'pays what is due', () => void stripe.payInvoice(id)])
    if (subscription.cancel_at === null)
      steps.push([2, 'cancels at the end', () => stripe.cancel(id, 'at period end')])
    else steps.push([2, 'stays after all', () => stripe.uncancel(id)])
    return steps
  }

  /** At Stripe, for instance in its customer portal. */
  #changePlan(subscription: Stripe.Subscription): void {
    const price = pick(this.#random, this.#shop.planPrices)
    const isPlan = (one: Stripe.Price) => this.#shop.planPrices.some(({ id }) => id === one.id)
    const data = subscription.items.data.map((item) => (isPlan(item.price) ? { ...item, price } : item))
    this.#stripe.update(subscription.id, { items: { ...subscription.items, data } })
  }
}
