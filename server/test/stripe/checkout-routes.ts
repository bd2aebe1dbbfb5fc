import type Stripe from 'stripe'
import { pay, settle } from './checkout-payment.ts'
import { createSession, expire } from './checkout-sessions.ts'
import { page } from './lists.ts'
import { behaviourOf } from './payment-methods.ts'
import { invalid } from './refusals.ts'
import type { Route } from './route.ts'
import { found } from './world.ts'

const PATH = '/v1/checkout/sessions'

export const checkoutRoutes: Route[] = [
  { method: 'POST', path: PATH, answer: ({ world, form }) => createSession(world, form) },
  {
    method: 'GET',
    path: PATH,
    answer({ world, form }) {
      const wanted = (['customer', 'subscription', 'payment_intent', 'status'] as const).map(
        (name) => [name, form.text(name)] as const,
      )
      const email = form.form('customer_details')?.text('email')
      const keep = (one: Stripe.Checkout.Session) =>
        wanted.every(([name, value]) => value === undefined || one[name] === value) &&
        (email === undefined || one.customer_details?.email === email)
      return page(PATH, world.sessions.values(), form, keep)
    },
  },
  { method: 'GET', path: `${PATH}/:id`, answer: ({ world, id }) => world.session(id) },
  {
    method: 'POST',
    path: `${PATH}/:id`,
    answer({ world, form, id }) {
      const session = world.session(id)
      session.metadata = form.metadata(session.metadata ?? {})
      return session
    },
  },
  {
    method: 'GET',
    path: `${PATH}/:id/line_items`,
    answer({ world, form, id }) {
      const items = world.lineItems.get(world.session(id).id) ?? []
      // Newest first is how lists are turned; line items stand as they were given.
      return page(`${PATH}/${id}/line_items`, [...items].reverse(), form)
    },
  },
  {
    method: 'POST',
    path: `${PATH}/:id/expire`,
    answer({ world, id }) {
      expire(world, world.session(id))
      return world.session(id)
    },
  },
  // Where Stripe's own page, and its CLI, see and pay a session.
  { method: 'GET', path: '/v1/payment_pages/:id', answer: ({ world, id }) => world.session(id) },
  {
    method: 'POST',
    path: '/v1/payment_pages/:id/confirm',
    answer({ world, form, id }) {
      const session = world.session(id)
      const expected = form.integer('expected_amount')
      if (expected !== session.amount_total)
        throw invalid(`The amount is ${session.amount_total}.`, 'expected_amount')
      const method = form.required('payment_method')
      const details = found(world.paymentMethods, 'PaymentMethod', method).billing_details
      pay(world, session, {
        method,
        ...(details.email !== null && { email: details.email }),
        ...(details.name !== null && { name: details.name }),
      })
      const behaviour = behaviourOf(world, method)
      if (behaviour === 'pays later') settle(world, session, 'paid')
      if (behaviour === 'declines later') settle(world, session, 'failed')
      return session
    },
  },
]
