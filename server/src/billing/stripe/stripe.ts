import type Stripe from 'stripe'
import { NO_REVERSAL } from '../../domain/reversal.ts'
import { sameItems } from '../price-change.ts'
import { type BilledItem, type BillingProvider, ProviderError } from '../provider.ts'
import { asked, found } from './asked.ts'
import { changePrice, dropScheduledChange, previewInvoice, takeBackEnd } from './change-price.ts'
import { chargeCard, fetchCharge, findCharge, findSavedCard, isIntent } from './charge-card.ts'
import { chargeOf, checkoutFrom, checkoutParams, customerFrom, isPaid } from './checkout.ts'
import { paymentFrom } from './payment.ts'
import { priceFrom, unusableBecause } from './price.ts'
import { purposeOf } from './purpose.ts'
import { fetchRefundable, refund } from './refund.ts'
import { reversalOfCharge, reversalOfSubscription } from './reversals.ts'
import { releaseSchedule, scheduleItems } from './schedule.ts'
import {
  BILLING_STATUS,
  itemsOf,
  owingSince,
  paidThrough,
  scheduledOf,
  subscriptionFrom,
} from './subscription.ts'

const MOST_PRICES = 500

export function stripeProvider(stripe: Stripe): BillingProvider {
  return {
    createCheckout: async (request) => {
      const made = await asked(() =>
        stripe.checkout.sessions.create(checkoutParams(request), { idempotencyKey: request.id }),
      )
      if (!made.url) throw new ProviderError('refused', 'the checkout session has no URL')
      return { ref: made.id, url: made.url }
    },

    savedCard: (customerRef) => findSavedCard(stripe, customerRef),
    charge: (request) => chargeCard(stripe, request),
    findCharge: (id, since) => findCharge(stripe, id, since),

    fetchCheckout: (ref) =>
      found(async () => {
        if (isIntent(ref)) return fetchCharge(stripe, ref)
        const session = await stripe.checkout.sessions.retrieve(ref, {
          expand: ['customer', 'payment_intent.latest_charge', 'subscription'],
        })
        const charge = chargeOf(session)
        const reversal = charge ? await reversalOfCharge(stripe, charge) : NO_REVERSAL
        return { ...checkoutFrom(session, await isPaid(stripe, session)), reversal }
      }),

    async closeCheckout(ref) {
      // A charge of a saved card is paid at once, or never.
      if (isIntent(ref)) return
      const isOpen = async () =>
        (await found(() => stripe.checkout.sessions.retrieve(ref)))?.status === 'open'
      if (!(await isOpen())) return
      try {
        await asked(() => stripe.checkout.sessions.expire(ref))
      } catch (error) {
        // It was paid at this very moment.
        if (await isOpen()) throw error
      }
    },

    fetchSubscription: (ref) =>
      found(async () => {
        const current = await stripe.subscriptions.retrieve(ref, { expand: ['customer', 'schedule'] })
        const owes = BILLING_STATUS[current.status] === 'past due'
        const unserved = current.pause_collection?.behavior === 'void'
        return subscriptionFrom(current, {
          pastDueSince: owes ? await owingSince(stripe, current) : null,
          paidThrough: unserved ? await paidThrough(stripe, current) : null,
          reversal: await reversalOfSubscription(stripe, current),
        })
      }),

    fetchPurpose: (paymentRef) => found(() => purposeOf(stripe, paymentRef)),

    async recentPayments(ref) {
      const list = await found(() => stripe.invoices.list({ subscription: ref, limit: 12 }))
      if (!list) return { payments: [], since: null }
      const oldest = list.has_more ? list.data.at(-1) : null
      return { payments: list.data.flatMap(paymentFrom), since: (oldest?.created ?? 0) * 1000 }
    },

    fetchCustomer: (ref) => found(async () => customerFrom(await stripe.customers.retrieve(ref))),

    async cancel(ref, when) {
      const current = await live(ref)
      if (!current) return
      await releaseSchedule(stripe, current)
      await asked(() =>
        when === 'now'
          ? stripe.subscriptions.cancel(ref)
          : stripe.subscriptions.update(ref, { cancel_at_period_end: true }),
      )
    },

    async keep(ref) {
      const current = await live(ref)
      if (!current) return
      // A schedule that ends the subscription contains no other change, so it can be released.
      if (current.cancel_at !== null || current.cancel_at_period_end) await releaseSchedule(stripe, current)
      await takeBackEnd(stripe, current)
    },

    addPrice: (ref, priceId, quantity) =>
      changeBill(
        ref,
        (items) => (items.some((one) => one.priceId === priceId) ? items : [...items, { priceId, quantity }]),
        () =>
          stripe.subscriptionItems.create({
            subscription: ref,
            price: priceId,
            quantity,
            proration_behavior: 'none',
          }),
      ),

    dropPrice: (ref, priceId) =>
      changeBill(
        ref,
        (items) => items.filter((one) => one.priceId !== priceId),
        async ({ items }) => {
          const item = items.data.find(({ price }) => price.id === priceId)
          if (item) await stripe.subscriptionItems.del(item.id, { proration_behavior: 'none' })
        },
      ),

    previewChange: (ref, change, when) => previewInvoice(stripe, ref, change, when),
    changePrice: (ref, change, when) => changePrice(stripe, ref, change, when),
    dropScheduledChange: (ref) => dropScheduledChange(stripe, ref),

    fetchRefundable: async (paymentRef) => (await found(() => fetchRefundable(stripe, paymentRef))) ?? null,
    refund: (paymentRef, wanted) => refund(stripe, paymentRef, wanted),

    fetchPrice: (id) =>
      found(async () => {
        const price = await stripe.prices.retrieve(id, { expand: ['product'] })
        const problem = unusableBecause(price)
        if (problem !== null) throw new ProviderError('refused', `the price ${id} ${problem}`)
        return priceFrom(price)
      }),

    listPrices: () =>
      asked(async () => {
        const listed = stripe.prices.list({ active: true, limit: 100, expand: ['data.product'] })
        const prices = await listed.autoPagingToArray({ limit: MOST_PRICES })
        return prices.filter((price) => unusableBecause(price) === null).map(priceFrom)
      }),
  }

  async function live(ref: string): Promise<Stripe.Subscription | null> {
    const current = await found(() => stripe.subscriptions.retrieve(ref, { expand: ['schedule'] }))
    const over = current?.status === 'canceled' || current?.status === 'incomplete_expired'
    return over ? null : current
  }

  /** Changes the items of the bill and of the scheduled change. */
  async function changeBill(
    ref: string,
    next: (items: BilledItem[]) => BilledItem[],
    make: (current: Stripe.Subscription) => Promise<unknown>,
  ): Promise<void> {
    const current = await live(ref)
    if (!current) return
    const [items, scheduled] = [itemsOf(current), scheduledOf(current)]
    if (sameItems(next(items), items)) return
    if (scheduled) return scheduleItems(stripe, current, next(items), next(scheduled.items))
    await asked(() => make(current))
  }
}
