import type Stripe from 'stripe'
import type { Route } from './route.ts'
import { type Behaviour, found, type World } from './world.ts'

/** What is known of a number, a token or a shared test method; all others pay. */
const BEHAVIOURS: Record<string, Behaviour> = {
  tok_chargeCustomerFail: 'declines',
  pm_card_chargeCustomerFail: 'declines',
  tok_chargeDeclined: 'declines',
  pm_card_chargeDeclined: 'declines',
  pm_card_threeDSecure2Required: 'needs action',
  AT611904300234573201: 'pays later',
  IT60X0542811101000000123456: 'declines later',
}

const NOBODY: Stripe.PaymentMethod.BillingDetails = {
  address: null,
  email: null,
  name: null,
  phone: null,
  tax_id: null,
}

export function createPaymentMethod(
  world: World,
  { behaviour = 'pays', details = {} }: { behaviour?: Behaviour; details?: Partial<typeof NOBODY> } = {},
): Stripe.PaymentMethod {
  const common = {
    id: world.id('pm'),
    object: 'payment_method' as const,
    billing_details: { ...NOBODY, ...details },
    created: world.now,
    customer: null,
    customer_account: null,
    livemode: false,
    metadata: {},
  }
  const delayed = behaviour === 'pays later' || behaviour === 'declines later'
  const method: Stripe.PaymentMethod = delayed
    ? {
        ...common,
        type: 'sepa_debit',
        sepa_debit: {
          bank_code: '19043',
          branch_code: '',
          country: 'AT',
          fingerprint: null,
          generated_from: null,
          last4: '3201',
        },
      }
    : {
        ...common,
        type: 'card',
        card: {
          brand: 'visa',
          checks: null,
          country: 'US',
          display_brand: 'visa',
          exp_month: 12,
          exp_year: 2040,
          funding: 'credit',
          generated_from: null,
          last4: '4242',
          networks: null,
          regulated_status: null,
          three_d_secure_usage: null,
          wallet: null,
        },
      }
  world.paymentMethods.set(method.id, method)
  world.behaviours.set(method.id, behaviour)
  return method
}

/** A shared test method (`pm_card_visa`) becomes a new one of the customer's own. */
export function attach(world: World, id: string, customer: string): Stripe.PaymentMethod {
  const method = id.startsWith('pm_card_')
    ? createPaymentMethod(world, { behaviour: BEHAVIOURS[id] ?? 'pays' })
    : found(world.paymentMethods, 'PaymentMethod', id)
  if (method.customer === customer) return method
  method.customer = customer
  world.emit('payment_method.attached', method)
  return method
}

export const behaviourOf = (world: World, method: string | null): Behaviour =>
  (method === null ? undefined : world.behaviours.get(method)) ?? 'pays'

export const paymentMethodRoutes: Route[] = [
  {
    method: 'POST',
    path: '/v1/payment_methods',
    answer({ world, form }) {
      form.word('type', ['card', 'sepa_debit'])
      const known = form.form('card')?.text('token') ?? form.form('sepa_debit')?.text('iban') ?? ''
      const payer = form.form('billing_details')
      const details = {
        email: payer?.text('email') ?? null,
        name: payer?.text('name') ?? null,
        phone: payer?.text('phone') ?? null,
      }
      payer?.without('address')
      return createPaymentMethod(world, { behaviour: BEHAVIOURS[known] ?? 'pays', details })
    },
  },
  {
    method: 'GET',
    path: '/v1/payment_methods/:id',
    answer: ({ world, id }) => found(world.paymentMethods, 'PaymentMethod', id),
  },
  {
    method: 'POST',
    path: '/v1/payment_methods/:id/attach',
    answer: ({ world, form, id }) => attach(world, id, world.customer(form.required('customer')).id),
  },
]
