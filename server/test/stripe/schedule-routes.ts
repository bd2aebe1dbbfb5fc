import type Stripe from 'stripe'
import type { Form } from './form.ts'
import { checkPrice, newItem } from './item-changes.ts'
import { invalid, missingParameter } from './refusals.ts'
import type { Route } from './route.ts'
import { applyPhase, buildPhase, release, scheduleFrom } from './schedules.ts'
import { afterPeriods } from './time.ts'
import { found, idOf, type World } from './world.ts'

const PATH = '/v1/subscription_schedules'
const INTERVALS = ['day', 'week', 'month', 'year'] as const

function update(
  world: World,
  schedule: Stripe.SubscriptionSchedule,
  form: Form,
): Stripe.SubscriptionSchedule {
  const { status, current_phase: current } = schedule
  if (status !== 'active' || !current) {
    throw invalid(`You can not update a subscription schedule that is currently \`${status}\`.`)
  }
  // What a part of a period costs is worked out for changes of the subscription alone.
  if (form.word('proration_behavior', ['none', 'create_prorations', 'always_invoice']) !== 'none') {
    throw invalid('This stand-in updates schedules without proration only.', 'proration_behavior')
  }
  const ends = form.word('end_behavior', ['release', 'cancel']) ?? schedule.end_behavior
  const subscription = world.subscription(idOf(schedule.subscription) ?? '')
  const phases: Stripe.SubscriptionSchedule.Phase[] = []
  for (const phase of form.forms('phases')) {
    const start = phase.integer('start_date') ?? phases.at(-1)?.end_date
    if (start === undefined) throw missingParameter(phase.path('start_date'))
    if (phases.length === 0 && start !== current.start_date) {
      throw invalid('You can not modify the start date of the current phase.', phase.path('start_date'))
    }
    if (phases.length > 0 && start !== phases.at(-1)?.end_date) {
      throw invalid('Phases must follow each other without a gap.', phase.path('start_date'))
    }
    phase.word('proration_behavior', ['none'])
    const discounts = phase.forms('discounts').map((one) => one.required('discount'))
    const items = phase.forms('items').map((item) => newItem(world, item))
    for (const { price } of items) checkPrice(price, subscription)
    if (items.length === 0) throw missingParameter(phase.path('items'))
    const end = endOf(phase, start)
    if (end <= start) throw invalid('A phase must end after it starts.', phase.path('end_date'))
    const trialEnd = phase.integer('trial_end') ?? null
    const built = buildPhase(items, subscription.currency, { start, end }, trialEnd, discounts)
    phases.push({ ...built, metadata: phase.metadata() })
  }
  const [first] = phases
  if (!first) throw missingParameter('phases')
  if (first.end_date <= world.now) throw invalid('The current phase must end in the future.', 'phases')
  Object.assign(schedule, {
    phases,
    end_behavior: ends,
    current_phase: { start_date: first.start_date, end_date: first.end_date },
  })
  world.emit('subscription_schedule.updated', schedule)
  applyPhase(world, subscription, first)
  return schedule
}

function endOf(phase: Form, start: number): number {
  const end = phase.integer('end_date')
  const duration = phase.form('duration')
  if (end !== undefined && duration) {
    throw invalid('You may only specify one of these parameters: duration, end_date.', phase.path('duration'))
  }
  if (end !== undefined) return end
  const interval = duration?.word('interval', INTERVALS)
  if (!duration || !interval) throw missingParameter(phase.path('end_date'))
  return afterPeriods(start, { interval, interval_count: duration.integer('interval_count') ?? 1 }, 1)
}

export const scheduleRoutes: Route[] = [
  {
    method: 'POST',
    path: PATH,
    answer: ({ world, form }) => scheduleFrom(world, world.subscription(form.required('from_subscription'))),
  },
  {
    method: 'GET',
    path: `${PATH}/:id`,
    answer: ({ world, id }) => found(world.schedules, 'subscription_schedule', id),
  },
  {
    method: 'POST',
    path: `${PATH}/:id`,
    answer: ({ world, form, id }) => update(world, found(world.schedules, 'subscription_schedule', id), form),
  },
  {
    method: 'POST',
    path: `${PATH}/:id/release`,
    answer({ world, id }) {
      const schedule = found(world.schedules, 'subscription_schedule', id)
      release(world, schedule)
      return schedule
    },
  },
]
