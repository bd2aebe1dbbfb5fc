import type { JsonObject } from './metadata.ts'
import { type Change, type Made, timeIn } from './row-change.ts'
import { isoOrNull } from './time.ts'

// The events of payments, and of their refunds and disputes.

export function paymentEvents({ before, after, userId }: Change): Made[] {
  if (!after) return []
  const object = {
    provider: after.provider ?? null,
    id: after.ref ?? null,
    subscriptionRef: after.subscription_ref ?? null,
    userId,
    amount: after.amount ?? null,
    currency: after.currency ?? null,
    state: after.state ?? null,
    at: isoOrNull(timeIn(after.at)),
  }
  const type = after.state === 'PAID' ? 'payment.succeeded' : 'payment.failed'
  return [{ type, object, previous: before && { state: before.state ?? null } }]
}

/** Payments with another refund, or with a dispute in another state. */
export function reversalEvents({ before, after, userId }: Change): Made[] {
  if (!after || !Array.isArray(after.payments)) return []
  const earlier = new Map(listed(before).map((payment) => [payment.ref, payment]))
  return listed(after.payments).flatMap((payment): Made[] => {
    const was = earlier.get(payment.ref)
    const object = {
      provider: after.provider ?? null,
      subscriptionRef: after.ref ?? null,
      userId,
      ...paymentObject(payment),
    }
    const refunded = Number(was?.refunded ?? 0)
    const state = disputeState(payment)
    return [
      ...(Number(payment.refunded ?? 0) > refunded
        ? [{ type: 'payment.refunded' as const, object, previous: { refunded } }]
        : []),
      ...(state !== null && state !== disputeState(was)
        ? [{ type: 'payment.disputed' as const, object, previous: { dispute: was?.dispute ?? null } }]
        : []),
    ]
  })
}

const listed = (payments: unknown): JsonObject[] =>
  Array.isArray(payments) ? (payments as JsonObject[]) : []

const paymentObject = ({ ref, amount, currency, paidAt, refunded, dispute }: JsonObject): JsonObject => ({
  id: ref ?? null,
  amount: amount ?? null,
  currency: currency ?? null,
  paidAt: typeof paidAt === 'number' ? isoOrNull(paidAt) : null,
  refunded: refunded ?? 0,
  dispute: dispute ?? null,
})

const disputeState = (payment: JsonObject | undefined): unknown =>
  (payment?.dispute as JsonObject | null | undefined)?.state ?? null
