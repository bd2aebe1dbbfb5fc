import Stripe from 'stripe'
import type { Form } from './form.ts'
import { page } from './lists.ts'
import { invalid } from './refusals.ts'
import type { Route } from './route.ts'
import { found, type World } from './world.ts'

export function createProduct(
  world: World,
  given: {
    id?: string
    name: string
    description?: string | null
    active?: boolean
    metadata?: Stripe.Metadata
  },
): Stripe.Product {
  const product: Stripe.Product = {
    id: given.id ?? world.id('prod'),
    object: 'product',
    active: given.active ?? true,
    created: world.now,
    default_price: null,
    description: given.description ?? null,
    images: [],
    livemode: false,
    marketing_features: [],
    metadata: given.metadata ?? {},
    name: given.name,
    package_dimensions: null,
    shippable: null,
    statement_descriptor: null,
    tax_code: null,
    tax_details: null,
    type: 'service',
    unit_label: null,
    updated: world.now,
    url: null,
  }
  world.products.set(product.id, product)
  world.emit('product.created', product)
  return product
}

interface NewPrice {
  product: string
  unit_amount: number
  currency: string
  interval?: Stripe.Price.Recurring.Interval | null
  interval_count?: number
  nickname?: string | null
  lookup_key?: string | null
  active?: boolean
  metadata?: Stripe.Metadata
}

export function createPrice(world: World, given: NewPrice): Stripe.Price {
  const price: Stripe.Price = {
    id: world.id('price'),
    object: 'price',
    active: given.active ?? true,
    billing_scheme: 'per_unit',
    created: world.now,
    currency: given.currency.toLowerCase(),
    custom_unit_amount: null,
    livemode: false,
    lookup_key: given.lookup_key ?? null,
    metadata: given.metadata ?? {},
    nickname: given.nickname ?? null,
    product: found(world.products, 'product', given.product).id,
    recurring: given.interval
      ? {
          interval: given.interval,
          interval_count: given.interval_count ?? 1,
          meter: null,
          trial_period_days: null,
          usage_type: 'licensed',
        }
      : null,
    tax_behavior: 'unspecified',
    tiers_mode: null,
    transform_quantity: null,
    type: given.interval ? 'recurring' : 'one_time',
    unit_amount: given.unit_amount,
    unit_amount_decimal: Stripe.Decimal.from(given.unit_amount),
  }
  world.prices.set(price.id, price)
  world.emit('price.created', price)
  return price
}

/** The older name of a recurring price, which subscription items still carry. */
export function planOf(price: Stripe.Price): Stripe.Plan {
  return {
    id: price.id,
    object: 'plan',
    active: price.active,
    amount: price.unit_amount,
    amount_decimal: price.unit_amount_decimal,
    billing_scheme: 'per_unit',
    created: price.created,
    currency: price.currency,
    interval: price.recurring?.interval ?? 'month',
    interval_count: price.recurring?.interval_count ?? 1,
    livemode: false,
    metadata: price.metadata,
    meter: null,
    nickname: price.nickname,
    product: price.product,
    tiers_mode: null,
    transform_usage: null,
    trial_period_days: null,
    usage_type: 'licensed',
  }
}

const INTERVALS = ['day', 'week', 'month', 'year'] as const

/** A price as it is given on its own or within a line item. */
export function priceFrom(world: World, form: Form): Stripe.Price {
  const recurring = form.form('recurring')
  const amount = form.integer('unit_amount')
  if (amount === undefined) throw invalid('Prices require a `unit_amount`.', form.path('unit_amount'))
  const named = form.form('product_data')
  const product = named
    ? createProduct(world, { name: named.required('name'), metadata: named.metadata() }).id
    : form.required('product')
  return createPrice(world, {
    product,
    unit_amount: amount,
    currency: form.required('currency'),
    interval: recurring?.word('interval', INTERVALS) ?? null,
    interval_count: recurring?.integer('interval_count') ?? 1,
    nickname: form.text('nickname') ?? null,
    lookup_key: form.text('lookup_key') ?? null,
    active: form.flag('active') ?? true,
    metadata: form.metadata(),
  })
}

const named = (wanted: string | undefined, value: string | null) => wanted === undefined || wanted === value

export const catalogueRoutes: Route[] = [
  {
    method: 'POST',
    path: '/v1/products',
    answer({ world, form }) {
      const id = form.text('id')
      return createProduct(world, {
        ...(id !== undefined && { id }),
        name: form.required('name'),
        description: form.text('description') ?? null,
        active: form.flag('active') ?? true,
        metadata: form.metadata(),
      })
    },
  },
  {
    method: 'GET',
    path: '/v1/products',
    answer({ world, form }) {
      const [active, ids] = [form.flag('active'), form.texts('ids')]
      const keep = (one: Stripe.Product) =>
        (active === undefined || one.active === active) && (ids.length === 0 || ids.includes(one.id))
      return page('/v1/products', world.products.values(), form, keep)
    },
  },
  {
    method: 'GET',
    path: '/v1/products/:id',
    answer: ({ world, id }) => found(world.products, 'product', id),
  },
  {
    method: 'POST',
    path: '/v1/products/:id',
    answer({ world, form, id }) {
      const product = found(world.products, 'product', id)
      world.change('product.updated', product, {
        name: form.text('name') ?? product.name,
        description: form.clearable('description', product.description),
        active: form.flag('active') ?? product.active,
        metadata: form.metadata(product.metadata),
      })
      return product
    },
  },
  {
    method: 'DELETE',
    path: '/v1/products/:id',
    answer({ world, id }) {
      const product = found(world.products, 'product', id)
      if ([...world.prices.values()].some((price) => price.product === id)) {
        throw invalid('This product cannot be deleted because it has one or more user-created prices.')
      }
      world.products.delete(id)
      world.emit('product.deleted', product)
      return { id, object: 'product', deleted: true } satisfies Stripe.DeletedProduct
    },
  },
  { method: 'POST', path: '/v1/prices', answer: ({ world, form }) => priceFrom(world, form) },
  {
    method: 'GET',
    path: '/v1/prices',
    answer({ world, form }) {
      const [active, keys] = [form.flag('active'), form.texts('lookup_keys')]
      const [product, type, currency] = [form.text('product'), form.text('type'), form.text('currency')]
      const keep = (one: Stripe.Price) =>
        (active === undefined || one.active === active) &&
        (keys.length === 0 || keys.includes(one.lookup_key ?? '')) &&
        named(product, String(one.product)) &&
        named(type, one.type) &&
        named(currency, one.currency)
      return page('/v1/prices', world.prices.values(), form, keep)
    },
  },
  { method: 'GET', path: '/v1/prices/:id', answer: ({ world, id }) => found(world.prices, 'price', id) },
  {
    method: 'POST',
    path: '/v1/prices/:id',
    answer({ world, form, id }) {
      const price = found(world.prices, 'price', id)
      world.change('price.updated', price, {
        active: form.flag('active') ?? price.active,
        nickname: form.clearable('nickname', price.nickname),
        lookup_key: form.clearable('lookup_key', price.lookup_key),
        metadata: form.metadata(price.metadata),
      })
      return price
    },
  },
]
