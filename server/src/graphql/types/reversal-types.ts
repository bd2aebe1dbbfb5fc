import { DISPUTE_STATES, type Dispute } from '../../domain/reversal.ts'
import type { Service } from '../../operations/call/service.ts'
import { type PaymentAt, subscriptionReversals } from '../../operations/subscriptions/subscription-billing.ts'
import type { Builder } from './builder.ts'
import type { defineSubscriptionTypes } from './subscription-types.ts'
import { isoTime, isoTimeOrNull } from './time.ts'

/** Refunds and disputes of a subscription. Not for end users. */
export function defineReversals<Context extends object>(
  builder: Builder<Context>,
  subscription: ReturnType<typeof defineSubscriptionTypes<Context>>,
  serviceOf: (context: Context) => Service,
) {
  const state = builder.enumType('DisputeState', {
    description:
      'State of a dispute. INQUIRY: the bank has asked for information and no funds were withdrawn. OPEN: the disputed funds were withdrawn. CLOSED: an inquiry that ended without a dispute.',
    values: DISPUTE_STATES,
  })
  const dispute = builder.objectRef<Dispute>('Dispute').implement({
    fields: (t) => ({
      state: t.expose('state', { type: state }),
      reason: t.exposeString('reason', {
        nullable: true,
        description: 'Reason as reported by the billing provider.',
      }),
      openedAt: t.string({ resolve: (row) => isoTime(row.openedAt) }),
    }),
  })
  const payment = builder.objectRef<PaymentAt>('Payment').implement({
    description: 'A payment for a subscription. Amounts are in minor units of the currency.',
    fields: (t) => ({
      paymentRef: t.exposeString('ref', { description: 'ID of the payment at the billing provider.' }),
      amount: t.expose('amount', { type: 'SafeInt', description: 'Amount paid.' }),
      refunded: t.expose('refunded', { type: 'SafeInt', description: 'Amount refunded.' }),
      currency: t.exposeString('currency'),
      paidAt: t.string({ resolve: (row) => isoTime(row.paidAt) }),
      periodStart: t.string({
        nullable: true,
        description: 'Start of the paid period; null for a one-off purchase.',
        resolve: (row) => isoTimeOrNull(row.period?.start ?? null),
      }),
      periodEnd: t.string({
        nullable: true,
        resolve: (row) => isoTimeOrNull(row.period?.end ?? null),
      }),
      refundedAt: t.string({
        nullable: true,
        description: 'Time of the last refund; null if nothing was refunded.',
        resolve: (row) => isoTimeOrNull(row.refundedAt),
      }),
      dispute: t.expose('dispute', {
        type: dispute,
        nullable: true,
        description: 'Most recent dispute of the payment.',
      }),
    }),
  })
  builder.objectFields(subscription, (t) => ({
    reversals: t.field({
      type: [payment],
      description: 'Refunded and disputed payments of the subscription, newest first.',
      resolve: (row, _args, context) => subscriptionReversals(serviceOf(context), row),
    }),
  }))
  return payment
}
