import type Stripe from 'stripe'
import type { BillingStatus } from '../../domain/bill.ts'
import { sameItems } from '../price-change.ts'
import type { BilledItem, ProviderSubscription } from '../provider.ts'
import { idOf } from './asked.ts'
import { customerFrom, SESSION } from './checkout.ts'

export const BILLING_STATUS: Record<Stripe.Subscription.Status, BillingStatus> = {
  active: 'live',
  trialing: 'live',
  past_due: 'past due',
  unpaid: 'past due',
  paused: 'paused',
  canceled: 'ended',
  incomplete: 'never',
  incomplete_expired: 'never',
}

/** When the oldest unpaid payment was due. */
export async function owingSince(stripe: Stripe, { id, created }: Stripe.Subscription): Promise<number> {
  const { data } = await stripe.invoices.list({ subscription: id, status: 'open', limit: 100 })
  const oldest = data.at(-1)
  // One that is sent to the payer says until when it may be paid.
  return (oldest?.due_date ?? oldest?.created ?? created) * 1000
}

/**
 * The end of the last period that was paid. Where collection is paused and invoices are voided, service is not owed
 * beyond it; where they are kept or written off, it is.
 */
export async function paidThrough(stripe: Stripe, { id, created }: Stripe.Subscription): Promise<number> {
  const { data } = await stripe.invoices.list({ subscription: id, status: 'paid', limit: 1 })
  const ends = data.flatMap(({ lines }) => lines.data.map(({ period }) => period.end))
  return Math.max(created, ...ends) * 1000
}

export function subscriptionFrom(
  s: Stripe.Subscription,
  asked: Pick<ProviderSubscription, 'pastDueSince' | 'reversal'> & { paidThrough: number | null },
): ProviderSubscription {
  const periods = s.items.data.map((item) => item.current_period_end * 1000)
  const paidUntil = periods.length > 0 ? Math.max(...periods) : null
  const billingStatus = BILLING_STATUS[s.status] ?? 'never'
  const ends = [
    s.cancel_at === null ? null : s.cancel_at * 1000,
    s.cancel_at_period_end ? paidUntil : null,
    asked.paidThrough,
  ]
  const cancelAt = ends.reduce((a, b) => (a === null || b === null ? (a ?? b) : Math.min(a, b)), null)
  const ref = idOf(s.customer)
  const customer = typeof s.customer === 'object' ? customerFrom(s.customer) : null
  return {
    ref: s.id,
    sessionId: s.metadata[SESSION] ?? null,
    customer: customer ?? (ref === null ? null : { ref, email: null, name: null }),
    status: s.pause_collection ? `${s.status}, collection paused` : s.status,
    billingStatus,
    final: s.status === 'canceled' || s.status === 'incomplete_expired',
    items: itemsOf(s),
    scheduled: scheduledOf(s),
    trialEndsAt: s.status === 'trialing' && s.trial_end !== null ? s.trial_end * 1000 : null,
    triedUntil:
      s.status === 'trialing' || s.trial_end === null
        ? null
        : Math.min(s.trial_end, s.ended_at ?? s.trial_end) * 1000,
    madeAt: s.created * 1000,
    anchor: s.billing_cycle_anchor * 1000,
    paidUntil,
    cancelAt,
    endedAt: s.ended_at === null ? null : s.ended_at * 1000,
    pastDueSince: asked.pastDueSince,
    reversal: asked.reversal,
  }
}

export const itemsOf = ({ items }: Stripe.Subscription): BilledItem[] =>
  items.data.map(({ price, quantity }) => ({ priceId: price.id, quantity: quantity ?? 1 }))

/** What the phase after the current one changes; `schedule` must be expanded. */
export function scheduledOf(s: Stripe.Subscription): ProviderSubscription['scheduled'] {
  const { schedule } = s
  if (schedule === null || typeof schedule === 'string' || schedule.current_phase === null) return null
  const { end_date: end } = schedule.current_phase
  const next = schedule.phases.find(({ start_date }) => start_date >= end)
  if (!next) return null
  const items = next.items.map(({ price, quantity }) => ({
    priceId: idOf(price) ?? '',
    quantity: quantity ?? 1,
  }))
  return sameItems(items, itemsOf(s)) ? null : { at: next.start_date * 1000, items }
}
