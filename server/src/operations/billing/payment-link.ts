import { type CheckoutItem, ProviderError } from '../../billing/provider.ts'
import { subscriptionLinkError } from '../../domain/errors.ts'
import { providerName, providerNameFirst } from '../../domain/provider-name.ts'
import type { Caller } from '../../store/apps/app-cache.ts'
import {
  type CheckoutSession,
  findCheckoutSession,
  setCheckoutUrl,
} from '../../store/billing/checkout-sessions.ts'
import { findAnyPrices } from '../../store/billing/prices.ts'
import type { HomeDb } from '../../store/connection/places.ts'
import { findUserByUid } from '../../store/users/users.ts'
import type { Call } from '../call/call.ts'
import { accountOf, checkProvider, providerOf, providerWords } from './provider-of.ts'
import { soldName } from './sold-name.ts'

export interface Link {
  url: string
}

/** Rejects a provider that is not set up, or is turned off. */
export async function checkTakesPayments(call: Call, tx: HomeDb, provider: string): Promise<void> {
  const account = { pool: tx, billing: call.service.billing }
  const { enabled } = await accountOf(account, call.appId, checkProvider(provider))
  if (!enabled) {
    throw subscriptionLinkError(
      `${providerNameFirst(provider)} is not enabled for this app. Set it up in the dashboard, under Billing.`,
    )
  }
}

/** A call through a payment link. The payer need not be signed in. */
type Linking = Pick<Call, 'service'> & Caller

/** The stored link of a session, or a new one. */
export async function linkOf(call: Linking, id: string): Promise<Link> {
  const { service, appId } = call
  const session = await findCheckoutSession(service.pool, appId, id)
  if (!session) throw linkIsGone()
  if (session.url !== null) return { url: session.url }
  if (awaitsChoice(session)) {
    const of = new URLSearchParams({ app: appId, session: id })
    return { url: `${service.billing.publicUrl()}/checkout/choose?${of}` }
  }
  if (session.state === 'EXPIRED') {
    throw subscriptionLinkError(
      `The payment link could not be created at ${providerName(session.provider)}. Generate a new one.`,
    )
  }
  try {
    const provider = await providerOf(service, appId, session.provider)
    const items = await itemsOf(call, session)
    const created = await provider.createCheckout({
      id,
      items,
      terms: session.terms,
      user: session.userUid === null ? null : await findUserByUid(service.pool, appId, session.userUid),
      successUrl: session.successUrl,
      cancelUrl: session.cancelUrl,
    })
    await setCheckoutUrl(service.pool, appId, id, created)
    if (await findCheckoutSession(service.pool, appId, id)) return { url: created.url }
    // The user was deleted meanwhile, so a payment would grant nothing.
    await provider.closeCheckout(created.ref)
    throw linkIsGone()
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    throw subscriptionLinkError(providerWords(session.provider, error))
  }
}

/** Its payer has not chosen yet how often to pay. */
export const awaitsChoice = ({ choices, items }: Pick<CheckoutSession, 'choices' | 'items'>): boolean =>
  choices !== null && items.length === 0

const linkIsGone = () =>
  subscriptionLinkError(
    'The payment link no longer exists because its user was deleted or it is too old. Generate a new one.',
  )

/** The items at the time when the session was created. */
async function itemsOf(
  call: Linking,
  { items, provider, credits }: CheckoutSession,
): Promise<[CheckoutItem, ...CheckoutItem[]]> {
  const { app } = await call.service.apps.at(call.service.pool, call)
  const ids = items.map(({ priceId }) => priceId)
  const prices = await findAnyPrices(call.service.pool, call.appId, provider, ids)
  const [first, ...rest] = items.flatMap(({ priceId, packageId, quantity }) => {
    const price = prices.find(({ id }) => id === priceId)
    const name = soldName(app.catalogue, packageId === null ? { credits } : { packageId })
    return price ? [{ name, price, quantity: quantity ?? 1 }] : []
  })
  if (!first) throw new Error('a checkout session has no price')
  return [first, ...rest]
}
