import { amountText } from '../../domain/price.ts'
import { REFUND_REASONS, SANDBOX_REVERSALS } from '../../domain/reversal.ts'
import { HISTORY_KINDS } from '../../domain/subscription-history.ts'
import { inApp } from '../../operations/apps/apps.ts'
import { type RefundPreview, refundPayment, refundPreview } from '../../operations/billing/refund-payment.ts'
import {
  reverseSandboxCredit,
  reverseSandboxPayment,
  sandboxCreditPayments,
  sandboxPayments,
} from '../../operations/billing/sandbox-payments.ts'
import {
  subscriptionPayments,
  type UserPayment,
  userPayments,
} from '../../operations/billing/user-payments.ts'
import { type HistoryLine, subscriptionHistory } from '../../operations/subscriptions/subscription-history.ts'
import { PAYMENT_STATES } from '../../store/billing/payments.ts'
import type { Builder } from '../types/builder.ts'
import { definePage } from '../types/page-type.ts'
import { defineReversals } from '../types/reversal-types.ts'
import { isoTime, isoTimeOrNull } from '../types/time.ts'
import { appCall, type DashboardContext } from './context.ts'
import { mutationFields, queryFields } from './fields.ts'
import { type DashboardTypes, DECIMALS } from './types.ts'

/** Refunds and disputes, and their simulation in the sandbox. */
export function defineRefunds(builder: Builder<DashboardContext>, types: DashboardTypes): void {
  const payment = defineReversals(builder, types.subscription, ({ service }) => service)
  builder.objectFields(payment, (t) => ({
    amountText: t.string({ description: 'Amount, formatted for display.', resolve: amountText }),
    refundedText: t.string({ resolve: (row) => amountText({ ...row, amount: row.refunded }) }),
  }))
  const reversal = builder.enumType('SandboxReversal', {
    description: 'Simulated refund or dispute of a sandbox payment.',
    values: SANDBOX_REVERSALS,
  })

  const { history, userPayment, userPaymentPage, preview, reason } = defineUserPayments(builder, types)

  queryFields(builder, (t, { appId, id, userId }) => ({
    subscriptionHistory: t.field({
      type: [history],
      description: 'Past and scheduled events of a subscription, newest first.',
      args: { appId, id },
      resolve: async (_, { appId, id }, context) =>
        subscriptionHistory(await inApp(appCall(context, appId)), id),
    }),
    subscriptionPayments: t.field({
      type: [userPayment],
      description: 'Payments for a subscription, newest first.',
      args: { appId, id },
      resolve: async (_, { appId, id }, context) =>
        subscriptionPayments(await inApp(appCall(context, appId)), id),
    }),
    userPayments: t.field({
      type: userPaymentPage,
      description: 'Payments of a user, newest first.',
      args: { appId, userId, first: t.arg.int({ defaultValue: 50 }), after: t.arg.string() },
      resolve: async (_, { appId, userId, first, after }, context) =>
        userPayments(await inApp(appCall(context, appId)), userId, { first, after }),
    }),
    refundPreview: t.field({
      type: preview,
      description: 'Refundable amount of a payment, as reported by its billing provider.',
      args: {
        appId,
        subscriptionId: t.arg.string({ description: PAID_FOR }),
        creditId: t.arg.string(),
        paymentRef: t.arg.string({ required: true }),
      },
      resolve: async (_, { appId, subscriptionId, creditId, paymentRef }, context) =>
        refundPreview(
          await inApp(appCall(context, appId)),
          creditId == null ? { subscriptionId: subscriptionId ?? '' } : { creditId },
          paymentRef,
        ),
    }),
    sandboxPayments: t.field({
      type: [payment],
      description:
        'Sandbox payments for a subscription or a credit, newest first. Empty if another provider was paid.',
      args: {
        appId,
        subscriptionId: t.arg.string({ description: PAID_FOR }),
        creditId: t.arg.string(),
      },
      resolve: async (_, { appId, subscriptionId, creditId }, context) => {
        const call = await inApp(appCall(context, appId))
        return creditId == null
          ? sandboxPayments(call, subscriptionId ?? '')
          : sandboxCreditPayments(call, creditId)
      },
    }),
  }))

  type FieldBuilder = Parameters<Parameters<typeof builder.mutationFields>[0]>[0]
  const refundArgs = (t: FieldBuilder) => ({
    paymentRef: t.arg.string({ required: true }),
    amount: t.arg({
      type: 'SafeInt',
      description: 'Amount to refund, in minor units. Defaults to the remaining amount.',
    }),
    reason: t.arg({ type: reason, required: true }),
    key: t.arg.string({
      required: true,
      description: 'Any unique text. Repeated calls with the same key refund once.',
    }),
  })
  mutationFields(builder, (t, { appId }) => ({
    refundPayment: t.field({
      type: preview,
      description: 'Refunds a payment at its billing provider, in part or in full.',
      args: {
        appId,
        subscriptionId: t.arg.string({ required: true }),
        ...refundArgs(t),
      },
      resolve: async (_, { appId, subscriptionId, paymentRef, amount, reason, key }, context) =>
        refundPayment(await inApp(appCall(context, appId)), {
          paidFor: { subscriptionId },
          paymentRef,
          amount: amount ?? null,
          reason,
          key,
        }),
    }),
    refundCredit: t.field({
      type: preview,
      description: 'Refunds the payment of a bought credit at its billing provider, in part or in full.',
      args: {
        appId,
        creditId: t.arg.string({ required: true }),
        ...refundArgs(t),
      },
      resolve: async (_, { appId, creditId, paymentRef, amount, reason, key }, context) =>
        refundPayment(await inApp(appCall(context, appId)), {
          paidFor: { creditId },
          paymentRef,
          amount: amount ?? null,
          reason,
          key,
        }),
    }),
    reverseSandboxCredit: t.field({
      type: payment,
      description:
        'Simulates a refund or dispute of the sandbox payment of a credit. Its effects arrive as a webhook event, as from any billing provider.',
      args: {
        appId,
        creditId: t.arg.string({ required: true }),
        action: t.arg({ type: reversal, required: true }),
        amount: t.arg({
          type: 'SafeInt',
          description: 'Amount to refund, in minor units. Defaults to the remaining amount.',
        }),
      },
      resolve: async (_, { appId, creditId, action, amount }, context) =>
        reverseSandboxCredit(await inApp(appCall(context, appId)), creditId, {
          action,
          amount: amount ?? null,
        }),
    }),
    reverseSandboxPayment: t.field({
      type: payment,
      description:
        'Simulates a refund or dispute of a sandbox payment. Its effects arrive as a webhook event, as from any billing provider.',
      args: {
        appId,
        subscriptionId: t.arg.string({ required: true }),
        paymentRef: t.arg.string({ required: true }),
        action: t.arg({ type: reversal, required: true }),
        amount: t.arg({
          type: 'SafeInt',
          description: 'Amount to refund, in minor units. Defaults to the remaining amount.',
        }),
      },
      resolve: async (_, { appId, subscriptionId, paymentRef, action, amount }, context) =>
        reverseSandboxPayment(await inApp(appCall(context, appId)), subscriptionId, paymentRef, {
          action,
          amount: amount ?? null,
        }),
    }),
  }))
}

const PAID_FOR = 'Subscription that was paid for. Pass `creditId` instead for a credit.'

function defineUserPayments(builder: Builder<DashboardContext>, types: DashboardTypes) {
  const kind = builder.enumType('SubscriptionEventKind', { values: HISTORY_KINDS })
  const history = builder.objectRef<HistoryLine>('SubscriptionEvent').implement({
    description: 'One line of the history of a subscription.',
    fields: (t) => ({
      at: t.string({
        description: 'Time of the event; later than now if it is scheduled.',
        resolve: (line) => isoTime(line.at),
      }),
      kind: t.expose('kind', { type: kind }),
      parts: t.field({
        type: [types.part],
        description: 'The sentence as a list of parts.',
        resolve: (line) => [...line.parts],
      }),
      by: t.expose('by', { type: types.part, nullable: true, description: 'Actor; null if unknown.' }),
    }),
  })
  const state = builder.enumType('UserPaymentState', { values: PAYMENT_STATES })
  const paidCredit = builder.objectRef<NonNullable<UserPayment['credit']>>('PaidCredit').implement({
    fields: (t) => ({
      id: t.exposeString('id'),
      featureId: t.exposeString('featureId'),
      featureName: t.exposeString('featureName'),
      units: t.expose('units', { type: 'SafeInt', description: 'Units that were bought.' }),
    }),
  })
  const userPayment = builder.objectRef<UserPayment>('UserPayment').implement({
    description: 'A charge of a user at a billing provider. Amounts are in minor units of the currency.',
    fields: (t) => ({
      ref: t.exposeString('ref', { description: 'ID of the invoice or payment at the billing provider.' }),
      provider: t.exposeString('provider'),
      state: t.expose('state', { type: state }),
      amount: t.expose('amount', { type: 'SafeInt' }),
      refunded: t.expose('refunded', { type: 'SafeInt' }),
      currency: t.exposeString('currency'),
      decimals: t.exposeInt('decimals', { description: DECIMALS }),
      at: t.string({ resolve: (row) => isoTime(row.at) }),
      refundedAt: t.string({ nullable: true, resolve: (row) => isoTimeOrNull(row.refundedAt) }),
      disputeState: t.string({
        nullable: true,
        description: 'State of the most recent dispute.',
        resolve: (row) => row.dispute?.state ?? null,
      }),
      subscriptionId: t.exposeString('subscriptionId', {
        nullable: true,
        description: 'ID of the subscription that was charged for; null if unknown.',
      }),
      packageNames: t.exposeStringList('packageNames'),
      credit: t.expose('credit', {
        type: paidCredit,
        nullable: true,
        description: 'Credit that the payment bought; null if it was for something else.',
      }),
    }),
  })
  const preview = builder.objectRef<RefundPreview>('RefundPreview').implement({
    description: 'Refundable amount of a payment, in minor units of the currency.',
    fields: (t) => ({
      provider: t.exposeString('provider'),
      paymentRef: t.exposeString('paymentRef'),
      amount: t.expose('amount', { type: 'SafeInt', description: 'Amount paid.' }),
      refunded: t.expose('refunded', { type: 'SafeInt' }),
      remaining: t.expose('remaining', { type: 'SafeInt' }),
      currency: t.exposeString('currency'),
      decimals: t.exposeInt('decimals', { description: DECIMALS }),
    }),
  })
  return {
    history,
    userPayment,
    userPaymentPage: definePage(builder, 'UserPaymentPage', userPayment),
    preview,
    reason: builder.enumType('RefundReason', { values: REFUND_REASONS }),
  }
}
