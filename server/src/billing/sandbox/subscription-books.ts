import type { Interval } from '../../domain/price.ts'
import { timestamp, timestampOrNull } from '../../store/connection/database.ts'
import type { HomeDb } from '../../store/connection/places.ts'
import type { BilledItem, ProviderPayment } from '../provider.ts'

export interface SandboxSubscription {
  id: string
  sessionId: string
  customerId: string
  items: BilledItem[]
  interval: Interval
  status: 'active' | 'past_due' | 'canceled'
  madeAt: number
  /** where its periods are counted from */
  anchor: number
  periodEnd: number
  trialEndsAt: number | null
  /** items and interval that replace the current ones at the end of the period */
  scheduled: { at: number; interval: Interval; items: BilledItem[] } | null
  /** credit of earlier changes that no invoice has used yet */
  credit: number
  pastDueSince: number | null
  cancelAtPeriodEnd: boolean
  endedAt: number | null
  cardRenews: boolean
  /** started with a trial that required no card */
  cardMissing: boolean
}

interface Row extends Omit<SandboxSubscription, 'items'> {
  priceIds: string[]
  quantities: Record<string, number>
}

const SUBSCRIPTION = `
select id, session_id as "sessionId", customer_id as "customerId", price_ids as "priceIds", quantities, interval, status,
  made_at as "madeAt", coalesce(anchor, made_at) as anchor, period_end as "periodEnd", trial_ends_at as "trialEndsAt",
  scheduled, credit, past_due_since as "pastDueSince", cancel_at_period_end as "cancelAtPeriodEnd",
  ended_at as "endedAt", card_renews as "cardRenews", card_missing as "cardMissing"
from sandbox_subscription`

const fromRow = ({ priceIds, quantities, ...row }: Row): SandboxSubscription => ({
  ...row,
  items: priceIds.map((priceId) => ({ priceId, quantity: quantities[priceId] ?? 1 })),
})

export async function writeSubscription(db: HomeDb, appId: string, s: SandboxSubscription): Promise<void> {
  await db.query(
    `insert into sandbox_subscription (app_id, id, session_id, customer_id, price_ids, quantities, interval, status,
       made_at, anchor, period_end, trial_ends_at, scheduled, credit, past_due_since, cancel_at_period_end, ended_at,
       card_renews, card_missing)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
     on conflict (app_id, id) do update set price_ids = excluded.price_ids, quantities = excluded.quantities,
       interval = excluded.interval, status = excluded.status, anchor = excluded.anchor,
       period_end = excluded.period_end, trial_ends_at = excluded.trial_ends_at, scheduled = excluded.scheduled,
       credit = excluded.credit, past_due_since = excluded.past_due_since,
       cancel_at_period_end = excluded.cancel_at_period_end, ended_at = excluded.ended_at`,
    [
      appId,
      s.id,
      s.sessionId,
      s.customerId,
      s.items.map(({ priceId }) => priceId),
      JSON.stringify(Object.fromEntries(s.items.map(({ priceId, quantity }) => [priceId, quantity]))),
      s.interval,
      s.status,
      timestamp(s.madeAt),
      timestamp(s.anchor),
      timestamp(s.periodEnd),
      timestampOrNull(s.trialEndsAt),
      s.scheduled && JSON.stringify(s.scheduled),
      s.credit,
      timestampOrNull(s.pastDueSince),
      s.cancelAtPeriodEnd,
      timestampOrNull(s.endedAt),
      s.cardRenews,
      s.cardMissing,
    ],
  )
}

export async function findSandboxSubscription(
  db: HomeDb,
  appId: string,
  id: string,
): Promise<SandboxSubscription | null> {
  const { rows } = await db.query<Row>(`${SUBSCRIPTION} where app_id = $1 and id = $2`, [appId, id])
  return rows[0] ? fromRow(rows[0]) : null
}

export async function lockSubscription(
  db: HomeDb,
  appId: string,
  id: string,
): Promise<SandboxSubscription | null> {
  const { rows } = await db.query<Row>(`${SUBSCRIPTION} where app_id = $1 and id = $2 for update`, [
    appId,
    id,
  ])
  return rows[0] ? fromRow(rows[0]) : null
}

/** Subscriptions whose paid period is over. */
export async function lockDueSubscriptions(
  db: HomeDb,
  appId: string,
  now: number,
): Promise<SandboxSubscription[]> {
  const { rows } = await db.query<Row>(
    `${SUBSCRIPTION} where app_id = $1 and status <> 'canceled' and period_end <= $2
     order by id limit 500 for update skip locked`,
    [appId, timestamp(now)],
  )
  return rows.map(fromRow)
}

/** A line of an invoice; a credit is negative. */
export interface InvoiceLine extends BilledItem {
  amount: number
  /** for a part of a period */
  proration: boolean
}

interface SandboxInvoice {
  id: string
  reason: 'subscription_create' | 'subscription_cycle' | 'subscription_update'
  currency: string
  lines: readonly InvoiceLine[]
  due: number
  paid: boolean
  madeAt: number
}

/** Stores an invoice and keeps only the newest `most` of its subscription. */
export async function insertInvoice(
  db: HomeDb,
  appId: string,
  subscriptionId: string,
  { id, reason, currency, lines, due, paid, madeAt }: SandboxInvoice,
  most: number,
): Promise<void> {
  await db.query(
    `with made as (
       insert into sandbox_invoice (app_id, subscription_id, number, id, reason, currency, lines, due, paid, made_at)
       select $1, $2, coalesce((select max(number) from sandbox_invoice
         where app_id = $1 and subscription_id = $2), 0) + 1, $3, $4, $5, $6, $7, $8, $9
       returning number)
     delete from sandbox_invoice i using made
     where i.app_id = $1 and i.subscription_id = $2 and i.number <= made.number - $10`,
    [appId, subscriptionId, id, reason, currency, JSON.stringify(lines), due, paid, timestamp(madeAt), most],
  )
}

/** The newest invoices of a subscription that cost something. */
export async function recentInvoices(
  db: HomeDb,
  appId: string,
  subscriptionId: string,
): Promise<ProviderPayment[]> {
  const { rows } = await db.query<ProviderPayment>(
    `select id as ref, case when paid then 'PAID' else 'FAILED' end as state, due as amount, currency, made_at as at
     from sandbox_invoice where app_id = $1 and subscription_id = $2 and due > 0 order by number desc limit 12`,
    [appId, subscriptionId],
  )
  return rows
}
