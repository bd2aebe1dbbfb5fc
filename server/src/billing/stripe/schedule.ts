import type Stripe from 'stripe'
import type { BilledItem } from '../provider.ts'
import { asked, idOf } from './asked.ts'
import { intervalOf } from './price.ts'

// A change at the end of the period is a subscription schedule with two phases. While a subscription has a schedule,
// Stripe accepts no other change of its end, so the schedule is released first.

/** Schedules `next` to replace `items` at the end of the period, with the existing schedule or a new one. */
export async function scheduleItems(
  stripe: Stripe,
  subscription: Stripe.Subscription,
  items: readonly BilledItem[],
  next: readonly BilledItem[],
): Promise<void> {
  const [first] = next
  if (!first) return
  const price = await asked(() => stripe.prices.retrieve(first.priceId))
  const known = idOf(subscription.schedule)
  if (known !== null) {
    const schedule = await asked(() => stripe.subscriptionSchedules.retrieve(known))
    return setPhases(stripe, schedule, items, next, price)
  }
  const made = await asked(() => stripe.subscriptionSchedules.create({ from_subscription: subscription.id }))
  try {
    await setPhases(stripe, made, items, next, price)
  } catch (error) {
    await asked(() => stripe.subscriptionSchedules.release(made.id))
    throw error
  }
}

async function setPhases(
  stripe: Stripe,
  schedule: Stripe.SubscriptionSchedule,
  items: readonly BilledItem[],
  next: readonly BilledItem[],
  price: Stripe.Price,
): Promise<void> {
  const current = schedule.phases.find((phase) => phase.start_date === schedule.current_phase?.start_date)
  if (!current) throw new Error(`the schedule ${schedule.id} has no current phase`)
  const kept = {
    discounts: current.discounts.flatMap(({ discount }) => {
      const id = idOf(discount)
      return id === null ? [] : [{ discount: id }]
    }),
    ...(current.metadata && { metadata: current.metadata }),
    proration_behavior: 'none' as const,
  }
  await asked(() =>
    stripe.subscriptionSchedules.update(schedule.id, {
      end_behavior: 'release',
      proration_behavior: 'none',
      phases: [
        {
          ...kept,
          items: items.map(phaseItem),
          start_date: current.start_date,
          end_date: current.end_date,
          ...(current.trial_end !== null && { trial_end: current.trial_end }),
        },
        {
          ...kept,
          items: next.map(phaseItem),
          duration: { interval: intervalOf(price) ?? 'month', interval_count: 1 },
        },
      ],
    }),
  )
}

const phaseItem = ({ priceId, quantity }: BilledItem) => ({ price: priceId, quantity })

/** Releases the schedule, if there is one. The subscription continues unchanged. */
export async function releaseSchedule(stripe: Stripe, subscription: Stripe.Subscription): Promise<void> {
  const id = idOf(subscription.schedule)
  if (id !== null) await asked(() => stripe.subscriptionSchedules.release(id))
}
