import { inApp } from '../../operations/apps/apps.ts'
import { mrrList, payments, type Revenue, revenue, revenueList } from '../../operations/billing/revenue.ts'
import { PAYMENT_STATES } from '../../store/billing/payments.ts'
import { REVENUE_LISTS } from '../../store/billing/revenue-lists.ts'
import type { Builder } from '../types/builder.ts'
import { definePage } from '../types/page-type.ts'
import { isoTime } from '../types/time.ts'
import { appCall, type DashboardContext } from './context.ts'
import { queryFields } from './fields.ts'
import { DECIMALS } from './types.ts'

type Listed = Awaited<ReturnType<typeof revenueList>>['rows'][number]
type Recurring = Awaited<ReturnType<typeof mrrList>>['rows'][number]
type ShownPayment = Awaited<ReturnType<typeof payments>>['rows'][number]

/** What comes in, and from what. */
export function defineRevenue(builder: Builder<DashboardContext>): void {
  const figures = defineFigures(builder)
  const list = builder.enumType('RevenueList', { values: REVENUE_LISTS })
  const state = builder.enumType('ChargeState', {
    description: 'FAILED: charged and not paid so far. REFUNDED: given back, or withheld by a dispute.',
    values: [...PAYMENT_STATES, 'REFUNDED'] as const,
  })
  const listed = builder.objectRef<Listed>('ListedSubscription').implement({
    fields: (t) => ({
      id: t.exposeString('id'),
      at: t.string({
        description: 'When it began, changed or ended; since when it is past due; until when it is a trial.',
        resolve: (row) => isoTime(row.at),
      }),
      userId: t.exposeString('userId'),
      userName: t.exposeString('userName', { nullable: true }),
      packageId: t.exposeString('packageId'),
      packageName: t.exposeString('packageName'),
      fromPackageId: t.exposeString('fromPackageId', { nullable: true }),
      fromPackageName: t.exposeString('fromPackageName', {
        nullable: true,
        description: 'Of a change, the package before it.',
      }),
      provider: t.exposeString('provider', { nullable: true }),
    }),
  })
  const payment = builder.objectRef<ShownPayment>('Charge').implement({
    fields: (t) => ({
      ref: t.exposeString('ref', { description: "The provider's id of the invoice or the payment." }),
      provider: t.exposeString('provider'),
      state: t.expose('state', { type: state }),
      amount: t.expose('amount', { type: 'SafeInt' }),
      currency: t.exposeString('currency'),
      decimals: t.exposeInt('decimals', { description: DECIMALS }),
      at: t.string({ resolve: (row) => isoTime(row.at) }),
      userId: t.exposeString('userId'),
      userName: t.exposeString('userName', { nullable: true }),
    }),
  })
  const recurring = builder.objectRef<Recurring>('RecurringRevenue').implement({
    description: 'What one subscription at a provider is in the monthly recurring revenue.',
    fields: (t) => ({
      ref: t.exposeString('ref', { description: "The provider's id of it." }),
      provider: t.exposeString('provider'),
      currency: t.exposeString('currency'),
      decimals: t.exposeInt('decimals', { description: DECIMALS }),
      amount: t.expose('amount', { type: 'SafeInt', description: 'A month.' }),
      pastDue: t.expose('pastDue', { type: 'SafeInt', description: 'The same if it is past due, else 0.' }),
      since: t.string({ resolve: (row) => isoTime(row.since) }),
      userId: t.exposeString('userId'),
      userName: t.exposeString('userName', { nullable: true }),
      packageIds: t.exposeStringList('packageIds'),
      packageNames: t.exposeStringList('packageNames'),
    }),
  })
  const recurringPage = definePage(builder, 'RecurringRevenuePage', recurring)
  const listedPage = definePage(builder, 'ListedSubscriptionPage', listed)
  const paymentPage = definePage(builder, 'ChargePage', payment)
  queryFields(builder, (t) => {
    const appId = t.arg.string({ required: true })
    const days = t.arg.int({ defaultValue: 30, description: '7, 30, 90 or 365.' })
    const first = t.arg.int({ defaultValue: 50 })
    const after = t.arg.string()
    return {
      revenue: t.field({
        type: figures,
        nullable: true,
        description: 'At most five minutes old; `fresh` has them made again.',
        args: { appId, days, fresh: t.arg.boolean({ defaultValue: false }) },
        resolve: async (_, { appId, days, fresh }, context) =>
          revenue(await inApp(appCall(context, appId)), days ?? 30, fresh ?? false),
      }),
      revenueList: t.field({
        type: listedPage,
        nullable: true,
        description:
          'The subscriptions behind a figure, newest first. PAST_DUE and TRIALING are those of now.',
        args: { appId, list: t.arg({ type: list, required: true }), days, first, after },
        resolve: async (_, { appId, list, days, first, after }, context) =>
          revenueList(await inApp(appCall(context, appId)), list, days ?? 30, first, after),
      }),
      mrrList: t.field({
        type: recurringPage,
        nullable: true,
        description: 'What the monthly recurring revenue is made of, as of now, by provider and its id.',
        args: { appId, first, after },
        resolve: async (_, { appId, first, after }, context) =>
          mrrList(await inApp(appCall(context, appId)), first, after),
      }),
      payments: t.field({
        type: paymentPage,
        nullable: true,
        description: "The providers' invoices and one-off payments, newest first.",
        args: { appId, state: t.arg({ type: state, required: true }), days, first, after },
        resolve: async (_, { appId, state, days, first, after }, context) =>
          payments(await inApp(appCall(context, appId)), state, days ?? 30, first, after),
      }),
    }
  })
}

function defineFigures(builder: Builder<DashboardContext>) {
  const plan = builder.objectRef<Revenue['plans'][number]>('PlanFigures').implement({
    description: 'The live subscriptions of one package.',
    fields: (t) => ({
      packageId: t.exposeString('packageId'),
      packageName: t.exposeString('packageName'),
      isAddon: t.exposeBoolean('isAddon'),
      active: t.exposeInt('active'),
      trialing: t.exposeInt('trialing', { description: 'Of the active ones.' }),
      pastDue: t.exposeInt('pastDue', { description: 'Of the active ones.' }),
      unpaid: t.exposeInt('unpaid', { description: 'Of the active ones, those made by hand.' }),
    }),
  })
  const mrr = builder.objectRef<Revenue['mrr'][number]>('Mrr').implement({
    description: 'Monthly recurring revenue by list prices. Trials, pauses and one-off prices do not count.',
    fields: (t) => ({
      provider: t.exposeString('provider'),
      currency: t.exposeString('currency'),
      decimals: t.exposeInt('decimals', { description: DECIMALS }),
      amount: t.expose('amount', { type: 'SafeInt' }),
      pastDue: t.expose('pastDue', { type: 'SafeInt', description: 'The part of it that is past due.' }),
    }),
  })
  const total = builder.objectRef<Revenue['payments'][number]>('ChargeTotal').implement({
    fields: (t) => ({
      provider: t.exposeString('provider'),
      currency: t.exposeString('currency'),
      decimals: t.exposeInt('decimals', { description: DECIMALS }),
      paid: t.exposeInt('paid'),
      paidAmount: t.expose('paidAmount', { type: 'SafeInt' }),
      failed: t.exposeInt('failed'),
      failedAmount: t.expose('failedAmount', { type: 'SafeInt' }),
      refunded: t.exposeInt('refunded', { description: 'Payments given back or withheld by a dispute.' }),
      refundedAmount: t.expose('refundedAmount', {
        type: 'SafeInt',
        description: 'Given back within the time, whenever it was paid. Not deducted from paidAmount.',
      }),
    }),
  })
  return builder.objectRef<Revenue>('Revenue').implement({
    fields: (t) => ({
      asOf: t.string({ description: "By the app's clock.", resolve: (r) => isoTime(r.asOf) }),
      from: t.string({ resolve: (r) => isoTime(r.from) }),
      plans: t.expose('plans', { type: [plan] }),
      mrr: t.expose('mrr', { type: [mrr] }),
      payments: t.expose('payments', { type: [total] }),
      new: t.exposeInt('started', { description: 'Subscriptions that began, changes of plan left out.' }),
      changed: t.exposeInt('changed', { description: 'Changes of a base plan or its quantity.' }),
      cancelled: t.exposeInt('ended', { description: 'Subscriptions that ended, changes of plan left out.' }),
      pastDue: t.exposeInt('pastDue'),
      trialing: t.exposeInt('trialing'),
      uncounted: t.exposeInt('uncounted', {
        description:
          'Live subscriptions that are in no MRR yet: their provider has not been asked about prices.',
      }),
    }),
  })
}
