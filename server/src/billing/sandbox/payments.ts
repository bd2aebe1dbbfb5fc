import { type CardEntry, cardOutcome, cardProblems } from '../../domain/card.ts'
import { isEmail } from '../../domain/email.ts'
import { asksForCard } from '../../domain/sale-terms.ts'
import { type Pool, type Tx, transaction } from '../../store/connection/database.ts'
import { invoiceOf, keepInvoice, pricesById, wholePeriod } from './bill.ts'
import * as books from './books.ts'
import { byTheClock, periodEndAt } from './change-price.ts'
import { announce, newRef } from './events.ts'
import { lockDueSubscriptions, type SandboxSubscription, writeSubscription } from './subscription-books.ts'

const DAY_MS = 86_400_000

/** The data a payer enters. Name and email are used only if the link was not made for a user. */
export interface PayerEntry extends CardEntry {
  email: string
  name: string
}

export type FieldProblems = Partial<Record<keyof PayerEntry, string>>

export type PaymentOutcome =
  | { kind: 'paid' | 'cancelled' | 'expired' | 'off'; checkout: books.SandboxCheckout }
  | { kind: 'refused'; checkout: books.SandboxCheckout; problems: FieldProblems }

/** Whether the sandbox of an app currently accepts payments. */
export type IsOn = (tx: Tx, appId: string) => Promise<boolean>

/** Pays a checkout, once: paying again returns the same result. Null: there is no such checkout. */
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
    const terms = checkout.terms
    const cardMissing = !asksForCard(terms)
    const outcome = cardMissing ? null : cardOutcome(entry.number)
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
    const isSaved = item?.interval != null || terms.saveCard === true
    if (outcome !== null && isSaved) await books.saveCard(tx, appId, customerId, outcome)
    const interval = item?.interval ?? null
    const subscriptionId = interval === null ? null : newRef('sub')
    if (interval !== null && subscriptionId !== null) {
      const trialEndsAt = terms.trialDays === null ? null : now + terms.trialDays * DAY_MS
      const made: SandboxSubscription = {
        id: subscriptionId,
        sessionId: checkout.sessionId,
        customerId,
        items: checkout.items.map(({ priceId }) => ({ priceId, quantity: 1 })),
        interval,
        status: 'active',
        madeAt: now,
        anchor: trialEndsAt ?? now,
        periodEnd: trialEndsAt ?? periodEndAt(interval, now, now),
        trialEndsAt,
        scheduled: null,
        credit: 0,
        pastDueSince: null,
        cancelAtPeriodEnd: false,
        endedAt: null,
        cardRenews: outcome === 'pays' || outcome === 'loses an answer',
        cardMissing,
      }
      await writeSubscription(tx, appId, made)
      const lines = checkout.items.map(({ priceId, amount }) => ({
        priceId,
        quantity: 1,
        amount: trialEndsAt === null ? amount : 0,
        proration: false,
      }))
      const first = { reason: 'subscription_create', currency: item?.currency ?? '', paid: true } as const
      await keepInvoice(tx, appId, made, invoiceOf(made, lines), { ...first, at: now })
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

/** The payer cancels. The link stays valid. */
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

function problemsOf(entry: PayerEntry, { customerId, now, terms }: books.SandboxCheckout): FieldProblems {
  const problems: FieldProblems = asksForCard(terms) ? cardProblems(entry, now) : {}
  if (customerId === null && !isEmail(entry.email.trim())) {
    problems.email = 'Enter your email address, such as ann@example.com.'
  }
  for (const field of ['email', 'name'] as const) {
    if (entry[field].length > 255) problems[field] = 'Enter at most 255 characters.'
  }
  return problems
}

/**
 * Processes everything due by the app's clock: renewals, cancellations, expired links. A disabled sandbox accepts no
 * payments, so subscriptions end instead of renewing.
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
  const due = (await lockDueSubscriptions(tx, appId, now)).map((s) => byTheClock(s, now))
  const on = due.length === 0 || (await isOn(tx, appId))
  const prices = await pricesById(
    tx,
    appId,
    due.flatMap(({ items }) => items),
  )
  for (const s of due) {
    const about = { customer: s.customerId, subscription: s.id }
    if (s.cancelAtPeriodEnd || s.cardMissing || !on) {
      await writeSubscription(tx, appId, { ...s, status: 'canceled', endedAt: s.periodEnd })
      await announce(tx, appId, 'customer.subscription.deleted', {
        object: 'subscription',
        id: s.id,
        customer: s.customerId,
      })
      continue
    }
    // If a test clock skipped periods, only the current one is charged.
    const periodEnd = periodEndAt(s.interval, s.anchor, now)
    const bill = invoiceOf(s, wholePeriod(s.items, prices))
    const paid = s.cardRenews || bill.due === 0
    const renewed: SandboxSubscription = paid
      ? { ...s, periodEnd, credit: bill.credit }
      : { ...s, periodEnd, status: 'past_due', pastDueSince: s.pastDueSince ?? s.periodEnd }
    await writeSubscription(tx, appId, renewed)
    const [first] = s.items
    const currency = prices.get(first?.priceId ?? '')?.currency ?? ''
    const id = await keepInvoice(tx, appId, s, bill, {
      reason: 'subscription_cycle',
      currency,
      paid,
      at: now,
    })
    const type = paid ? 'invoice.paid' : 'invoice.payment_failed'
    await announce(tx, appId, type, { object: 'invoice', id, ...about })
  }
  return due.length > 0
}
