import { isIdentifier } from '../../domain/identifier.ts'
import type { Price } from '../../domain/price.ts'
import type { SaleTerms } from '../../domain/sale-terms.ts'
import { findApp } from '../../store/apps/apps.ts'
import { findCheckoutByRef } from '../../store/billing/checkout-sessions.ts'
import { findAnyPrices } from '../../store/billing/prices.ts'
import type { Service } from '../call/service.ts'
import { catalogueOf } from '../catalogue/catalogue.ts'
import { PROVIDERS } from './provider-of.ts'
import { viewCheckout } from './sandbox-checkout.ts'
import { soldName } from './sold-name.ts'

/** The purchase of a payer, without personal data: the page is open to everyone who has its link. */
export interface PaymentReceipt {
  appName: string
  /** where the payer came from, as far as the app says; null: unknown */
  shopUrl: string | null
  items: (Pick<Price, 'provider' | 'amount' | 'currency' | 'interval'> & { name: string })[]
  terms: Pick<SaleTerms, 'trialDays'>
  /** false: the provider has not confirmed it yet */
  isPaid: boolean
}

/**
 * The receipt of a payment link. The provider sends payers here after the payment, and its webhook event may still be on
 * the way. An expired or failed link has none.
 */
export async function viewReceipt(
  service: Service,
  appId: string,
  ref: string,
): Promise<PaymentReceipt | null> {
  if (!isIdentifier(appId) || !isIdentifier(ref)) return null
  const { pool } = service
  const app = await findApp(pool, appId)
  if (!app) return null
  for (const provider of PROVIDERS) {
    const session = await findCheckoutByRef(pool, { appId, provider, ref })
    if (!session || session.state === 'EXPIRED' || session.state === 'FAILED') continue
    const ids = session.items.map(({ priceId }) => priceId)
    const prices = await findAnyPrices(pool, appId, provider, ids)
    const catalogue = await catalogueOf({ service, appId })
    return {
      appName: app.name,
      shopUrl: app.origins[0] ?? null,
      items: session.items.flatMap(({ priceId, packageId, quantity }) => {
        const price = prices.find(({ id }) => id === priceId)
        if (!price) return []
        const { amount, currency, interval } = price
        const name = soldName(catalogue, packageId === null ? { credits: session.credits } : { packageId })
        return [{ provider, amount: amount * (quantity ?? 1), currency, interval, name }]
      }),
      terms: session.terms,
      isPaid: session.state === 'PAID' || (provider === 'sandbox' && (await isPaidInSandbox(service, ref))),
    }
  }
  return null
}

/** The sandbox is asked itself, since its webhook event arrives a moment later. */
const isPaidInSandbox = async (service: Service, ref: string): Promise<boolean> =>
  (await viewCheckout(service, ref))?.state === 'paid'
