import { TollgateError } from '../../domain/errors.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import type { Interval, Price } from '../../domain/price.ts'
import type { SaleTerms } from '../../domain/sale-terms.ts'
import { findApp } from '../../store/apps/apps.ts'
import {
  type CheckoutSession,
  chooseItems,
  findCheckoutSession,
} from '../../store/billing/checkout-sessions.ts'
import { findAnyPrices } from '../../store/billing/prices.ts'
import type { Service } from '../call/service.ts'
import { catalogueOf } from '../catalogue/catalogue.ts'
import { awaitsChoice, linkOf } from './payment-link.ts'
import { soldName } from './sold-name.ts'

/** Choice of the interval that a link offers before the payment, without personal data. */
export interface IntervalChoice {
  appName: string
  terms: Pick<SaleTerms, 'trialDays'>
  cancelUrl: string
  choices: { interval: Interval; items: (Price & { name: string })[] }[]
}

export type ChoiceState =
  | { kind: 'open'; choice: IntervalChoice }
  /** it was chosen already, and the payment goes on there */
  | { kind: 'chosen'; url: string }
  | { kind: 'expired'; cancelUrl: string }
  | { kind: 'refused'; cancelUrl: string; message: string }

/** Null: there is no such link. */
export async function viewChoice(
  service: Service,
  appId: string,
  sessionId: string,
): Promise<ChoiceState | null> {
  const session = await sessionOf(service, appId, sessionId)
  if (!session) return null
  const { cancelUrl } = session
  if (!awaitsChoice(session)) return goOn(service, appId, session)
  const app = await findApp(service.pool, appId)
  const choices = await offered(service, appId, session)
  if (!app || session.state !== 'OPEN' || session.isOld || choices.length === 0)
    return { kind: 'expired', cancelUrl }
  return { kind: 'open', choice: { appName: app.name, terms: session.terms, cancelUrl, choices } }
}

/** Stores the choice, once, and creates the payment at the provider. */
export async function chooseInterval(
  service: Service,
  appId: string,
  sessionId: string,
  interval: string,
): Promise<ChoiceState | null> {
  const session = await sessionOf(service, appId, sessionId)
  if (!session) return null
  if (awaitsChoice(session)) {
    const isOffered = (await offered(service, appId, session)).some((choice) => choice.interval === interval)
    const chosen = session.choices?.find((choice) => choice.interval === interval)
    if (!isOffered || !chosen) return viewChoice(service, appId, sessionId)
    await chooseItems(service.pool, appId, sessionId, chosen.items)
  }
  const now = await sessionOf(service, appId, sessionId)
  if (!now) return null
  return awaitsChoice(now) ? { kind: 'expired', cancelUrl: now.cancelUrl } : goOn(service, appId, now)
}

async function sessionOf(
  { pool }: Service,
  appId: string,
  sessionId: string,
): Promise<CheckoutSession | null> {
  if (!isIdentifier(appId) || !isIdentifier(sessionId)) return null
  const session = await findCheckoutSession(pool, appId, sessionId)
  return session?.choices == null ? null : session
}

/** The choices whose prices are all still in use. */
async function offered(
  service: Service,
  appId: string,
  { choices, provider }: CheckoutSession,
): Promise<IntervalChoice['choices']> {
  const ids = (choices ?? []).flatMap(({ items }) => items.map(({ priceId }) => priceId))
  const prices = await findAnyPrices(service.pool, appId, provider, ids)
  const catalogue = await catalogueOf({ service, appId })
  return (choices ?? []).flatMap(({ interval, items }) => {
    const sold = items.flatMap(({ priceId, packageId }) => {
      const price = prices.find(({ id, archivedAt }) => id === priceId && archivedAt === null)
      return price && packageId !== null ? [{ ...price, name: soldName(catalogue, { packageId }) }] : []
    })
    return sold.length === items.length ? [{ interval, items: sold }] : []
  })
}

/** State of the page that leads to the provider's page for the chosen prices. */
async function goOn(
  service: Service,
  appId: string,
  { id, cancelUrl, state }: CheckoutSession,
): Promise<ChoiceState> {
  if (state === 'EXPIRED' || state === 'FAILED') return { kind: 'expired', cancelUrl }
  try {
    return { kind: 'chosen', url: (await linkOf({ service, appId, actor: { kind: 'service' } }, id)).url }
  } catch (error) {
    if (!(error instanceof TollgateError)) throw error
    return { kind: 'refused', cancelUrl, message: error.message }
  }
}
