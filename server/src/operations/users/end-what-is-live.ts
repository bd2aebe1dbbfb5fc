import { type CheckoutSession, checkoutsOfUser } from '../../store/billing/checkout-sessions.ts'
import { providerSubscriptionsOfUser } from '../../store/billing/provider-subscriptions.ts'
import type { HomeDb } from '../../store/connection/places.ts'
import { askingProvider, providerOf } from '../billing/provider-of.ts'
import type { Service } from '../call/service.ts'

/** Subscriptions and links at providers that may still cost a user money. */
export interface LiveBilling {
  subscriptions: { provider: string; ref: string }[]
  /** links that can be paid, or whose payment is pending */
  links: CheckoutSession[]
}

export async function liveBilling(db: HomeDb, appId: string, uid: number): Promise<LiveBilling> {
  return {
    subscriptions: (await providerSubscriptionsOfUser(db, appId, uid)).filter(({ live }) => live),
    links: (await checkoutsOfUser(db, appId, uid)).filter(
      ({ state }) => state === 'OPEN' || state === 'AWAITING',
    ),
  }
}

/** Whether `then` contains everything in `now`. */
export function isCovered(now: LiveBilling, then: LiveBilling): boolean {
  const known = new Set([...then.subscriptions, ...then.links.map(linkRef)].map(nameOf))
  const all = [...now.subscriptions, ...now.links.map(linkRef)]
  return all.every((one) => known.has(nameOf(one)))
}

const nameOf = ({ provider, ref }: { provider: string; ref: string }) => JSON.stringify([provider, ref])

const linkRef = ({ provider, id, providerRef }: CheckoutSession) => ({
  provider,
  ref: `${id} ${providerRef}`,
})

/** Cancels everything at the providers, and closes links. Repeating it is harmless. */
export async function endAtProviders(service: Service, appId: string, live: LiveBilling): Promise<void> {
  // Links come first: one that was paid before it was closed has created a subscription to cancel.
  for (const { provider: name, providerRef: ref } of live.links) {
    if (ref === null) continue
    await askingProvider(name, async () => {
      const provider = await providerOf(service, appId, name)
      await provider.closeCheckout(ref)
      const paid = (await provider.fetchCheckout(ref))?.subscriptionRef ?? null
      if (paid !== null) await provider.cancel(paid, 'now')
    })
  }
  for (const { provider: name, ref } of live.subscriptions) {
    await askingProvider(name, async () => (await providerOf(service, appId, name)).cancel(ref, 'now'))
  }
}
