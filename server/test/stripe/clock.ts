import type Stripe from 'stripe'
import { expire } from './checkout-sessions.ts'
import { subscriptionOf } from './invoices.ts'
import { behaviourOf } from './payment-methods.ts'
import { endPhase } from './schedules.ts'
import { cancelNow, collect, endTrial, failToCollect, renew } from './subscription-lifecycle.ts'
import { isOver, periodEnd } from './subscriptions.ts'
import { idOf, type World } from './world.ts'

interface Due {
  at: number
  happen: () => void
}

const ATTEMPTS = 4
const INCOMPLETE_FOR = 23 * 3600

/** Moves the clock; whatever falls due on the way happens in its order, at its time. */
export function advance(world: World, to: number): void {
  for (;;) {
    const next = dues(world).sort((a, b) => a.at - b.at)[0]
    if (!next || next.at > to) break
    world.setClock(Math.max(world.now, next.at))
    next.happen()
  }
  world.setClock(to)
}

function dues(world: World): Due[] {
  return [
    ...[...world.sessions.values()]
      .filter(({ status }) => status === 'open')
      .map((session) => ({ at: session.expires_at, happen: () => expire(world, session) })),
    // At one moment the phase comes first: the period that begins is charged at its prices.
    ...[...world.schedules.values()].flatMap((schedule) =>
      schedule.status === 'active' && schedule.current_phase
        ? [{ at: schedule.current_phase.end_date, happen: () => endPhase(world, schedule) }]
        : [],
    ),
    ...[...world.subscriptions.values()].flatMap((subscription) => nextOf(world, subscription)),
    ...[...world.invoices.values()].flatMap((invoice) => retryOf(world, invoice)),
  ]
}

function nextOf(world: World, subscription: Stripe.Subscription): Due[] {
  if (isOver(subscription) || subscription.status === 'paused') return []
  const resumes = subscription.pause_collection?.resumes_at ?? null
  if (resumes !== null && resumes <= periodEnd(subscription)) {
    const resume = () =>
      world.change('customer.subscription.updated', subscription, { pause_collection: null })
    return [{ at: resumes, happen: resume }]
  }
  const end = periodEnd(subscription)
  const ends = subscription.cancel_at
  if (ends !== null && ends <= end) return [{ at: ends, happen: () => cancelNow(world, subscription) }]
  switch (subscription.status) {
    case 'trialing':
      return [{ at: subscription.trial_end ?? end, happen: () => endTrial(world, subscription) }]
    case 'incomplete':
      return [{ at: subscription.created + INCOMPLETE_FOR, happen: () => abandon(world, subscription) }]
    default:
      return [{ at: end, happen: () => renew(world, subscription) }]
  }
}

/** The first payment never came. */
function abandon(world: World, subscription: Stripe.Subscription): void {
  world.change('customer.subscription.updated', subscription, {
    status: 'incomplete_expired',
    ended_at: world.now,
  })
}

/** A failed payment is tried again, and in the end the subscription is given up. */
function retryOf(world: World, invoice: Stripe.Invoice): Due[] {
  const [at, id] = [invoice.next_payment_attempt, subscriptionOf(invoice)]
  if (at === null || id === null || invoice.status !== 'open') return []
  const subscription = world.subscription(id)
  if (isOver(subscription)) return []
  const happen = () => {
    if (behaviourOf(world, idOf(subscription.default_payment_method)).startsWith('pays'))
      collect(world, invoice)
    else if (invoice.attempt_count < ATTEMPTS - 1) failToCollect(world, invoice)
    else {
      failToCollect(world, invoice, { retry: false })
      cancelNow(world, subscription, 'payment_failed')
    }
  }
  return [{ at, happen }]
}
