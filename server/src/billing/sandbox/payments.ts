import { type CardEntry, cardOutcome, cardProblems } from '../../domain/card.ts'
import { periodAt, type ResetPeriod } from '../../domain/period.ts'
import type { Interval } from '../../domain/price.ts'
import { type Pool, type Tx, transaction } from '../../store/database.ts'
import * as books from './books.ts'
import { announce, newRef } from './events.ts'

/** What a payer enters. Name and email count only if the link was not made for a user. */
export interface PayerEntry extends CardEntry {
  email: string
  name: string
}

export type FieldProblems = Partial<Record<keyof PayerEntry, string>>

export type PaymentOutcome =
  | { kind: 'paid' | 'cancelled' | 'expired' | 'off'; checkout: books.SandboxCheckout }
  | { kind: 'refused'; checkout: books.SandboxCheckout; problems: FieldProblems }

/** Whether the sandbox of an app currently accepts payments. */
type IsOn = (tx: Tx, appId: string) => Promise<boolean>

/** Pays a checkout, once: paying again gives the same result. Null: there is no such checkout. */
export async function payCheckout(
  pool: Pool,
  id: string,
  entry: PayerEntry,
  isOn: IsOn,
): Promise<PaymentOutcome | null> {
  return withOpenCheckout(pool, id, async (tx, checkout) => {
    if (!(await isOn(tx, checkout.appId))) return { kind: 'off', checkout }
    const problems = problemsOf(entry, checkout)
    if (Object.keys(problems).length > 0) return { kind: 'refused', checkout, problems }
    const outcome = cardOutcome(entry.number)
    if (outcome === 'declined') {
      return { kind: 'refused', checkout, problems: { number: 'The card was declined. Try another one.' } }
    }
    const { appId, now } = checkout
    const customerId = checkout.customerId ?? newRef('cus')
    await books.insertCustomer(tx, appId, {
      id: customerId,
      email: entry.email.trim() || null,
      name: entry.name.trim() || null,
    })
    const [item] = checkout.items
    const interval = item?.interval ?? null
    const subscriptionId = interval === null ? null : newRef('sub')
    if (interval !== null && subscriptionId !== null) {
      await books.writeSubscription(tx, appId, {
        id: subscriptionId,
        sessionId: checkout.sessionId,
        customerId,
        priceIds: checkout.items.map(({ priceId }) => priceId),
        interval,
        status: 'active',
        madeAt: now,
        periodEnd: periodEndAt(interval, now, now),
        pastDueSince: null,
        cancelAtPeriodEnd: false,
        endedAt: null,
        cardRenews: outcome === 'pays',
      })
    }
    await books.closeCheckout(tx, appId, id, { state: 'paid', customerId, subscriptionId })
    await announce(tx, appId, 'checkout.session.completed', {
      object: 'checkout.session',
      id,
      customer: customerId,
    })
    return { kind: 'paid', checkout }
  })
}

/** The payer cancels. The link stays valid: they may change their mind. */
export async function leaveCheckout(pool: Pool, id: string): Promise<PaymentOutcome | null> {
  return withOpenCheckout(pool, id, async (tx, checkout) => {
    const { appId, customerId } = checkout
    await books.closeCheckout(tx, appId, id, { state: 'cancelled', customerId, subscriptionId: null })
    return { kind: 'cancelled', checkout }
  })
}

/** Acts on an open checkout; for any other, returns its outcome. */
function withOpenCheckout(
  pool: Pool,
  id: string,
  act: (tx: Tx, checkout: books.SandboxCheckout) => Promise<PaymentOutcome>,
): Promise<PaymentOutcome | null> {
  return transaction(pool, async (tx) => {
    const found = await books.findCheckout(tx, id)
    const checkout = found && (await books.lockCheckout(tx, found.appId, id))
    if (!checkout) return null
    if (checkout.state === 'paid') return { kind: 'paid', checkout }
    if (checkout.state === 'expired' || checkout.expiresAt <= checkout.now) {
      return { kind: 'expired', checkout }
    }
    return act(tx, checkout)
  })
}

function problemsOf(entry: PayerEntry, { customerId, now }: books.SandboxCheckout): FieldProblems {
  const problems: FieldProblems = cardProblems(entry, now)
  if (customerId === null && !/^[^\s@]+@[^\s@]+$/.test(entry.email.trim())) {
    problems.email = 'Write your email address, such as ann@example.com.'
  }
  for (const field of ['email', 'name'] as const) {
    if (entry[field].length > 255) problems[field] = 'At most 255 characters, please.'
  }
  return problems
}

/**
 * Processes what is due by the app's clock: renewals, endings, expired links. A disabled sandbox accepts no payments,
 * so what would renew ends.
 */
export async function turnSandbox(pool: Pool, appId: string, isOn: IsOn): Promise<void> {
  for (let more = true; more; ) more = await transaction(pool, (tx) => turnOnce(tx, appId, isOn))
}

async function turnOnce(tx: Tx, appId: string, isOn: IsOn): Promise<boolean> {
  const now = await books.nowOf(tx, appId)
  for (const id of await books.expireCheckouts(tx, appId, now)) {
    await announce(tx, appId, 'checkout.session.expired', {
      object: 'checkout.session',
      id,
      customer: null,
    })
  }
  const due = await books.lockDueSubscriptions(tx, appId, now)
  const on = due.length === 0 || (await isOn(tx, appId))
  for (const s of due) {
    const about = { customer: s.customerId, subscription: s.id }
    if (s.cancelAtPeriodEnd || !on) {
      await books.writeSubscription(tx, appId, { ...s, status: 'canceled', endedAt: s.periodEnd })
      await announce(tx, appId, 'customer.subscription.deleted', {
        object: 'subscription',
        id: s.id,
        customer: s.customerId,
      })
      continue
    }
    // Periods skipped by a jump of a test clock are not charged one by one: only the current one counts.
    const periodEnd = periodEndAt(s.interval, s.madeAt, now)
    const renewed: books.SandboxSubscription = s.cardRenews
      ? { ...s, periodEnd }
      : { ...s, periodEnd, status: 'past_due', pastDueSince: s.pastDueSince ?? s.periodEnd }
    await books.writeSubscription(tx, appId, renewed)
    const type = s.cardRenews ? 'invoice.paid' : 'invoice.payment_failed'
    await announce(tx, appId, type, { object: 'invoice', id: newRef('in'), ...about })
  }
  return due.length > 0
}

function periodEndAt(interval: Interval, anchor: number, now: number): number {
  const { end } = periodAt(interval.toUpperCase() as ResetPeriod, anchor, now)
  if (end === null) throw new Error(`the interval ${interval} never ends`)
  return end
}
