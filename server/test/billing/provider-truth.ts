import type Stripe from 'stripe'
import { subscriptionOf } from '../stripe/invoices.ts'
import type { World } from '../stripe/world.ts'

/** What a user should have. */
export interface Held {
  packageId: string
  cancelAt: string | null
  anchor: string
}

export interface Sold {
  packageId: string
  isAddon: boolean
}

const DAY = 86_400

interface Grant {
  sold: Sold[]
  anchor: number
  end: number | null
}

/** What the provider's word comes to for whoever made these sessions: derived anew from how it stands there. */
export function truthOf(
  world: World,
  sessionIds: readonly string[],
  soldBy: ReadonlyMap<string, Sold>,
  graceDays: number,
): Held[] {
  const grants = sessionIds.flatMap((id) => grantOf(world, world.session(id), soldBy, graceDays) ?? [])
  const base = grants.find(({ sold }) => sold.some(({ isAddon }) => !isAddon))
  if (!base) return []
  const held = grants.flatMap(({ sold, end }) =>
    sold.map(({ packageId }) => ({
      packageId,
      // An add-on is counted with its base plan, and ends with it at the latest.
      anchor: iso(base.anchor),
      cancelAt: earliest(end, base.end),
    })),
  )
  return held.toSorted((a, b) => a.packageId.localeCompare(b.packageId))
}

function grantOf(
  world: World,
  session: Stripe.Checkout.Session,
  soldBy: ReadonlyMap<string, Sold>,
  graceDays: number,
): Grant | null {
  const sold = (prices: (Stripe.Price | null)[]) =>
    prices.flatMap((price) => soldBy.get(price?.id ?? '') ?? [])
  if (typeof session.subscription !== 'string') {
    const paid = session.status === 'complete' && session.payment_status === 'paid'
    const items = world.lineItems.get(session.id) ?? []
    const payment = world.paymentIntents.get(String(session.payment_intent))
    const charge = world.charges.get(String(payment?.latest_charge))
    // It counts from when the payer has paid, not from when the link was made.
    const anchor = charge?.created ?? session.created
    return paid ? { sold: sold(items.map(({ price }) => price)), anchor, end: null } : null
  }
  const subscription = world.subscription(session.subscription)
  const invoices = [...world.invoices.values()].filter((one) => subscriptionOf(one) === subscription.id)
  const everPaid = session.payment_status !== 'unpaid' || invoices.some(({ status }) => status === 'paid')
  if (!everPaid || !['active', 'past_due'].includes(subscription.status)) return null
  const unpaid = invoices.filter(({ status }) => status === 'open').map(({ created }) => created)
  const grace = subscription.status === 'past_due' ? Math.min(...unpaid) + graceDays * DAY : null
  const ends = [subscription.cancel_at, grace].filter((end) => end !== null)
  return {
    sold: sold(subscription.items.data.map(({ price }) => price)),
    anchor: subscription.billing_cycle_anchor,
    end: ends.length > 0 ? Math.min(...ends) : null,
  }
}

const iso = (seconds: number): string => new Date(seconds * 1000).toISOString()

function earliest(a: number | null, b: number | null): string | null {
  const ends = [a, b].filter((end) => end !== null)
  return ends.length > 0 ? iso(Math.min(...ends)) : null
}
