import { amountText } from '../../domain/price.ts'
import { SANDBOX_REVERSALS } from '../../domain/reversal.ts'
import { inApp } from '../../operations/apps/apps.ts'
import { reverseSandboxPayment, sandboxPayments } from '../../operations/billing/sandbox-payments.ts'
import type { Builder } from '../types/builder.ts'
import { defineReversals } from '../types/reversal-types.ts'
import { appCall, type DashboardContext } from './context.ts'
import { mutationFields, queryFields } from './fields.ts'
import type { DashboardTypes } from './types.ts'

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

  queryFields(builder, (t, { appId }) => ({
    sandboxPayments: t.field({
      type: [payment],
      description:
        'Sandbox payments for a subscription, newest first. Empty for a subscription billed by another provider.',
      args: {
        appId,
        subscriptionId: t.arg.string({ required: true }),
      },
      resolve: async (_, { appId, subscriptionId }, context) =>
        sandboxPayments(await inApp(appCall(context, appId)), subscriptionId),
    }),
  }))

  mutationFields(builder, (t, { appId }) => ({
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
