import {
  archiveBillingTemplate,
  type BillingTemplate,
  billingTemplate,
  billingTemplates,
  createBillingTemplate,
} from '../../operations/billing/billing-templates.ts'
import { generateCreditLink } from '../../operations/billing/generate-credit-link.ts'
import { generateSubscriptionLink } from '../../operations/billing/generate-subscription-link.ts'
import type { Builder } from '../types/builder.ts'
import { SAVE_CARD } from '../types/recharge-types.ts'
import { isoTime, isoTimeOrNull } from '../types/time.ts'
import { appCall, type DashboardContext } from './context.ts'
import { mutationFields, queryFields } from './fields.ts'
import { definePrices } from './prices.ts'
import type { DashboardTypes } from './types.ts'

export function defineBilling(builder: Builder<DashboardContext>, types: DashboardTypes): void {
  const own = defineBillingTypes(builder, types)

  queryFields(builder, (t, { appId, id }) => {
    const includeArchived = t.arg.boolean({ defaultValue: false })
    return {
      billingTemplate: t.field({
        type: own.template,
        args: { appId, id },
        resolve: (_, { appId, id }, context) => billingTemplate(appCall(context, appId), id),
      }),
      billingTemplates: t.field({
        type: [own.template],
        description: 'Billing templates of the app, oldest first.',
        args: { appId, includeArchived },
        resolve: (_, { appId, includeArchived }, context) =>
          billingTemplates(appCall(context, appId), includeArchived ?? false),
      }),
    }
  })

  mutationFields(builder, (t, { appId, id }) => {
    const archived = t.arg.boolean({ defaultValue: true })
    return {
      createBillingTemplate: t.field({
        type: own.template,
        args: { appId, input: t.arg({ type: own.createTemplate, required: true }) },
        resolve: (_, { appId, input: { choosesInterval, ...input } }, context) =>
          createBillingTemplate(appCall(context, appId), {
            ...input,
            priceIds: input.priceIds ?? [],
            trialDays: input.trialDays ?? null,
            trialNeedsCard: input.trialNeedsCard ?? true,
            promotionCodes: input.promotionCodes ?? false,
            ...(choosesInterval && { choosesInterval: true }),
          }),
      }),
      archiveBillingTemplate: t.field({
        type: own.template,
        args: { appId, id, archived },
        resolve: (_, { appId, id, archived }, context) =>
          archiveBillingTemplate(appCall(context, appId), id, archived ?? true),
      }),
      generateCreditLink: t.field({
        type: own.creditLink,
        description: 'Generates a payment link for credits as the Admin API does.',
        args: {
          appId,
          userId: t.arg.string({ required: true }),
          priceId: t.arg.string({ required: true }),
          quantity: t.arg.int({ defaultValue: 1 }),
          successUrl: t.arg.string({ required: true }),
          cancelUrl: t.arg.string({ required: true }),
          saveCard: t.arg.boolean({ defaultValue: false, description: SAVE_CARD }),
        },
        resolve: (_, { appId, quantity, saveCard, ...input }, context) =>
          generateCreditLink(appCall(context, appId), {
            ...input,
            quantity: quantity ?? 1,
            saveCard: saveCard ?? false,
          }),
      }),
      generateSubscriptionLink: t.field({
        type: own.link,
        description: 'Generates a payment link as the Admin API does, to test a template.',
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
  const price = definePrices(builder)
  const choice = builder.objectRef<BillingTemplate['choices'][number]>('TemplateChoice').implement({
    fields: (t) => ({
      interval: t.exposeString('interval'),
      prices: t.expose('prices', { type: [price], description: 'One per package.' }),
    }),
  })
  const template = builder.objectRef<BillingTemplate>('BillingTemplate').implement({
    fields: (t) => ({
      id: t.exposeString('id'),
      name: t.exposeString('name'),
      packages: t.expose('packages', { type: [types.package] }),
      prices: t.expose('prices', {
        type: [price],
        description: 'Prices used for a new payment link, one per package that has a price.',
      }),
      provider: t.exposeString('provider', {
        nullable: true,
        description: 'Billing provider of the payment links; null if no link can be created.',
      }),
      problem: t.exposeString('problem', {
        nullable: true,
        description:
          'Reason why no payment link can be created and how to resolve it; null if one can be created.',
      }),
      trialDays: t.exposeInt('trialDays', { nullable: true, description: TRIAL_DAYS }),
      trialNeedsCard: t.exposeBoolean('trialNeedsCard', { description: TRIAL_CARD }),
      promotionCodes: t.exposeBoolean('promotionCodes', { description: PROMOTION_CODES }),
      choosesInterval: t.boolean({
        description: CHOOSES_INTERVAL,
        resolve: ({ choosesInterval }) => choosesInterval ?? false,
      }),
      choices: t.expose('choices', {
        type: [choice],
        description: 'Intervals that payers can choose from, shortest first; empty if there is no choice.',
      }),
      createdAt: t.string({ resolve: (row) => isoTime(row.createdAt) }),
      archivedAt: t.string({ nullable: true, resolve: (row) => isoTimeOrNull(row.archivedAt) }),
    }),
  })
  const link = builder.objectRef<{ url: string }>('SubscriptionLink').implement({
    fields: (t) => ({ url: t.exposeString('url') }),
  })
  const creditLink = builder.objectRef<{ url: string }>('CreditLink').implement({
    fields: (t) => ({ url: t.exposeString('url') }),
  })
  const createTemplate = builder.inputType('CreateBillingTemplateInput', {
    fields: (t) => ({
      id: t.string({ required: true }),
      name: t.string({ required: true }),
      packageIds: t.stringList({
        required: true,
        description:
          'A base plan with optional add-ons, or only add-ons, for users who already have a base plan.',
      }),
      priceIds: t.stringList({
        description: 'Prices to use, at most one per package. Other packages use their default price.',
      }),
      trialDays: t.int({ description: TRIAL_DAYS }),
      trialNeedsCard: t.boolean({ defaultValue: true, description: TRIAL_CARD }),
      promotionCodes: t.boolean({ defaultValue: false, description: PROMOTION_CODES }),
      choosesInterval: t.boolean({ defaultValue: false, description: CHOOSES_INTERVAL }),
    }),
  })
  return { template, link, creditLink, createTemplate }
}

const TRIAL_DAYS = 'Length in days of the trial before the first charge; null for no trial.'
const TRIAL_CARD =
  'Whether a card is required to start a trial. Without one, the subscription ends after the trial unless a card was added.'
const CHOOSES_INTERVAL =
  'Whether payers choose the billing interval on a page before the payment. They can choose any interval at which every package has a price in use at the same provider and in the same currency.'
const PROMOTION_CODES =
  'Whether payers can enter promotion codes of the billing provider. The sandbox does not support them.'
