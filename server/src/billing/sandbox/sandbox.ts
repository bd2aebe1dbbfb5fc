import { holdCheckoutSession } from '../../store/billing/checkout-sessions.ts'
import { type Pool, type Tx, transaction } from '../../store/connection/database.ts'
import type { HomeDb } from '../../store/connection/places.ts'
import {
  type BilledItem,
  type BillingProvider,
  type Customer,
  type PriceChange,
  type PriceChangeTime,
  type ProviderCheckout,
  ProviderError,
  type ProviderSubscription,
} from '../provider.ts'
import { chargeFor, checkBillTotal, invoiceOf, keepInvoice, pricesById } from './bill.ts'
import * as books from './books.ts'
import { byTheClock, planPriceChange } from './change-price.ts'
import { chargeCard } from './charge-card.ts'
import { announce, newCheckoutId, newRef } from './events.ts'
import { findPayment } from './payment-books.ts'
import type { IsOn } from './payments.ts'
import { refundedOf, refundIdOf, reversalIn, reverse } from './reversals.ts'
import {
  findSandboxSubscription,
  lockSubscription,
  recentInvoices,
  type SandboxSubscription,
  writeSubscription,
} from './subscription-books.ts'

/** How long a link stays valid, by the app's clock. */
const LIFE_HOURS = 24

const CHECKOUT_STATES = { open: 'OPEN', paid: 'PAID', cancelled: 'OPEN', expired: 'EXPIRED' } as const
const BILLING_STATUS = { active: 'live', past_due: 'past due', canceled: 'ended' } as const

/** The built-in provider. It moves no money and otherwise behaves like any other. */
export function sandboxProvider(pool: Pool, appId: string, publicUrl: string, isOn: IsOn): BillingProvider {
  return {
    async createCheckout({ id: sessionId, items: sold, terms, user, successUrl, cancelUrl }) {
      const items = sold.map(({ name, price, quantity }) => ({
        priceId: price.id,
        name,
        amount: chargeFor(price, quantity),
        currency: price.currency,
        interval: price.interval,
      }))
      return transaction(pool, async (tx) => {
        // A concurrent deletion of the user must not be followed by new data about them.
        if (!(await holdCheckoutSession(tx, appId, sessionId))) {
          throw new ProviderError('refused', 'this link is no longer available')
        }
        const customerId = user && (user.billingId ?? newRef('cus'))
        if (customerId !== null) {
          await books.insertCustomer(tx, appId, { id: customerId, email: user?.email ?? null, name: null })
        }
        const id = newCheckoutId()
        const made = { appId, id, sessionId, customerId, items, terms, successUrl, cancelUrl }
        const ref = await books.insertCheckout(tx, made, LIFE_HOURS)
        return { ref, url: `${publicUrl}/checkout/${ref}` }
      })
    },

    closeCheckout: (ref) =>
      transaction(pool, async (tx) => {
        const found = await books.lockCheckout(tx, appId, ref)
        if (found?.state !== 'open' && found?.state !== 'cancelled') return
        const { customerId } = found
        await books.closeCheckout(tx, appId, ref, { state: 'expired', customerId, subscriptionId: null })
        await announce(tx, appId, 'checkout.session.expired', {
          object: 'checkout.session',
          id: ref,
          customer: customerId,
        })
      }),

    savedCard: (customerRef) => books.findCard(pool, appId, customerRef),
    charge: (request) => chargeCard(pool, appId, request, isOn),
    findCharge: (id) => books.findCheckoutOf(pool, appId, id),

    async fetchCheckout(ref): Promise<ProviderCheckout | null> {
      const found = await books.findCheckout(pool, ref)
      if (!found || found.appId !== appId) return null
      return {
        ref,
        sessionId: found.sessionId,
        state: CHECKOUT_STATES[found.state],
        customer: found.customerId === null ? null : await customerOf(found.customerId),
        subscriptionRef: found.subscriptionId,
        paidAt: found.paidReallyAt,
        startsAt: found.paidAt,
        paymentRef: found.state === 'paid' ? ref : null,
        reversal: await reversalIn(pool, appId, ref, null),
        paid:
          found.state === 'paid' && found.items[0]
            ? {
                amount: found.items.reduce((sum, item) => sum + item.amount, 0),
                currency: found.items[0].currency,
              }
            : null,
      }
    },

    async fetchSubscription(ref): Promise<ProviderSubscription | null> {
      const stored = await findSandboxSubscription(pool, appId, ref)
      if (!stored) return null
      const now = await books.nowOf(pool, appId)
      const s = byTheClock(stored, now)
      const inTrial = s.status === 'active' && s.trialEndsAt !== null && now < s.trialEndsAt
      return {
        ref,
        sessionId: s.sessionId,
        customer: await customerOf(s.customerId),
        status: inTrial ? 'trialing' : s.status,
        billingStatus: BILLING_STATUS[s.status],
        final: s.status === 'canceled',
        items: s.items,
        scheduled: s.scheduled && { at: s.scheduled.at, items: s.scheduled.items },
        trialEndsAt: inTrial ? s.trialEndsAt : null,
        triedUntil:
          inTrial || s.trialEndsAt === null ? null : Math.min(s.trialEndsAt, s.endedAt ?? s.trialEndsAt),
        madeAt: s.madeAt,
        anchor: s.anchor,
        paidUntil: s.pastDueSince ?? s.periodEnd,
        // Without a card, the subscription ends with its trial.
        cancelAt: s.cancelAtPeriodEnd || s.cardMissing ? s.periodEnd : null,
        endedAt: s.endedAt,
        pastDueSince: s.pastDueSince,
        reversal: await reversalIn(pool, appId, ref, s),
      }
    },

    async fetchPurpose(paymentRef) {
      const paid = await findPayment(pool, appId, paymentRef)
      if (!paid) return null
      const { id, subscriptionId } = paid
      return subscriptionId === null ? { checkoutRef: id } : { subscriptionRef: subscriptionId }
    },

    async recentPayments(ref) {
      const payments = await recentInvoices(pool, appId, ref)
      return { payments, since: payments.at(-1)?.at ?? null }
    },

    fetchCustomer: customerOf,

    cancel: (ref, when) =>
      change(ref, (s, now) =>
        when === 'now'
          ? { ...s, status: 'canceled', endedAt: now, scheduled: null }
          : { ...s, cancelAtPeriodEnd: true, scheduled: null },
      ),

    keep: (ref) => change(ref, (s) => ({ ...s, cancelAtPeriodEnd: false })),

    addPrice: (ref, priceId, quantity) =>
      changeItems(ref, (items) =>
        items.some((item) => item.priceId === priceId) ? items : [...items, { priceId, quantity }],
      ),

    dropPrice: (ref, priceId) =>
      changeItems(ref, (items) => items.filter((item) => item.priceId !== priceId)),

    async previewChange(ref, wanted, when) {
      const stored = await findSandboxSubscription(pool, appId, ref)
      return (await planned(pool, stored, wanted, when)).quote
    },

    changePrice: (ref, wanted, when) =>
      transaction(pool, async (tx) => {
        const stored = await lockSubscription(tx, appId, ref)
        const { before, after, quote, lines, now } = await planned(tx, stored, wanted, when)
        if (JSON.stringify(before) === JSON.stringify(after)) return
        const bill = invoiceOf(before, lines)
        if (bill.due > 0 && !(await isOn(tx, appId)))
          throw new ProviderError('refused', 'the sandbox is disabled')
        if (bill.due > 0 && !before.cardRenews) throw new ProviderError('refused', 'the card was declined')
        await write(tx, lines.length > 0 ? { ...after, credit: bill.credit } : after)
        if (lines.length === 0) return
        const made = { reason: 'subscription_update', currency: quote.currency, paid: true, at: now } as const
        const id = await keepInvoice(tx, appId, after, bill, made)
        const about = { customer: after.customerId, subscription: ref }
        await announce(tx, appId, 'invoice.paid', { object: 'invoice', id, ...about })
      }),

    dropScheduledChange: (ref) => change(ref, (s) => ({ ...s, scheduled: null })),

    // There are no prices to import: the sandbox uses the app's own.
    fetchRefundable: async (paymentRef) => {
      const paid = await findPayment(pool, appId, paymentRef)
      return paid && refundedOf(paid)
    },

    refund: (paymentRef, { amount, key }) =>
      transaction(pool, (tx) =>
        reverse(tx, appId, paymentRef, { action: 'REFUND', amount, refundId: refundIdOf(key) }, isOn),
      ),

    fetchPrice: async () => null,
    listPrices: async () => [],
  }

  async function customerOf(id: string): Promise<Customer | null> {
    const found = await books.findCustomer(pool, appId, id)
    return found && { ref: found.id, email: found.email, name: found.name }
  }

  async function planned(
    db: HomeDb,
    stored: SandboxSubscription | null,
    wanted: PriceChange,
    when: PriceChangeTime,
  ) {
    if (!stored) throw new ProviderError('refused', 'the subscription does not exist', true)
    const now = await books.nowOf(db, appId)
    const before = byTheClock(stored, now)
    const asked = [wanted.from, wanted.to].map((priceId) => ({ priceId, quantity: 1 }))
    const prices = await pricesById(db, appId, [...before.items, ...asked])
    return { before, now, ...planPriceChange(before, prices, wanted, when, now) }
  }

  /** Changes the items of the bill and of the scheduled change. */
  function changeItems(ref: string, next: (items: BilledItem[]) => BilledItem[]): Promise<void> {
    return change(ref, async (s, _now, tx) => {
      const changed = async (items: BilledItem[]) => {
        const after = next(items)
        if (after.length > items.length) checkBillTotal(after, await pricesById(tx, appId, after))
        return after
      }
      const { scheduled } = s
      return {
        ...s,
        items: await changed(s.items),
        scheduled: scheduled && { ...scheduled, items: await changed(scheduled.items) },
      }
    })
  }

  function change(
    ref: string,
    next: (s: SandboxSubscription, now: number, tx: Tx) => SandboxSubscription | Promise<SandboxSubscription>,
  ): Promise<void> {
    return transaction(pool, async (tx) => {
      const found = await lockSubscription(tx, appId, ref)
      if (!found || found.status === 'canceled') return
      const now = await books.nowOf(tx, appId)
      await write(tx, await next(byTheClock(found, now), now, tx))
    })
  }

  /** Stores it and sends an event. */
  async function write(tx: Tx, s: SandboxSubscription): Promise<void> {
    await writeSubscription(tx, appId, s)
    const type = s.status === 'canceled' ? 'deleted' : 'updated'
    await announce(tx, appId, `customer.subscription.${type}`, {
      object: 'subscription',
      id: s.id,
      customer: s.customerId,
    })
  }
}
