import type Stripe from 'stripe'
import { charged } from './charges.ts'
import { page } from './lists.ts'
import { behaviourOf } from './payment-methods.ts'
import { cardDeclined, invalid, missingParameter } from './refusals.ts'
import type { Route } from './route.ts'
import { found, idOf } from './world.ts'

const PATH = '/v1/payment_intents'

export const paymentIntentRoutes: Route[] = [
  {
    // Only what a charge without the payer needs: it is confirmed at once.
    method: 'POST',
    path: PATH,
    answer({ world, form }) {
      const amount = form.integer('amount')
      if (amount === undefined) throw missingParameter('amount')
      if (form.flag('confirm') !== true || form.flag('off_session') !== true)
        throw invalid('This stand-in confirms payment intents at once and off-session.', 'confirm')
      const customer = world.customer(form.required('customer')).id
      const method = form.required('payment_method')
      if (found(world.paymentMethods, 'PaymentMethod', method).customer !== customer)
        throw invalid('The customer does not have a payment method with this ID.', 'payment_method')
      form.texts('allowed_payment_method_types')
      const currency = form.required('currency')
      const metadata = form.metadata()
      const description = form.text('description') ?? null
      const behaviour = behaviourOf(world, method)
      const paid = behaviour === 'pays'
      const intent = charged(world, { amount, currency, customer, method, metadata, paid })
      intent.description = description
      world.emit('payment_intent.created', intent)
      if (paid) {
        world.emit('payment_intent.succeeded', intent)
        return intent
      }
      const code = DECLINES[behaviour] ?? 'generic_decline'
      const charge = world.charges.get(idOf(intent.latest_charge) ?? '')
      if (charge) charge.status = 'failed'
      intent.status = 'requires_payment_method'
      intent.last_payment_error = {
        type: 'card_error',
        code: 'card_declined',
        decline_code: code,
        message: 'Your card was declined.',
      } as Stripe.PaymentIntent.LastPaymentError
      world.emit('payment_intent.payment_failed', intent)
      throw cardDeclined(code)
    },
  },
  {
    method: 'GET',
    path: PATH,
    answer({ world, form }) {
      const customer = form.text('customer')
      return page(
        PATH,
        world.paymentIntents.values(),
        form,
        (one) => customer === undefined || one.customer === customer,
      )
    },
  },
  {
    method: 'GET',
    path: `${PATH}/:id`,
    answer: ({ world, id }) => found(world.paymentIntents, 'payment_intent', id),
  },
  {
    method: 'GET',
    path: '/v1/customers/:id/payment_methods',
    answer({ world, form, id }) {
      const type = form.text('type')
      const theirs = (one: Stripe.PaymentMethod) =>
        one.customer === id && (type === undefined || one.type === type)
      return page(`/v1/customers/${id}/payment_methods`, world.paymentMethods.values(), form, theirs)
    },
  },
]

const DECLINES: Partial<Record<string, string>> = {
  'needs action': 'authentication_required',
  stolen: 'stolen_card',
}
