import type Stripe from 'stripe'
import { page } from './lists.ts'
import type { Route } from './route.ts'
import { found } from './world.ts'

export const eventRoutes: Route[] = [
  {
    method: 'GET',
    path: '/v1/events',
    answer({ world, form }) {
      const [type, types] = [form.text('type'), form.texts('types')]
      // `customer.*` stands for all whose name begins like this.
      const matches = (wanted: string, one: Stripe.Event) =>
        wanted.endsWith('*') ? one.type.startsWith(wanted.slice(0, -1)) : one.type === wanted
      const keep = (one: Stripe.Event) =>
        (type === undefined || matches(type, one)) &&
        (types.length === 0 || types.some((name) => matches(name, one)))
      return page('/v1/events', world.events.values(), form, keep)
    },
  },
  { method: 'GET', path: '/v1/events/:id', answer: ({ world, id }) => found(world.events, 'event', id) },
]
