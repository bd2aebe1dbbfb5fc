import type Stripe from 'stripe'
import type { TestApp } from '../harness/catalogue.ts'
import type { Client } from '../harness/client.ts'
import type { StripeStandIn } from '../stripe/stand-in.ts'
import type { Link, Shop } from './history.ts'
import type { Sold } from './provider-truth.ts'

/** What a webhook of ours at Stripe is to be told of. */
export const NOTICES = [
  'checkout.session.completed',
  'checkout.session.async_payment_succeeded',
  'checkout.session.async_payment_failed',
  'checkout.session.expired',
  'customer.subscription.created',
  'customer.subscription.updated',
  'customer.subscription.paused',
  'customer.subscription.resumed',
  'customer.subscription.deleted',
  'invoice.paid',
  'invoice.payment_failed',
  'customer.updated',
  'customer.deleted',
  'charge.refunded',
  'charge.refund.updated',
  'refund.created',
  'refund.updated',
  'refund.failed',
  'charge.dispute.created',
  'charge.dispute.updated',
  'charge.dispute.funds_withdrawn',
  'charge.dispute.funds_reinstated',
  'charge.dispute.closed',
]

const PACKAGES: Sold[] = [
  { packageId: 'basic', isAddon: false },
  { packageId: 'pro', isAddon: false },
  { packageId: 'seats', isAddon: true },
  { packageId: 'lifetime', isAddon: false },
]

export interface StripeShop extends Shop {
  /** by Stripe's price */
  soldBy: Map<string, Sold>
}

/** Packages that are sold at Stripe, each by a template of its own, and a base plan together with an add-on. */
export async function openShop(
  { id: appId, admin, dashboard }: TestApp,
  stripe: StripeStandIn,
): Promise<StripeShop> {
  const soldBy = new Map<string, Sold>()
  const prices = new Map<string, Stripe.Price>()
  for (const sold of PACKAGES) {
    const { packageId, isAddon } = sold
    await admin.data(
      'mutation ($id: String!, $isAddon: Boolean!) { createPackage(input: { id: $id, name: $id, isAddon: $isAddon }) { id } }',
      { id: packageId, isAddon },
    )
    const price = stripe.sell({
      name: packageId,
      amount: 900,
      interval: packageId === 'lifetime' ? null : 'month',
    })
    soldBy.set(price.id, sold)
    prices.set(packageId, price)
    await dashboard.data(
      `mutation ($appId: String!, $packageId: String!, $price: String!) {
        publishPackage(appId: $appId, id: $packageId) { id }
        importPrice(appId: $appId, packageId: $packageId, provider: "stripe", id: $price) { id }
      }`,
      { appId, packageId, price: price.id },
    )
  }
  const templates = [...PACKAGES.map(({ packageId }) => [packageId]), ['pro', 'seats']]
  for (const packageIds of templates) {
    await dashboard.call('createBillingTemplate', {
      appId,
      input: { id: packageIds.join('-'), name: packageIds.join(' with '), packageIds },
    })
  }
  return {
    soldBy,
    plans: ['basic', 'pro', 'pro-seats'],
    addon: 'seats',
    forGood: 'lifetime',
    planPrices: ['basic', 'pro'].flatMap((name) => prices.get(name) ?? []),
  }
}

const LINK = `mutation ($userId: String, $templateId: String!) {
  generateSubscriptionLink(userId: $userId, templateId: $templateId,
    successUrl: "https://shop.example/done", cancelUrl: "https://shop.example/back") { url }
}`

/** Links as the Admin API makes them, of the processes in turn. */
export function linksBy(admin: (process: number) => Client): Link {
  let asked = 0
  return async (userId, templateId) => {
    asked += 1
    const { data, errors } = await admin(asked).ask(LINK, { userId, templateId })
    const [error] = errors ?? []
    // What the user has already, or lacks a plan for, as far as we have heard.
    if (error && !/already has a paid subscription|base plan/.test(error.message))
      throw new Error(error.message)
    const url: string | undefined = data?.generateSubscriptionLink?.url
    return url?.split('/').at(-1) ?? null
  }
}
