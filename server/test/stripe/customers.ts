import type Stripe from 'stripe'
import type { Form } from './form.ts'
import { page } from './lists.ts'
import { attach } from './payment-methods.ts'
import { invalid, noSuch } from './refusals.ts'
import type { Route } from './route.ts'
import { cancelNow } from './subscription-lifecycle.ts'
import { found, type World } from './world.ts'

interface NewCustomer {
  email?: string | null
  name?: string | null
  description?: string | null
  phone?: string | null
  metadata?: Stripe.Metadata
}

export function createCustomer(world: World, given: NewCustomer): Stripe.Customer {
  const customer: Stripe.Customer = {
    id: world.id('cus'),
    object: 'customer',
    address: null,
    balance: 0,
    created: world.now,
    currency: null,
    default_source: null,
    delinquent: false,
    description: given.description ?? null,
    discount: null,
    email: given.email ?? null,
    invoice_prefix: 'STAND',
    invoice_settings: {
      custom_fields: null,
      default_payment_method: null,
      footer: null,
      rendering_options: null,
    },
    livemode: false,
    metadata: given.metadata ?? {},
    name: given.name ?? null,
    next_invoice_sequence: 1,
    phone: given.phone ?? null,
    preferred_locales: [],
    shipping: null,
    tax_exempt: 'none',
    test_clock: null,
  }
  world.customers.set(customer.id, customer)
  world.emit('customer.created', customer)
  return customer
}

/** Everything that the customer pays for ends with it. */
export function deleteCustomer(world: World, id: string): Stripe.DeletedCustomer {
  const customer = world.customer(id, 'id')
  for (const subscription of world.subscriptions.values()) {
    const live = subscription.status !== 'canceled' && subscription.status !== 'incomplete_expired'
    if (subscription.customer === id && live) cancelNow(world, subscription)
  }
  const deleted: Stripe.DeletedCustomer = { id, object: 'customer', deleted: true }
  world.customers.set(id, deleted)
  world.emit('customer.deleted', customer)
  return deleted
}

export function updateCustomer(world: World, customer: Stripe.Customer, changes: NewCustomer): void {
  world.change('customer.updated', customer, changes)
}

function email(form: Form): string | undefined {
  const value = form.text('email')
  if (value && !value.includes('@'))
    throw invalid(`Invalid email address: ${value}`, 'email', 'email_invalid')
  return value
}

function setDefault(world: World, customer: Stripe.Customer, form: Form): void {
  const method = form.form('invoice_settings')?.text('default_payment_method')
  if (!method) return
  const attached = attach(world, method, customer.id)
  customer.invoice_settings.default_payment_method = attached.id
}

export const customerRoutes: Route[] = [
  {
    method: 'POST',
    path: '/v1/customers',
    answer({ world, form }) {
      const customer = createCustomer(world, {
        email: email(form) || null,
        name: form.text('name') || null,
        description: form.text('description') || null,
        phone: form.text('phone') || null,
        metadata: form.metadata(),
      })
      // The default is attached with it: for the test cards both name the same.
      form.without('payment_method')
      setDefault(world, customer, form)
      return customer
    },
  },
  {
    method: 'GET',
    path: '/v1/customers',
    answer({ world, form }) {
      const address = form.text('email')
      const live = [...world.customers.values()].flatMap((customer) => (customer.deleted ? [] : [customer]))
      return page('/v1/customers', live, form, (one) => address === undefined || one.email === address)
    },
  },
  {
    method: 'GET',
    path: '/v1/customers/:id',
    answer: ({ world, id }) => found(world.customers, 'customer', id),
  },
  {
    method: 'POST',
    path: '/v1/customers/:id',
    answer({ world, form, id }) {
      const known = world.customers.get(id)
      if (!known || known.deleted) throw noSuch('customer', id)
      setDefault(world, known, form)
      const [address, name] = [email(form), form.text('name')]
      const description = form.text('description')
      updateCustomer(world, known, {
        ...(address !== undefined && { email: address || null }),
        ...(name !== undefined && { name: name || null }),
        ...(description !== undefined && { description: description || null }),
        metadata: form.metadata(known.metadata),
      })
      return known
    },
  },
  {
    method: 'DELETE',
    path: '/v1/customers/:id',
    answer({ world, id }) {
      const known = world.customers.get(id)
      if (!known || known.deleted) throw noSuch('customer', id)
      return deleteCustomer(world, id)
    },
  },
]
