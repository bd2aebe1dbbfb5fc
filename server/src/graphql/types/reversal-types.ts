import { DISPUTE_STATES, type Dispute } from '../../domain/reversal.ts'
import type { Service } from '../../operations/call/service.ts'
import { type PaymentAt, subscriptionReversals } from '../../operations/subscriptions/subscription-billing.ts'
import type { Builder } from './builder.ts'
import type { defineSubscriptionTypes } from './subscription-types.ts'
import { isoTime, isoTimeOrNull } from './time.ts'

/** What was refunded and disputed, on every subscription: not for end users. */
export function defineReversals<Context extends object>(
  builder: Builder<Context>,
  subscription: ReturnType<typeof defineSubscriptionTypes<Context>>,
  serviceOf: (context: Context) => Service,
) {
  const state = builder.enumType('DisputeState', {
    description:
      'INQUIRY: the bank only asks, and no money has moved. OPEN: the bank has the money. CLOSED: over without a dispute.',
    values: DISPUTE_STATES,
  })
  const dispute = builder.objectRef<Dispute>('Dispute').implement({
    fields: (t) => ({
      state: t.expose('state', { type: state }),
      reason: t.exposeString('reason', { nullable: true, description: "In the provider's terms." }),
      openedAt: t.string({ resolve: (row) => isoTime(row.openedAt) }),
    }),
  })
  const payment = builder.objectRef<PaymentAt>('Payment').implement({
    description: 'A payment for a subscription, in minor units.',
    fields: (t) => ({
      paymentRef: t.exposeString('ref', { description: "The payment's id at the provider." }),
      amount: t.expose('amount', { type: 'SafeInt', description: 'What was paid.' }),
      refunded: t.expose('refunded', { type: 'SafeInt', description: 'What was refunded of it.' }),
      currency: t.exposeString('currency'),
      paidAt: t.string({ resolve: (row) => isoTime(row.paidAt) }),
      periodStart: t.string({
        nullable: true,
        description: 'The period that was paid for; null: a one-off purchase.',
        resolve: (row) => isoTimeOrNull(row.period?.start ?? null),
      }),
      periodEnd: t.string({
        nullable: true,
        resolve: (row) => isoTimeOrNull(row.period?.end ?? null),
      }),
      refundedAt: t.string({
        nullable: true,
        description: 'When it was last refunded; null: nothing was.',
        resolve: (row) => isoTimeOrNull(row.refundedAt),
      }),
      dispute: t.expose('dispute', { type: dispute, nullable: true, description: 'The newest one.' }),
    }),
  })
  builder.objectFields(subscription, (t) => ({
    reversals: t.field({
      type: [payment],
      description: 'The payments for it that were refunded or disputed, newest first.',
      resolve: (row, _args, context) => subscriptionReversals(serviceOf(context), row),
    }),
  }))
  return payment
}
