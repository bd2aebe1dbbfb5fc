import { randomBytes } from 'node:crypto'
import { type Pool, transaction } from '../../store/database.ts'
import type { BillingProvider, Customer, ProviderCheckout, ProviderSubscription } from '../provider.ts'
import * as books from './books.ts'
import { announce, newRef } from './events.ts'

/** How long a link may be paid, by the app's clock. */
const LIFE_HOURS = 24

const CHECKOUT_STATES = { open: 'OPEN', paid: 'PAID', cancelled: 'OPEN', expired: 'EXPIRED' } as const
const STANDINGS = { active: 'live', past_due: 'past due', canceled: 'ended' } as const

/** The built-in provider: no money moves, everything else works as with any other. */
export function sandboxProvider(pool: Pool, appId: string, publicUrl: string): BillingProvider {
  return {
    async createCheckout({ id: sessionId, offer, user, successUrl, cancelUrl }) {
      let customerId: string | null = null
      if (user) {
        customerId = user.billingId ?? newRef('cus')
        await books.insertCustomer(pool, appId, { id: customerId, email: user.email, name: null })
      }
      const ref = await books.insertCheckout(
        pool,
        {
          appId,
          id: `cs_sandbox_${randomBytes(24).toString('base64url')}`,
          sessionId,
          customerId,
          items: offer.items.map(({ package: { name }, price: { id, amount, currency, interval } }) => ({
            priceId: id,
            name,
            amount,
            currency,
            interval,
          })),
          successUrl,
          cancelUrl,
        },
        LIFE_HOURS,
      )
      return { ref, url: `${publicUrl}/checkout/${ref}` }
    },

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
      }
    },

    async fetchSubscription(ref): Promise<ProviderSubscription | null> {
      const found = await books.findSubscription(pool, appId, ref)
      if (!found) return null
      return {
        ref,
        sessionId: found.sessionId,
        customer: await customerOf(found.customerId),
        status: found.status,
        standing: STANDINGS[found.status],
        final: found.status === 'canceled',
        priceIds: found.priceIds,
        madeAt: found.madeAt,
        anchor: found.madeAt,
        paidUntil: found.pastDueSince ?? found.periodEnd,
        cancelAt: found.cancelAtPeriodEnd ? found.periodEnd : null,
        endedAt: found.endedAt,
        pastDueSince: found.pastDueSince,
      }
    },

    fetchCustomer: customerOf,

    cancel: (ref, when) =>
      change(ref, (s, now) =>
        when === 'now' ? { ...s, status: 'canceled', endedAt: now } : { ...s, cancelAtPeriodEnd: true },
      ),

    keep: (ref) => change(ref, (s) => ({ ...s, cancelAtPeriodEnd: false })),

    addPrice: (ref, priceId) =>
      change(ref, (s) => ({ ...s, priceIds: [...new Set([...s.priceIds, priceId])] })),

    dropPrice: (ref, priceId) =>
      change(ref, (s) => ({ ...s, priceIds: s.priceIds.filter((id) => id !== priceId) })),

    // Its prices are the app's own: there is nothing to import.
    fetchPrice: async () => null,
    listPrices: async () => [],
  }

  async function customerOf(id: string): Promise<Customer | null> {
    const found = await books.findCustomer(pool, appId, id)
    return found && { ref: found.id, email: found.email, name: found.name }
  }

  /** Changes a subscription that has not ended, and sends an event, as any provider would. */
  function change(
    ref: string,
    next: (s: books.SandboxSubscription, now: number) => books.SandboxSubscription,
  ): Promise<void> {
    return transaction(pool, async (tx) => {
      const found = await books.lockSubscription(tx, appId, ref)
      if (!found || found.status === 'canceled') return
      const changed = next(found, await books.nowOf(tx, appId))
      await books.writeSubscription(tx, appId, changed)
      const type = changed.status === 'canceled' ? 'deleted' : 'updated'
      await announce(tx, appId, `customer.subscription.${type}`, {
        object: 'subscription',
        id: ref,
        customer: found.customerId,
      })
    })
  }
}
