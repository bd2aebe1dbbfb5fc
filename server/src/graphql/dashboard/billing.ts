import { type Currency, exponentOf } from '../../domain/currency.ts'
import { displayAmount } from '../../domain/price.ts'
import {
  archiveBillingTemplate,
  type BillingTemplate,
  billingTemplate,
  billingTemplates,
  createBillingTemplate,
} from '../../operations/billing/billing-templates.ts'
import { generateSubscriptionLink } from '../../operations/billing/generate-subscription-link.ts'
import {
  archivePrice,
  createPrice,
  currencies,
  importPrice,
  prices,
  providerPrices,
} from '../../operations/billing/prices.ts'
import type { PriceRow } from '../../store/billing/prices.ts'
import type { Builder } from '../types/builder.ts'
import { isoTime, isoTimeOrNull } from '../types/time.ts'
import { appCall, type DashboardContext } from './context.ts'
import { mutationFields, queryFields } from './fields.ts'
import { type DashboardTypes, DECIMALS } from './types.ts'

/** Prices, templates and payment links. */
export function defineBilling(builder: Builder<DashboardContext>, types: DashboardTypes): void {
  const own = defineBillingTypes(builder, types)

  queryFields(builder, (t) => {
    const appId = t.arg.string({ required: true })
    const includeArchived = t.arg.boolean({ defaultValue: false })
    return {
      prices: t.field({
        type: [own.price],
        description: 'Every price, oldest first: of the app, or of one package.',
        args: { appId, packageId: t.arg.string(), includeArchived },
        resolve: (_, { appId, packageId, includeArchived }, context) =>
          prices(appCall(context, appId), packageId ?? null, includeArchived ?? false),
      }),
      providerPrices: t.field({
        type: [own.providerPrice],
        description: 'What the provider knows that could be imported.',
        args: { appId, provider: t.arg.string({ required: true }) },
        resolve: (_, { appId, provider }, context) => providerPrices(appCall(context, appId), provider),
      }),
      currencies: t.field({
        type: [own.currency],
        description: 'What a price may be in, as the provider counts it; by code.',
        args: { provider: t.arg.string({ required: true }) },
        resolve: (_, { provider }) => currencies(provider),
      }),
      billingTemplate: t.field({
        type: own.template,
        nullable: true,
        args: { appId, id: t.arg.string({ required: true }) },
        resolve: (_, { appId, id }, context) => billingTemplate(appCall(context, appId), id),
      }),
      billingTemplates: t.field({
        type: [own.template],
        description: 'Oldest first.',
        args: { appId, includeArchived },
        resolve: (_, { appId, includeArchived }, context) =>
          billingTemplates(appCall(context, appId), includeArchived ?? false),
      }),
    }
  })

  mutationFields(builder, (t) => {
    const appId = t.arg.string({ required: true })
    const id = t.arg.string({ required: true })
    const packageId = t.arg.string({ required: true })
    const provider = t.arg.string({ required: true })
    const archived = t.arg.boolean({ defaultValue: true })
    return {
      createPrice: t.field({
        type: own.price,
        nullable: true,
        args: { appId, packageId, input: t.arg({ type: own.createPrice, required: true }) },
        resolve: (_, { appId, packageId, input }, context) =>
          createPrice(appCall(context, appId), packageId, {
            provider: input.provider ?? 'sandbox',
            amount: input.amount,
            currency: input.currency,
            interval: input.interval ?? null,
            id: input.id ?? null,
          }),
      }),
      importPrice: t.field({
        type: own.price,
        nullable: true,
        description: 'Takes amount, currency and interval of a price from the provider.',
        args: { appId, packageId, provider, id },
        resolve: (_, { appId, packageId, provider, id }, context) =>
          importPrice(appCall(context, appId), packageId, provider, id),
      }),
      archivePrice: t.field({
        type: own.price,
        nullable: true,
        description: 'An archived price is in no new link. archived: false brings it back.',
        args: { appId, provider, id, archived },
        resolve: (_, { appId, provider, id, archived }, context) =>
          archivePrice(appCall(context, appId), provider, id, archived ?? true),
      }),
      createBillingTemplate: t.field({
        type: own.template,
        nullable: true,
        args: { appId, input: t.arg({ type: own.createTemplate, required: true }) },
        resolve: (_, { appId, input }, context) =>
          createBillingTemplate(appCall(context, appId), {
            ...input,
            priceIds: input.priceIds ?? [],
            trialDays: input.trialDays ?? null,
            trialNeedsCard: input.trialNeedsCard ?? true,
            promotionCodes: input.promotionCodes ?? false,
          }),
      }),
      archiveBillingTemplate: t.field({
        type: own.template,
        nullable: true,
        args: { appId, id, archived },
        resolve: (_, { appId, id, archived }, context) =>
          archiveBillingTemplate(appCall(context, appId), id, archived ?? true),
      }),
      generateSubscriptionLink: t.field({
        type: own.link,
        nullable: true,
        description: 'A payment link, as the Admin API makes it: to try a template.',
        args: {
          appId,
          userId: t.arg.string(),
          templateId: t.arg.string({ required: true }),
          successUrl: t.arg.string({ required: true }),
          cancelUrl: t.arg.string({ required: true }),
        },
        resolve: (_, { appId, userId, ...input }, context) =>
          generateSubscriptionLink(appCall(context, appId), {
            ...input,
            userId: userId ?? null,
          }),
      }),
    }
  })
}

function defineBillingTypes(builder: Builder<DashboardContext>, types: DashboardTypes) {
  const price = builder.objectRef<PriceRow>('BillingPrice').implement({
    fields: (t) => ({
      id: t.exposeString('id', { description: "The price's id at the billing provider." }),
      packageId: t.exposeString('packageId'),
      provider: t.exposeString('provider'),
      amount: t.expose('amount', { type: 'SafeInt', description: 'In minor units of the currency.' }),
      displayAmount: t.string({ resolve: displayAmount }),
      currency: t.exposeString('currency'),
      decimals: t.int({ description: DECIMALS, resolve: (p) => exponentOf(p.provider, p.currency) }),
      interval: t.exposeString('interval', { nullable: true, description: INTERVAL }),
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
          description: "What is sold, in the provider's words.",
        }),
        amount: t.expose('amount', { type: 'SafeInt' }),
        displayAmount: t.string({ resolve: displayAmount }),
        currency: t.exposeString('currency'),
        decimals: t.int({ description: DECIMALS, resolve: (p) => exponentOf(p.provider, p.currency) }),
        interval: t.exposeString('interval', { nullable: true }),
        packageId: t.exposeString('packageId', {
          nullable: true,
          description: 'The package that it is the price of already.',
        }),
      }),
    })
  const currency = builder.objectRef<Currency>('Currency').implement({
    fields: (t) => ({
      code: t.exposeString('code', { description: 'Of ISO 4217, in lower case.' }),
      decimals: t.exposeInt('exponent', { description: DECIMALS }),
      step: t.exposeInt('step', { description: 'Amounts are multiples of it, in minor units.' }),
    }),
  })
  const template = builder.objectRef<BillingTemplate>('BillingTemplate').implement({
    fields: (t) => ({
      id: t.exposeString('id'),
      name: t.exposeString('name'),
      packages: t.expose('packages', { type: [types.package] }),
      prices: t.expose('prices', {
        type: [price],
        description: 'What a link of today asks for, one per package that has a price.',
      }),
      provider: t.exposeString('provider', {
        nullable: true,
        description: 'Who takes the money; null while no link can be made.',
      }),
      problem: t.exposeString('problem', {
        nullable: true,
        description: 'Why no link can be made of it now, and what to do; null: one can.',
      }),
      trialDays: t.exposeInt('trialDays', { nullable: true, description: TRIAL_DAYS }),
      trialNeedsCard: t.exposeBoolean('trialNeedsCard', { description: TRIAL_CARD }),
      promotionCodes: t.exposeBoolean('promotionCodes', { description: PROMOTION_CODES }),
      createdAt: t.string({ resolve: (row) => isoTime(row.createdAt) }),
      archivedAt: t.string({ nullable: true, resolve: (row) => isoTimeOrNull(row.archivedAt) }),
    }),
  })
  const link = builder.objectRef<{ url: string }>('SubscriptionLink').implement({
    fields: (t) => ({ url: t.exposeString('url') }),
  })
  const createPrice = builder.inputType('CreatePriceInput', {
    fields: (t) => ({
      provider: t.string({ defaultValue: 'sandbox', description: '"sandbox" or "stripe".' }),
      amount: t.field({ type: 'SafeInt', required: true }),
      currency: t.string({ required: true }),
      interval: t.string({ description: INTERVAL }),
      id: t.string({
        description: "The price's id at the provider; the sandbox makes one up when it is left out.",
      }),
    }),
  })
  const createTemplate = builder.inputType('CreateBillingTemplateInput', {
    fields: (t) => ({
      id: t.string({ required: true }),
      name: t.string({ required: true }),
      packageIds: t.stringList({
        required: true,
        description: 'A base plan and add-ons, or add-ons alone for who has one.',
      }),
      priceIds: t.stringList({
        description: 'Which price of each package; a package not named here has its newest live price.',
      }),
      trialDays: t.int({ description: TRIAL_DAYS }),
      trialNeedsCard: t.boolean({ defaultValue: true, description: TRIAL_CARD }),
      promotionCodes: t.boolean({ defaultValue: false, description: PROMOTION_CODES }),
    }),
  })
  return { price, providerPrice, currency, template, link, createPrice, createTemplate }
}

const TRIAL_DAYS = 'How long its links may be tried before they are charged; null: paid at once.'
const TRIAL_CARD =
  'Whether a trial asks for a card. One without ends when it is over, unless a card was given by then.'
const PROMOTION_CODES = 'Whether payers may enter promotion codes of the provider. The sandbox has none.'
const INTERVAL = 'day, week, month or year; null: paid once.'
