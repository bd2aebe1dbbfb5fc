import { amountText } from '../../domain/price.ts'
import { SANDBOX_REVERSALS } from '../../domain/reversal.ts'
import { inApp } from '../../operations/apps/apps.ts'
import { reverseSandboxPayment, sandboxPayments } from '../../operations/billing/sandbox-payments.ts'
import type { Builder } from '../types/builder.ts'
import { defineReversals } from '../types/reversal-types.ts'
import { appCall, type DashboardContext } from './context.ts'
import { mutationFields, queryFields } from './fields.ts'
import type { DashboardTypes } from './types.ts'

/** Refunds and disputes, and trying them in the sandbox. */
export function defineRefunds(builder: Builder<DashboardContext>, types: DashboardTypes): void {
  const payment = defineReversals(builder, types.subscription, ({ service }) => service)
  builder.objectFields(payment, (t) => ({
    amountText: t.string({ description: 'As a customer sees it.', resolve: amountText }),
    refundedText: t.string({ resolve: (row) => amountText({ ...row, amount: row.refunded }) }),
  }))
  const reversal = builder.enumType('SandboxReversal', {
    description: 'What may happen to a payment after it was made.',
    values: SANDBOX_REVERSALS,
  })

  queryFields(builder, (t) => ({
    sandboxPayments: t.field({
      type: [payment],
      description:
        'What was paid in the sandbox for a subscription, newest first; nothing for one that is paid elsewhere.',
      args: {
        appId: t.arg.string({ required: true }),
        subscriptionId: t.arg.string({ required: true }),
      },
      resolve: async (_, { appId, subscriptionId }, context) =>
        sandboxPayments(await inApp(appCall(context, appId)), subscriptionId),
    }),
  }))

  mutationFields(builder, (t) => ({
    reverseSandboxPayment: t.field({
      type: payment,
      nullable: true,
      description:
        'Tries out a refund or a dispute of a payment in the sandbox. What follows from it comes by a notice, as from any provider.',
      args: {
        appId: t.arg.string({ required: true }),
        subscriptionId: t.arg.string({ required: true }),
        paymentRef: t.arg.string({ required: true }),
        action: t.arg({ type: reversal, required: true }),
        amount: t.arg({
          type: 'SafeInt',
          description: 'Of a refund, in minor units; all that is left unless given.',
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
