import type { SoldCredits } from '../../domain/credit-sale.ts'
import { type Currency, exponentOf } from '../../domain/currency.ts'
import { displayAmount } from '../../domain/price.ts'
import {
  archivePrice,
  createPrice,
  currencies,
  importPrice,
  prices,
  providerPrices,
  type SellsInput,
  setDefaultPrice,
} from '../../operations/billing/prices.ts'
import type { AnyPriceRow } from '../../store/billing/prices.ts'
import type { Builder } from '../types/builder.ts'
import { isoTime, isoTimeOrNull } from '../types/time.ts'
import { appCall, type DashboardContext } from './context.ts'
import { mutationFields, queryFields } from './fields.ts'
import { DECIMALS } from './types.ts'

/** Prices of packages and credits; returns their type. */
export function definePrices(builder: Builder<DashboardContext>) {
  const own = definePriceTypes(builder)
  queryFields(builder, (t, { appId, provider }) => ({
    prices: t.field({
      type: [own.price],
      description: 'Prices of the app, of one package, or of credits of one feature, oldest first.',
      args: {
        appId,
        packageId: t.arg.string(),
        featureId: t.arg.string(),
        includeArchived: t.arg.boolean({ defaultValue: false }),
      },
      resolve: (_, { appId, packageId = null, featureId = null, includeArchived }, context) =>
        prices(appCall(context, appId), { packageId, featureId }, includeArchived ?? false),
    }),
    providerPrices: t.field({
      type: [own.providerPrice],
      description: 'Prices at the billing provider that can be imported.',
      args: { appId, provider },
      resolve: (_, { appId, provider }, context) => providerPrices(appCall(context, appId), provider),
    }),
    currencies: t.field({
      type: [own.currency],
      description: 'Currencies supported by the billing provider, ordered by code.',
      args: { provider },
      resolve: (_, { provider }) => currencies(provider),
    }),
  }))
  mutationFields(builder, (t, { appId, id, provider }) => {
    const packageId = t.arg.string({ description: 'Package that the price sells; omitted for credits.' })
    const archived = t.arg.boolean({ defaultValue: true })
    return {
      createPrice: t.field({
        type: own.price,
        args: { appId, packageId, input: t.arg({ type: own.createPrice, required: true }) },
        resolve: (_, { appId, packageId, input }, context) =>
          createPrice(appCall(context, appId), sells(packageId, input.credits), {
            provider: input.provider ?? 'sandbox',
            amount: input.amount,
            currency: input.currency,
            interval: input.interval ?? null,
            id: input.id ?? null,
          }),
      }),
      importPrice: t.field({
        type: own.price,
        description:
          'Creates a price with the amount, currency and interval of an existing price at the billing provider.',
        args: { appId, packageId, provider, id, credits: t.arg({ type: own.creditSale }) },
        resolve: (_, { appId, packageId, provider, id, credits }, context) =>
          importPrice(appCall(context, appId), sells(packageId, credits), provider, id),
      }),
      archivePrice: t.field({
        type: own.price,
        description:
          'Archives a price, or restores it if `archived` is false. An archived price is not used in new payment links. If it was the default of its package, the newest other price in use becomes the default.',
        args: { appId, provider, id, archived },
        resolve: (_, { appId, provider, id, archived }, context) =>
          archivePrice(appCall(context, appId), provider, id, archived ?? true),
      }),
      setDefaultPrice: t.field({
        type: own.price,
        description:
          'Makes a price the default of its package, which payment links use if their template names no price. Replaces the previous default.',
        args: { appId, provider, id },
        resolve: (_, { appId, provider, id }, context) =>
          setDefaultPrice(appCall(context, appId), provider, id),
      }),
    }
  })
  return own.price
}

function definePriceTypes(builder: Builder<DashboardContext>) {
  const soldCredits = builder.objectRef<SoldCredits>('SoldCredits').implement({
    fields: (t) => ({
      featureId: t.exposeString('featureId'),
      units: t.expose('units', { type: 'SafeInt' }),
      expiresDays: t.exposeInt('expiresDays', { nullable: true, description: EXPIRES_DAYS }),
    }),
  })
  const price = builder.objectRef<AnyPriceRow>('BillingPrice').implement({
    fields: (t) => ({
      id: t.exposeString('id', { description: 'ID of the price at the billing provider.' }),
      packageId: t.string({
        nullable: true,
        description: 'Package that it sells; null for a price of credits.',
        resolve: (p) => p.packageId,
      }),
      credits: t.field({
        type: soldCredits,
        nullable: true,
        description: 'Credits that it sells; null for a price of a package.',
        resolve: (p) => p.credits,
      }),
      provider: t.exposeString('provider'),
      amount: t.expose('amount', { type: 'SafeInt', description: 'Amount in minor units of the currency.' }),
      displayAmount: t.string({ resolve: displayAmount }),
      currency: t.exposeString('currency'),
      decimals: t.int({ description: DECIMALS, resolve: (p) => exponentOf(p.provider, p.currency) }),
      interval: t.exposeString('interval', { nullable: true, description: INTERVAL }),
      isDefault: t.exposeBoolean('isDefault', {
        description: 'Whether payment links use this price if their template names none for the package.',
      }),
      createdAt: t.string({ resolve: (p) => isoTime(p.createdAt) }),
      archivedAt: t.string({ nullable: true, resolve: (p) => isoTimeOrNull(p.archivedAt) }),
    }),
  })
  const providerPrice = builder
    .objectRef<Awaited<ReturnType<typeof providerPrices>>[number]>('ProviderPrice')
    .implement({
      fields: (t) => ({
        id: t.exposeString('id'),
        productName: t.exposeString('productName', {
          nullable: true,
          description: 'Name of the product at the billing provider.',
        }),
        amount: t.expose('amount', { type: 'SafeInt' }),
        displayAmount: t.string({ resolve: displayAmount }),
        currency: t.exposeString('currency'),
        decimals: t.int({ description: DECIMALS, resolve: (p) => exponentOf(p.provider, p.currency) }),
        interval: t.exposeString('interval', { nullable: true }),
        packageId: t.exposeString('packageId', {
          nullable: true,
          description: 'ID of the package that already has this price.',
        }),
        sellsCredits: t.exposeBoolean('sellsCredits', {
          description: 'Whether this price already sells credits.',
        }),
      }),
    })
  const currency = builder.objectRef<Currency>('Currency').implement({
    fields: (t) => ({
      code: t.exposeString('code', { description: 'ISO 4217 code in lower case.' }),
      decimals: t.exposeInt('exponent', { description: DECIMALS }),
      step: t.exposeInt('step', { description: 'Smallest step of an amount, in minor units.' }),
    }),
  })
  const creditSale = builder.inputType('CreditSaleInput', {
    description: 'Credits that a one-off price sells.',
    fields: (t) => ({
      featureId: t.string({ required: true }),
      units: t.field({ type: 'SafeInt', required: true }),
      expiresDays: t.int({ description: EXPIRES_DAYS }),
    }),
  })
  const createPrice = builder.inputType('CreatePriceInput', {
    fields: (t) => ({
      provider: t.string({
        defaultValue: 'sandbox',
        description: 'Billing provider: `sandbox` or `stripe`.',
      }),
      amount: t.field({ type: 'SafeInt', required: true }),
      currency: t.string({ required: true }),
      interval: t.string({ description: INTERVAL }),
      id: t.string({
        description: 'ID of the price at the billing provider. Generated for the sandbox if omitted.',
      }),
      credits: t.field({
        type: creditSale,
        description: 'Credits that the price sells, if it does not sell a package.',
      }),
    }),
  })
  return { price, providerPrice, currency, creditSale, createPrice }
}

type CreditSale = Omit<SoldCredits, 'expiresDays'> & { expiresDays?: number | null | undefined }

const sells = (packageId: string | null | undefined, credits: CreditSale | null | undefined): SellsInput => ({
  packageId: packageId ?? null,
  credits: credits ? { ...credits, expiresDays: credits.expiresDays ?? null } : null,
})

const EXPIRES_DAYS = 'Days after the payment on which the credits expire; null if they do not.'
const INTERVAL = 'Billing interval: `day`, `week`, `month` or `year`; null for a one-off price.'
