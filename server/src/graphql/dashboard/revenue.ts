import { inApp } from '../../operations/apps/apps.ts'
import { mrrList, payments, type Revenue, revenue, revenueList } from '../../operations/billing/revenue.ts'
import {
  type MoneySeries,
  type RevenueOverTime,
  revenueOverTime,
} from '../../operations/billing/revenue-over-time.ts'
import { PAYMENT_STATES } from '../../store/billing/payments.ts'
import { REVENUE_LISTS } from '../../store/billing/revenue-lists.ts'
import type { Builder } from '../types/builder.ts'
import { definePage } from '../types/page-type.ts'
import { isoTime } from '../types/time.ts'
import { appCall, type DashboardContext } from './context.ts'
import { queryFields, USER_NAME } from './fields.ts'
import { DECIMALS } from './types.ts'

type Listed = Awaited<ReturnType<typeof revenueList>>['rows'][number]
type Recurring = Awaited<ReturnType<typeof mrrList>>['rows'][number]
type ShownPayment = Awaited<ReturnType<typeof payments>>['rows'][number]

/** Revenue. */
export function defineRevenue(builder: Builder<DashboardContext>): void {
  const figures = defineFigures(builder)
  const overTime = defineOverTime(builder)
  const list = builder.enumType('RevenueList', { values: REVENUE_LISTS })
  const state = builder.enumType('ChargeState', {
    description: 'State of a charge. FAILED: not paid so far. REFUNDED: refunded or withdrawn by a dispute.',
    values: [...PAYMENT_STATES, 'REFUNDED'] as const,
  })
  const listed = builder.objectRef<Listed>('ListedSubscription').implement({
    fields: (t) => ({
      id: t.exposeString('id'),
      at: t.string({
        description:
          'Time of the start, change or end of the subscription. For PAST_DUE, the time at which it became past due; for TRIALING, the end of the trial.',
        resolve: (row) => isoTime(row.at),
      }),
      userId: t.exposeString('userId'),
      userName: t.exposeString('userName', { nullable: true, description: USER_NAME }),
      packageId: t.exposeString('packageId'),
      packageName: t.exposeString('packageName'),
      fromPackageId: t.exposeString('fromPackageId', { nullable: true }),
      fromPackageName: t.exposeString('fromPackageName', {
        nullable: true,
        description: 'For a change, the name of the previous package.',
      }),
      provider: t.exposeString('provider', { nullable: true }),
    }),
  })
  const payment = builder.objectRef<ShownPayment>('Charge').implement({
    fields: (t) => ({
      ref: t.exposeString('ref', { description: 'ID of the invoice or payment at the billing provider.' }),
      provider: t.exposeString('provider'),
      state: t.expose('state', { type: state }),
      amount: t.expose('amount', { type: 'SafeInt' }),
      currency: t.exposeString('currency'),
      decimals: t.exposeInt('decimals', { description: DECIMALS }),
      at: t.string({ resolve: (row) => isoTime(row.at) }),
      userId: t.exposeString('userId'),
      userName: t.exposeString('userName', { nullable: true, description: USER_NAME }),
    }),
  })
  const recurring = builder.objectRef<Recurring>('RecurringRevenue').implement({
    description: 'Contribution of one billing provider subscription to the monthly recurring revenue.',
    fields: (t) => ({
      ref: t.exposeString('ref', { description: 'ID of the subscription at the billing provider.' }),
      provider: t.exposeString('provider'),
      currency: t.exposeString('currency'),
      decimals: t.exposeInt('decimals', { description: DECIMALS }),
      amount: t.expose('amount', { type: 'SafeInt', description: 'Monthly amount.' }),
      pastDue: t.expose('pastDue', {
        type: 'SafeInt',
        description: 'Monthly amount if the subscription is past due, otherwise 0.',
      }),
      since: t.string({ resolve: (row) => isoTime(row.since) }),
      userId: t.exposeString('userId'),
      userName: t.exposeString('userName', { nullable: true, description: USER_NAME }),
      packageIds: t.exposeStringList('packageIds'),
      packageNames: t.exposeStringList('packageNames'),
    }),
  })
  const recurringPage = definePage(builder, 'RecurringRevenuePage', recurring)
  const listedPage = definePage(builder, 'ListedSubscriptionPage', listed)
  const paymentPage = definePage(builder, 'ChargePage', payment)
  queryFields(builder, (t, { appId }) => {
    const days = t.arg.int({
      defaultValue: 30,
      description: 'Length of the time range in days: 7, 30, 90 or 365.',
    })
    const first = t.arg.int({ defaultValue: 50 })
    const after = t.arg.string()
    return {
      revenue: t.field({
        type: figures,
        description:
          'Revenue figures: current for an app with up to 10,000 subscriptions and payments, otherwise at most five minutes old. `fresh` recalculates them.',
        args: { appId, days, fresh: t.arg.boolean({ defaultValue: false }) },
        resolve: async (_, { appId, days, fresh }, context) =>
          revenue(await inApp(appCall(context, appId)), days ?? 30, fresh ?? false),
      }),
      revenueOverTime: t.field({
        type: overTime,
        description:
          'Revenue by day, and the totals of the period of equal length before. Days are those of UTC.',
        args: {
          appId,
          from: t.arg.string({ required: true, description: 'First day, such as 2027-01-01.' }),
          to: t.arg.string({ required: true, description: 'Last day, such as 2027-01-31.' }),
        },
        resolve: async (_, { appId, from, to }, context) =>
          revenueOverTime(await inApp(appCall(context, appId)), from, to),
      }),
      revenueList: t.field({
        type: listedPage,
        description:
          'Subscriptions behind a revenue figure, newest first. PAST_DUE and TRIALING show the current state, regardless of `days`.',
        args: { appId, list: t.arg({ type: list, required: true }), days, first, after },
        resolve: async (_, { appId, list, days, first, after }, context) =>
          revenueList(await inApp(appCall(context, appId)), list, days ?? 30, { first, after }),
      }),
      mrrList: t.field({
        type: recurringPage,
        description:
          'Subscriptions that make up the current monthly recurring revenue, ordered by billing provider and ID.',
        args: { appId, first, after },
        resolve: async (_, { appId, first, after }, context) =>
          mrrList(await inApp(appCall(context, appId)), { first, after }),
      }),
      payments: t.field({
        type: paymentPage,
        description: 'Invoices and one-off payments at the billing providers, newest first.',
        args: { appId, state: t.arg({ type: state, required: true }), days, first, after },
        resolve: async (_, { appId, state, days, first, after }, context) =>
          payments(await inApp(appCall(context, appId)), state, days ?? 30, { first, after }),
      }),
    }
  })
}

function defineFigures(builder: Builder<DashboardContext>) {
  const mrr = builder.objectRef<Revenue['mrr'][number]>('Mrr').implement({
    description:
      'Monthly recurring revenue at list prices, without trials, paused subscriptions and one-off prices.',
    fields: (t) => ({
      provider: t.exposeString('provider'),
      currency: t.exposeString('currency'),
      decimals: t.exposeInt('decimals', { description: DECIMALS }),
      amount: t.expose('amount', { type: 'SafeInt' }),
      pastDue: t.expose('pastDue', { type: 'SafeInt', description: 'Part of the amount that is past due.' }),
    }),
  })
  const plan = builder.objectRef<Revenue['plans'][number]>('PlanFigures').implement({
    description: 'Figures for the live subscriptions of a package.',
    fields: (t) => ({
      packageId: t.exposeString('packageId'),
      packageName: t.exposeString('packageName'),
      isAddon: t.exposeBoolean('isAddon'),
      active: t.exposeInt('active', {
        description: 'Number of live subscriptions that are neither trials nor past due.',
      }),
      trialing: t.exposeInt('trialing'),
      pastDue: t.exposeInt('pastDue'),
      unpaid: t.exposeInt('unpaid', {
        description: 'Number of live subscriptions without a billing provider.',
      }),
      mrr: t.expose('mrr', {
        type: [mrr],
        description: 'Monthly recurring revenue of the prices of this package.',
      }),
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
      refunded: t.exposeInt('refunded', {
        description: 'Number of payments refunded or withdrawn by a dispute.',
      }),
      refundedAmount: t.expose('refundedAmount', {
        type: 'SafeInt',
        description:
          'Amount refunded in the time range, including refunds of earlier payments. Not deducted from `paidAmount`.',
      }),
    }),
  })
  return builder.objectRef<Revenue>('Revenue').implement({
    fields: (t) => ({
      asOf: t.string({
        description: "Time of calculation, by the app's clock.",
        resolve: (r) => isoTime(r.asOf),
      }),
      from: t.string({ resolve: (r) => isoTime(r.from) }),
      plans: t.expose('plans', { type: [plan] }),
      mrr: t.expose('mrr', { type: [mrr] }),
      payments: t.expose('payments', { type: [total] }),
      new: t.exposeInt('started', {
        description: 'Number of subscriptions that started, not counting plan changes.',
      }),
      changed: t.exposeInt('changed', { description: 'Number of changes of a base plan or its quantity.' }),
      cancelled: t.exposeInt('ended', {
        description: 'Number of subscriptions that ended, not counting plan changes.',
      }),
      pastDue: t.exposeInt('pastDue'),
      trialing: t.exposeInt('trialing'),
    }),
  })
}

function defineOverTime(builder: Builder<DashboardContext>) {
  const moneyTotals = builder.objectRef<MoneySeries['totals']>('MoneyTotals').implement({
    fields: (t) => ({
      mrr: t.expose('mrr', { type: 'SafeInt', description: 'Monthly recurring revenue at the end.' }),
      paid: t.expose('paid', { type: 'SafeInt' }),
      refunded: t.expose('refunded', { type: 'SafeInt' }),
    }),
  })
  const money = builder.objectRef<MoneySeries>('MoneySeries').implement({
    description: 'Money of one billing provider in one currency by day, in minor units.',
    fields: (t) => ({
      provider: t.exposeString('provider'),
      currency: t.exposeString('currency'),
      decimals: t.exposeInt('decimals', { description: DECIMALS }),
      mrr: t.expose('mrr', {
        type: ['SafeInt'],
        description:
          'Monthly recurring revenue at the end of each day, at list prices. A plan that was replaced counts with the newest price of its package.',
      }),
      paid: t.expose('paid', { type: ['SafeInt'] }),
      refunded: t.expose('refunded', { type: ['SafeInt'] }),
      totals: t.expose('totals', { type: moneyTotals }),
      previous: t.expose('previous', { type: moneyTotals }),
    }),
  })
  const movementTotals = builder.objectRef<RevenueOverTime['totals']>('MovementTotals').implement({
    fields: (t) => ({
      started: t.exposeInt('started'),
      ended: t.exposeInt('ended'),
      churn: t.exposeFloat('churn', {
        nullable: true,
        description:
          'Ended subscriptions as a share of those that were live at the start; null if there were none.',
      }),
    }),
  })
  return builder.objectRef<RevenueOverTime>('RevenueOverTime').implement({
    fields: (t) => ({
      asOf: t.string({ resolve: (r) => isoTime(r.asOf) }),
      days: t.stringList({
        description: 'Start of each day.',
        resolve: (r) => r.days.map((day) => isoTime(day)),
      }),
      money: t.expose('money', { type: [money] }),
      started: t.exposeIntList('started', {
        description: 'Subscriptions that started, not counting plan changes.',
      }),
      ended: t.exposeIntList('ended', {
        description: 'Subscriptions that ended, not counting plan changes.',
      }),
      totals: t.expose('totals', { type: movementTotals }),
      previous: t.expose('previous', { type: movementTotals }),
    }),
  })
}
