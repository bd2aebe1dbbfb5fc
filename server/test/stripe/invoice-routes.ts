import type Stripe from 'stripe'
import { Form } from './form.ts'
import { buildInvoice, createInvoice, finalize, subscriptionOf } from './invoices.ts'
import { changedItems, lineOf, PRORATIONS } from './item-changes.ts'
import { page } from './lists.ts'
import { attach, behaviourOf } from './payment-methods.ts'
import { cardDeclined, invalid } from './refusals.ts'
import type { Route } from './route.ts'
import { collect, failToCollect } from './subscription-lifecycle.ts'
import { idOf, type PendingItem, type World } from './world.ts'

/** The invoice that a change would result in, or the next one; nothing is kept of it. */
function preview(world: World, form: Form): Stripe.Invoice {
  const subscription = world.subscription(form.required('subscription'))
  const details = form.form('subscription_details') ?? new Form()
  const proration = details.word('proration_behavior', PRORATIONS) ?? 'create_prorations'
  const change = changedItems(world, subscription, details)
  const charged = change.lines.filter((line) => proration !== 'none' || !line.proration)
  const upcoming = change.items.map((item) => ({ ...lineOf(item, 1, 1), proration: false }))
  return buildInvoice(world, {
    customer: idOf(subscription.customer) ?? '',
    currency: subscription.currency,
    reason: 'upcoming',
    subscription,
    lines: proration === 'always_invoice' || change.anew ? charged : [...charged, ...upcoming],
  })
}

export const invoiceRoutes: Route[] = [
  {
    method: 'POST',
    path: '/v1/invoiceitems',
    answer({ world, form }) {
      const item: PendingItem = {
        id: world.id('ii'),
        object: 'invoiceitem',
        amount: form.integer('amount') ?? 0,
        currency: form.required('currency'),
        customer: world.customer(form.required('customer')).id,
        date: world.now,
        description: form.text('description') ?? null,
        livemode: false,
      }
      world.invoiceItems.set(item.id, item)
      return item
    },
  },
  {
    method: 'GET',
    path: '/v1/invoiceitems',
    answer({ world, form }) {
      const customer = form.text('customer')
      // What is on an invoice is forgotten here, so that all there is is pending.
      form.flag('pending')
      const keep = (one: PendingItem) => customer === undefined || one.customer === customer
      return page('/v1/invoiceitems', world.invoiceItems.values(), form, keep)
    },
  },
  {
    method: 'POST',
    path: '/v1/invoices',
    answer({ world, form }) {
      const customer = world.customer(form.required('customer')).id
      form.word('pending_invoice_items_behavior', ['include', 'exclude'])
      const items = [...world.invoiceItems.values()].filter((item) => item.customer === customer)
      for (const { id } of items) world.invoiceItems.delete(id)
      return createInvoice(world, {
        customer,
        currency: items[0]?.currency ?? 'usd',
        reason: 'manual',
        subscription: null,
        description: form.text('description') ?? null,
        lines: items.map(({ amount, currency, description }) => ({
          amount,
          currency,
          description,
          period: { start: world.now, end: world.now },
          quantity: 1,
          price: null,
          subscriptionItem: null,
        })),
      })
    },
  },
  {
    method: 'GET',
    path: '/v1/invoices',
    answer({ world, form }) {
      const [customer, subscription, status] = [
        form.text('customer'),
        form.text('subscription'),
        form.text('status'),
      ]
      const keep = (one: Stripe.Invoice) =>
        (customer === undefined || one.customer === customer) &&
        (subscription === undefined || subscriptionOf(one) === subscription) &&
        (status === undefined || one.status === status)
      return page('/v1/invoices', world.invoices.values(), form, keep)
    },
  },
  { method: 'POST', path: '/v1/invoices/create_preview', answer: ({ world, form }) => preview(world, form) },
  { method: 'GET', path: '/v1/invoices/:id', answer: ({ world, id }) => world.invoice(id) },
  {
    method: 'POST',
    path: '/v1/invoices/:id/finalize',
    answer({ world, id }) {
      const invoice = world.invoice(id)
      if (invoice.status !== 'draft') throw invalid('This invoice is already finalized.')
      finalize(world, invoice)
      return invoice
    },
  },
  {
    method: 'POST',
    path: '/v1/invoices/:id/pay',
    answer({ world, form, id }) {
      const invoice = world.invoice(id)
      if (invoice.status === 'paid') throw invalid('Invoice is already paid')
      const given = form.text('payment_method')
      const method = given ? attach(world, given, idOf(invoice.customer) ?? '').id : null
      const behaviour = behaviourOf(world, method)
      if (behaviour === 'pays' || behaviour === 'pays later') return collect(world, invoice)
      failToCollect(world, invoice, { retry: false })
      if (behaviour === 'needs action') world.emit('invoice.payment_action_required', invoice)
      throw cardDeclined()
    },
  },
]
