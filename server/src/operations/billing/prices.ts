import { randomBytes } from 'node:crypto'
import type { ProviderPrice } from '../../billing/provider.ts'
import type { Catalogue } from '../../domain/catalogue.ts'
import { checkSoldCredits, type SoldCredits } from '../../domain/credit-sale.ts'
import { type Currency, currenciesOf } from '../../domain/currency.ts'
import { badUserInput, quote, TollgateError } from '../../domain/errors.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import { MAX_PRICES } from '../../domain/limits.ts'
import { type Price, priceOf } from '../../domain/price.ts'
import { providerName } from '../../domain/provider-name.ts'
import * as store from '../../store/billing/prices.ts'
import type { HomeDb } from '../../store/connection/places.ts'
import { requireApp } from '../apps/apps.ts'
import type { Call } from '../call/call.ts'
import { mutateCatalogue } from '../call/mutate.ts'
import { requireFeature, requirePackage } from '../call/require.ts'
import { askingProvider, checkProvider, providerOf } from './provider-of.ts'

/** The package that a price sells, or the credits: one of them. */
export interface SellsInput {
  packageId: string | null
  credits: SoldCredits | null
}

interface PriceInput {
  provider: string
  amount: number
  currency: string
  interval: string | null
  id: string | null
}

export async function prices(
  { service, appId }: Pick<Call, 'service' | 'appId'>,
  { packageId, featureId }: { packageId: string | null; featureId: string | null },
  includeArchived: boolean,
): Promise<store.AnyPriceRow[]> {
  await requireApp(service.pool, appId)
  if (![packageId, featureId].every((id) => id === null || isIdentifier(id))) return []
  return store.listAnyPrices(service.pool, appId, { packageId, featureId }, includeArchived)
}

/** Currencies that a provider supports. */
export const currencies = (provider: string): Currency[] => currenciesOf(checkProvider(provider))

/** A price has the provider's id; for the sandbox it is generated. */
export async function createPrice(
  call: Call,
  sells: SellsInput,
  input: PriceInput,
): Promise<store.AnyPriceRow> {
  const provider = checkProvider(input.provider)
  if (input.id === null && provider !== 'sandbox') {
    throw badUserInput(
      `id must be the ID of a price at ${providerName(provider)}. Create it there first, or import it.`,
      'id',
    )
  }
  const id = input.id ?? `price_sandbox_${randomBytes(12).toString('hex')}`
  return addPrice(call, sells, priceOf({ ...input, provider, id }))
}

/** With amount, currency and interval of the provider's price. */
export async function importPrice(
  call: Call,
  sells: SellsInput,
  provider: string,
  id: string,
): Promise<store.AnyPriceRow> {
  const { appId } = call
  await requireApp(call.service.pool, appId)
  const found = await askingProvider(provider, async () =>
    (await providerOf(call.service, appId, provider)).fetchPrice(id),
  )
  if (!found) throw priceNotFound(provider, id)
  const { productName: _, ...price } = found
  return addPrice(call, sells, priceOf(price))
}

function addPrice(call: Call, sells: SellsInput, price: Price): Promise<store.AnyPriceRow> {
  const { appId } = call
  return changePrices(call, price.provider, price.id, async (tx, catalogue) => {
    const sold = checkSells(sells, price, catalogue)
    if (sold.packageId !== null) await store.settleDefaultPrice(tx, appId, sold.packageId)
    if (!(await store.insertPrice(tx, appId, sold, price))) {
      throw badUserInput(
        `The price ${quote(price.id)} at ${providerName(price.provider)} is already in use`,
        'id',
      )
    }
    if ((await store.countPrices(tx, appId)) > MAX_PRICES)
      throw badUserInput(`An app can have at most ${MAX_PRICES} prices, including archived ones`)
  })
}

function checkSells(
  { packageId, credits }: SellsInput,
  price: Price,
  catalogue: Catalogue,
): store.PriceSells {
  if (packageId !== null && credits === null) {
    requirePackage(catalogue, packageId)
    return { packageId, credits }
  }
  if (packageId !== null || credits === null) {
    throw badUserInput('A price sells either a package (packageId) or credits (credits)', 'credits')
  }
  const feature = requireFeature(catalogue, credits.featureId)
  if (feature.type === 'BINARY') {
    throw badUserInput(`Feature ${quote(feature.id)} is BINARY and cannot have credits`, 'featureId')
  }
  checkSoldCredits(credits, price)
  return { packageId, credits }
}

export async function archivePrice(
  call: Call,
  provider: string,
  id: string,
  archived: boolean,
): Promise<store.AnyPriceRow> {
  const { appId } = call
  if (!isIdentifier(id)) throw priceNotFound(provider, id)
  return changePrices(call, checkProvider(provider), id, async (tx) => {
    if (!(await store.archivePrice(tx, appId, provider, id, archived))) throw priceNotFound(provider, id)
    const price = await store.findPrice(tx, appId, provider, id)
    if (price && price.packageId !== null) await store.settleDefaultPrice(tx, appId, price.packageId)
  })
}

/** Payment links of templates that name no price of the package use this one from now on. */
export async function setDefaultPrice(call: Call, provider: string, id: string): Promise<store.AnyPriceRow> {
  const { appId } = call
  if (!isIdentifier(id)) throw priceNotFound(provider, id)
  return changePrices(call, checkProvider(provider), id, async (tx) => {
    const price = await store.findPrice(tx, appId, provider, id)
    if (!price) throw priceNotFound(provider, id)
    if (price.packageId === null) {
      throw badUserInput(`The price ${quote(id)} sells credits. Only a package has a default price.`, 'id')
    }
    if (price.archivedAt !== null) {
      throw badUserInput(`The price ${quote(id)} is archived. Restore it before making it the default.`, 'id')
    }
    if (!price.isDefault) await store.setDefaultPrice(tx, appId, price)
  })
}

type Change = (tx: HomeDb, catalogue: Catalogue) => Promise<void>

async function changePrices(
  call: Call,
  provider: string,
  id: string,
  change: Change,
): Promise<store.AnyPriceRow> {
  const { appId } = call
  return mutateCatalogue(
    call,
    (tx, { catalogue }) => change(tx, catalogue),
    async (_after, tx) => {
      const price = await store.findPrice(tx, appId, provider, id)
      if (!price) throw new Error(`the price ${id} no longer exists`)
      return price
    },
  )
}

/** The provider's prices, with the package that already uses each. */
export async function providerPrices(
  { service, appId }: Pick<Call, 'service' | 'appId'>,
  provider: string,
): Promise<(ProviderPrice & { packageId: string | null; sellsCredits: boolean })[]> {
  await requireApp(service.pool, appId)
  const listed = await askingProvider(provider, async () =>
    (await providerOf(service, appId, provider)).listPrices(),
  )
  const ids = listed.map(({ id }) => id)
  const known = await store.findAnyPrices(service.pool, appId, provider, ids)
  return listed.map((price) => {
    const used = known.find(({ id }) => id === price.id)
    return { ...price, packageId: used?.packageId ?? null, sellsCredits: (used?.credits ?? null) !== null }
  })
}

export const priceNotFound = (provider: string | null, id: string) =>
  new TollgateError(
    'PRICE_NOT_FOUND',
    provider === null
      ? `Price of credits not found: ${quote(id)}`
      : `Price not found at ${providerName(provider)}: ${quote(id)}`,
  )
