import { badUserInput, quote, SUBSCRIBE_REFUSALS, TollgateError } from './errors.ts'
import { MAX_AMOUNT } from './limits.ts'
import type { Package } from './package.ts'
import { defaultPrice, INTERVALS, type Interval, type Price, totalOf } from './price.ts'
import { providerName } from './provider-name.ts'
import { PLAIN_TERMS, type SaleTerms } from './sale-terms.ts'
import { checkSubscribe } from './subscribe-rules.ts'

/** A line of an offer. */
interface OfferItem {
  package: Package
  price: Price
}

/** Offer of a billing template today. */
export interface Offer {
  items: OfferItem[]
  provider: string
  currency: string
  /** null: a one-off payment */
  interval: Interval | null
}

/** A package of a template: with a chosen price, or the package's default. */
export interface TemplateItem {
  package: Package
  chosen: (Price & { archived: boolean }) | null
}

/** The current price of each package of a template; null where there is none. */
export function pricesOf(items: readonly TemplateItem[]): (Price | null)[] {
  return items.map(({ package: { prices }, chosen }) =>
    chosen ? (chosen.archived ? null : chosen) : defaultPrice(prices),
  )
}

/**
 * The offer of a template, or the reason why there is none and how to resolve it. A provider takes one payment in one
 * currency and renews everything together.
 */
export function offerOf(
  templateItems: readonly TemplateItem[],
  { trialDays }: SaleTerms = PLAIN_TERMS,
): Offer | { problem: string } {
  const prices = pricesOf(templateItems)
  const items: OfferItem[] = []
  for (const [i, { package: sold, chosen }] of templateItems.entries()) {
    const price = prices[i]
    const name = quote(sold.id)
    if (sold.status !== 'PUBLISHED') {
      return { problem: `The package ${name} is not published. Publish it in the dashboard.` }
    }
    if (sold.archived) {
      return { problem: `The package ${name} is archived. Restore it or create another template.` }
    }
    if (!price && chosen) {
      return {
        problem: `The price ${quote(chosen.id)} of the package ${name} is archived. Restore it or create another template.`,
      }
    }
    if (!price) return { problem: `The package ${name} has no price. Create one in the dashboard.` }
    items.push({ package: sold, price })
  }
  const [first] = items
  if (!first) return { problem: 'The template has no packages. Create another template.' }
  const { provider, currency, interval } = first.price
  for (const { package: sold, price } of items) {
    const differs =
      price.provider !== provider
        ? `is charged by ${providerName(price.provider)}, but the price of ${quote(first.package.id)} by ${providerName(provider)}`
        : price.currency !== currency
          ? `is in ${price.currency}, but the price of ${quote(first.package.id)} in ${currency}`
          : price.interval !== interval
            ? `is charged ${paid(price.interval)}, but the price of ${quote(first.package.id)} ${paid(interval)}`
            : null
    if (differs !== null) {
      return {
        problem: `The price of ${quote(sold.id)} ${differs}. Choose matching prices with priceIds.`,
      }
    }
  }
  if (totalOf(items.map(({ price }) => price)) === null)
    return { problem: `${TOO_MUCH}: make another template` }
  if (interval === null && trialDays !== null) {
    return { problem: 'One-off prices do not support trials. Create a template without a trial.' }
  }
  return { items, provider, currency, interval }
}

/**
 * The offers that a payer can choose between: one for each interval at which every package has a price, at the provider
 * and in the currency of the template's offer, which is one of them. For an interval that is not the template's, a package
 * is sold at its default price or, failing that, at its newest. Empty: there is only one.
 */
export function choicesOf(
  templateItems: readonly TemplateItem[],
  terms: SaleTerms,
): (Offer & { interval: Interval })[] {
  const base = offerOf(templateItems, terms)
  if ('problem' in base || base.interval === null || terms.choosesInterval !== true) return []
  const { provider, currency } = base
  const choices = [...INTERVALS].flatMap((interval) => {
    if (interval === base.interval) return [{ ...base, interval }]
    const items = base.items.flatMap(({ package: sold }) => {
      const matching = sold.prices.filter(
        (price) => price.provider === provider && price.currency === currency && price.interval === interval,
      )
      const price = defaultPrice(matching)
      return price ? [{ package: sold, price }] : []
    })
    const isWhole = items.length === base.items.length && totalOf(items.map(({ price }) => price)) !== null
    return isWhole ? [{ items, provider, currency, interval }] : []
  })
  return choices.length > 1 ? choices : []
}

const TOO_MUCH = `The prices add up to more than ${MAX_AMOUNT} minor units, which cannot be charged at once`

const paid = (interval: Interval | null) => (interval === null ? 'once' : `every ${interval}`)

/** Rejects prices whose total is too large to be charged. */
export function checkTotal(prices: readonly (Price | null)[]): void {
  if (totalOf(prices.filter((price) => price !== null)) === null) throw badUserInput(TOO_MUCH, 'packageIds')
}

/** A template may contain what one `subscribe` call accepts: at most one base plan, each package once. */
export function checkTemplatePackages(packages: readonly (Package | undefined)[]): void {
  try {
    // Drafts may be published later, and add-ons may be for users who already have a base plan.
    checkSubscribe(
      packages.map((p) => p && { ...p, status: 'PUBLISHED' as const }),
      packages.some((p) => p && !p.isAddon) ? [] : [{ packageId: '', isAddon: false }],
    )
  } catch (error) {
    const twice = error instanceof TollgateError && error.message === SUBSCRIBE_REFUSALS.alreadySubscribed
    throw twice ? badUserInput('packageIds must not contain a package twice', 'packageIds') : error
  }
}
