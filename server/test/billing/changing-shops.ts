import { randomUUID } from 'node:crypto'
import type { BilledItem, BillingProvider } from '../../src/billing/provider.ts'
import { insertCustomer } from '../../src/billing/sandbox/books.ts'
import { turnSandbox } from '../../src/billing/sandbox/payments.ts'
import { sandboxProvider } from '../../src/billing/sandbox/sandbox.ts'
import { writeSubscription } from '../../src/billing/sandbox/subscription-books.ts'
import { stripeProvider } from '../../src/billing/stripe/stripe.ts'
import type { Interval } from '../../src/domain/price.ts'
import { openStore } from '../harness/store.ts'
import { subscriptionOf } from '../stripe/invoices.ts'
import { startStripe } from '../stripe/stand-in.ts'

/** An invoice as its provider keeps it. */
export interface KeptInvoice {
  lines: { priceId: string; amount: number; proration: boolean }[]
  due: number
  paid: boolean
}

/** A provider with something to sell, whose clock stands still unless it is moved. */
export interface ChangingShop {
  provider: BillingProvider
  price(amount: number, interval: Interval | null, currency?: string): Promise<string>
  /** A subscription that was paid just now; it renews if the card still pays then. */
  subscribe(items: BilledItem[], card?: 'pays' | 'declines'): Promise<string>
  now(): Promise<number>
  /** Moves the clock; what is due happens, unless the renewals are to be late. */
  advance(seconds: number, how?: 'on time' | 'late'): Promise<void>
  /** Newest last. */
  invoices(ref: string): Promise<KeptInvoice[]>
  close(): Promise<void>
}

/** Where months are clamped, in a second that is whole. */
const START = Date.UTC(2026, 0, 31, 12)

export async function sandboxShop(): Promise<ChangingShop> {
  const { pool, close } = await openStore()
  const appId = 'shop'
  await pool.query(`insert into app (id, name, test_clock) values ($1, $1, $2)`, [appId, new Date(START)])
  await pool.query(
    `insert into package (app_id, id, name, is_addon, status, metadata, updated_at)
     values ($1, 'plan', 'Plan', false, 'PUBLISHED', '{}', now())`,
    [appId],
  )
  await insertCustomer(pool, appId, { id: 'ann', email: null, name: null })
  const provider = sandboxProvider(pool, appId, 'https://shop.example', async () => true)
  const now = async () => {
    const { rows } = await pool.query<{ now: number }>(`select test_clock as now from app where id = $1`, [
      appId,
    ])
    return rows[0]?.now ?? Number.NaN
  }
  return {
    provider,
    now,
    close,
    async price(amount, interval, currency = 'usd') {
      const id = `price_${randomUUID()}`
      await pool.query(
        `insert into price (app_id, provider, id, package_id, amount, currency, interval)
         values ($1, 'sandbox', $2, 'plan', $3, $4, $5)`,
        [appId, id, amount, currency, interval],
      )
      return id
    },
    async subscribe(items, card = 'pays') {
      const id = `sub_${randomUUID()}`
      const { rows } = await pool.query<{ interval: Interval }>(`select interval from price where id = $1`, [
        items[0]?.priceId,
      ])
      const interval = rows[0]?.interval ?? 'month'
      const at = await now()
      await writeSubscription(pool, appId, {
        id,
        sessionId: id,
        customerId: 'ann',
        items,
        interval,
        status: 'active',
        madeAt: at,
        anchor: at,
        periodEnd: nextPeriod(at, interval),
        trialEndsAt: null,
        scheduled: null,
        credit: 0,
        pastDueSince: null,
        cancelAtPeriodEnd: false,
        endedAt: null,
        cardRenews: card === 'pays',
        cardMissing: false,
      })
      return id
    },
    async advance(seconds, how = 'on time') {
      await pool.query(`update app set test_clock = test_clock + make_interval(secs => $2) where id = $1`, [
        appId,
        seconds,
      ])
      if (how === 'on time') await turnSandbox(pool, appId, async () => true)
    },
    async invoices(ref) {
      const { rows } = await pool.query<KeptInvoice>(
        `select lines, due, paid from sandbox_invoice where app_id = $1 and subscription_id = $2 order by number`,
        [appId, ref],
      )
      return rows
    },
  }
}

/** One interval after a time in January: in 2026 only the end of February is clamped. */
function nextPeriod(at: number, interval: Interval): number {
  const from = new Date(at)
  if (interval === 'day' || interval === 'week') return at + (interval === 'day' ? 1 : 7) * 86_400_000
  const months = interval === 'month' ? 1 : 12
  const first = new Date(at)
  first.setUTCDate(1)
  first.setUTCMonth(first.getUTCMonth() + months)
  const last = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate()
  first.setUTCDate(Math.min(from.getUTCDate(), last))
  return first.getTime()
}

export async function stripeShop(): Promise<ChangingShop> {
  const stripe = await startStripe({ now: START / 1000 })
  const sdk = stripe.sdk()
  return {
    provider: stripeProvider(sdk),
    now: async () => stripe.world.now * 1000,
    close: () => stripe.stop(),
    price: async (amount, interval, currency = 'usd') =>
      stripe.sell({ name: 'Plan', amount, interval, currency }).id,
    async subscribe(items, card = 'pays') {
      const method = stripe.paymentMethod('pays')
      const { id } = await sdk.subscriptions.create({
        // What is given back belongs to a customer: each has one of their own.
        customer: stripe.customer().id,
        default_payment_method: method,
        items: items.map(({ priceId, quantity }) => ({ price: priceId, quantity })),
      })
      if (card === 'declines') stripe.world.behaviours.set(method, 'declines')
      return id
    },
    async advance(seconds, how = 'on time') {
      if (how === 'on time') stripe.advance(seconds)
      else stripe.world.setClock(stripe.world.now + seconds)
    },
    async invoices(ref) {
      const kept = [...stripe.world.invoices.values()].filter((invoice) => subscriptionOf(invoice) === ref)
      return kept.map(({ lines, amount_due, status }) => ({
        lines: lines.data.map(({ amount, pricing, parent }) => ({
          priceId: String(pricing?.price_details?.price),
          amount,
          proration: parent?.subscription_item_details?.proration ?? false,
        })),
        due: amount_due,
        paid: status === 'paid',
      }))
    },
  }
}
