import { randomBytes } from 'node:crypto'
import type { ProviderPrice } from '../../billing/provider.ts'
import { type Currency, currenciesOf } from '../../domain/currency.ts'
import { badUserInput, quote, TollgateError } from '../../domain/errors.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import { MAX_PRICES } from '../../domain/limits.ts'
import { type Price, priceOf } from '../../domain/price.ts'
import { providerName } from '../../domain/provider-name.ts'
import * as store from '../../store/billing/prices.ts'
import { requireApp } from '../apps/apps.ts'
import type { Call } from '../call/call.ts'
import { mutateCatalogue } from '../call/mutate.ts'
import { requirePackage } from '../call/require.ts'
import { askingProvider, checkProvider, providerOf } from './provider-of.ts'

interface PriceInput {
  provider: string
  amount: number
  currency: string
  interval: string | null
  id: string | null
}

export async function prices(
  { service, appId }: Pick<Call, 'service' | 'appId'>,
  packageId: string | null,
  includeArchived: boolean,
): Promise<store.PriceRow[]> {
  await requireApp(service.pool, appId)
  if (packageId !== null && !isIdentifier(packageId)) return []
  return store.listPrices(service.pool, appId, packageId, includeArchived)
}

/** Currencies that a provider supports. */
export const currencies = (provider: string): Currency[] => currenciesOf(checkProvider(provider))

/** A price has the provider's id; for the sandbox it is generated. */
export async function createPrice(call: Call, packageId: string, input: PriceInput): Promise<store.PriceRow> {
  const provider = checkProvider(input.provider)
  if (input.id === null && provider !== 'sandbox') {
    throw badUserInput(
      `id must be the ID of a price at ${providerName(provider)}. Create it there first, or import it.`,
      'id',
    )
  }
  const id = input.id ?? `price_sandbox_${randomBytes(12).toString('hex')}`
  return addPrice(call, packageId, priceOf({ ...input, provider, id }))
}

/** With amount, currency and interval of the provider's price. */
export async function importPrice(
  call: Call,
  packageId: string,
  provider: string,
  id: string,
): Promise<store.PriceRow> {
  const { appId } = call
  await requireApp(call.service.pool, appId)
  const found = await askingProvider(provider, async () =>
    (await providerOf(call.service, appId, provider)).fetchPrice(id),
  )
  if (!found) throw priceNotFound(provider, id)
  const { productName: _, ...price } = found
  return addPrice(call, packageId, priceOf(price))
}

function addPrice(call: Call, packageId: string, price: Price): Promise<store.PriceRow> {
  const { appId } = call
  return changePrices(call, price.provider, price.id, async (tx, catalogue) => {
    requirePackage(catalogue, packageId)
    if (!(await store.insertPrice(tx, appId, packageId, price))) {
      throw badUserInput(
        `The price ${quote(price.id)} at ${providerName(price.provider)} is already in use`,
        'id',
      )
    }
    if ((await store.countPrices(tx, appId)) > MAX_PRICES)
      throw badUserInput(`An app can have at most ${MAX_PRICES} prices, including archived ones`)
  })
}

export async function archivePrice(
  call: Call,
  provider: string,
  id: string,
  archived: boolean,
): Promise<store.PriceRow> {
  const { appId } = call
  if (!isIdentifier(id)) throw priceNotFound(provider, id)
  return changePrices(call, checkProvider(provider), id, async (tx) => {
    if (!(await store.archivePrice(tx, appId, provider, id, archived))) throw priceNotFound(provider, id)
  })
}

type Catalogue = Parameters<typeof requirePackage>[0]
type Change = (tx: Parameters<typeof store.insertPrice>[0], catalogue: Catalogue) => Promise<void>

async function changePrices(
  call: Call,
  provider: string,
  id: string,
  change: Change,
): Promise<store.PriceRow> {
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
): Promise<(ProviderPrice & { packageId: string | null })[]> {
  await requireApp(service.pool, appId)
  const listed = await askingProvider(provider, async () =>
    (await providerOf(service, appId, provider)).listPrices(),
  )
  const ids = listed.map(({ id }) => id)
  const known = await store.findPrices(service.pool, appId, provider, ids)
  return listed.map((price) => ({
    ...price,
    packageId: known.find(({ id }) => id === price.id)?.packageId ?? null,
  }))
}

const priceNotFound = (provider: string, id: string) =>
  new TollgateError('PRICE_NOT_FOUND', `Price not found at ${providerName(provider)}: ${quote(id)}`)
