import { whole } from './lists.ts'
import { invalid } from './refusals.ts'
import type { World } from './world.ts'

type Json = Record<string, unknown>

/** What a field's id names. */
const NAMED: Record<string, (world: World) => ReadonlyMap<string, unknown>> = {
  charge: (world) => world.charges,
  customer: (world) => world.customers,
  default_payment_method: (world) => world.paymentMethods,
  default_price: (world) => world.prices,
  invoice: (world) => world.invoices,
  latest_charge: (world) => world.charges,
  latest_invoice: (world) => world.invoices,
  payment_intent: (world) => world.paymentIntents,
  payment_method: (world) => world.paymentMethods,
  product: (world) => world.products,
  schedule: (world) => world.schedules,
  subscription: (world) => world.subscriptions,
}

/** What is left out unless it is asked for, by kind of object and field. */
const LEFT_OUT: Record<string, (world: World, id: string) => unknown> = {
  'checkout.session.line_items': (world, id) =>
    whole(`/v1/checkout/sessions/${id}/line_items`, world.lineItems.get(id) ?? []),
  'invoice.payments': (world, id) =>
    whole(
      `/v1/invoices/${id}/payments`,
      [...world.invoicePayments.values()].filter(({ invoice }) => invoice === id),
    ),
  'customer.subscriptions': (world, id) =>
    whole(
      `/v1/customers/${id}/subscriptions`,
      [...world.subscriptions.values()].filter(
        ({ customer, status }) => customer === id && status !== 'canceled',
      ),
    ),
}

/** A copy of an answer with the whole thing in the place of each id that `expand` names. */
export function expand(world: World, answer: unknown, paths: readonly string[]): unknown {
  if (paths.length === 0) return answer
  const copy = JSON.parse(JSON.stringify(answer))
  for (const path of paths) {
    if (path.split('.').length > 4) throw invalid(`You cannot expand more than 4 levels: ${path}`, 'expand')
    expandPath(world, copy, path.split('.'), path)
  }
  return copy
}

function expandPath(world: World, at: unknown, [field, ...rest]: string[], path: string): void {
  if (field === undefined || at === null) return
  if (Array.isArray(at)) {
    for (const element of at) expandPath(world, element, [field, ...rest], path)
    return
  }
  const object = at as Json
  const leftOut = LEFT_OUT[`${object.object}.${field}`]
  if (leftOut && object[field] === undefined) object[field] = plain(leftOut(world, String(object.id)))
  const value = object[field]
  if (typeof value === 'string') object[field] = plain(NAMED[field]?.(world).get(value))
  if (object[field] === undefined) throw invalid(`This property cannot be expanded (${path}).`, 'expand')
  expandPath(world, object[field], rest, path)
}

const plain = (thing: unknown): unknown =>
  thing === undefined ? undefined : JSON.parse(JSON.stringify(thing))
