import type { DisputeState } from '../../domain/reversal.ts'
import type { HomeDb } from '../../store/connection/places.ts'

/** A payment in the sandbox: of an invoice, or of a one-off checkout. */
export interface SandboxPayment {
  /** the invoice's id, or the checkout's */
  id: string
  customerId: string
  /** null: a one-off purchase */
  subscriptionId: string | null
  amount: number
  currency: string
  paidAt: number
  lines: readonly { priceId: string; quantity: number; amount: number }[]
  refunds: { id: string; amount: number; at: number; failed: boolean }[]
  dispute: { state: DisputeState; reason: string; at: number } | null
}

const INVOICES = `
select i.id, s.customer_id as "customerId", i.subscription_id as "subscriptionId", i.due as amount, i.currency,
  i.made_at as "paidAt", i.lines, coalesce(i.refunds, '[]') as refunds, i.dispute
from sandbox_invoice i join sandbox_subscription s on s.app_id = i.app_id and s.id = i.subscription_id
where i.app_id = $1 and i.paid and i.due > 0`

const CHECKOUTS = `
select id, customer_id as "customerId", null as "subscriptionId",
  (select sum((item->>'amount')::bigint)::bigint from json_array_elements(items) item) as amount,
  items->0->>'currency' as currency, paid_at as "paidAt", '[]'::json as lines, coalesce(refunds, '[]') as refunds, dispute
from sandbox_checkout where app_id = $1 and state = 'paid' and subscription_id is null and customer_id is not null`

/** The latest payments for a subscription, newest first. */
export async function latestPayments(
  db: HomeDb,
  appId: string,
  subscriptionId: string,
): Promise<SandboxPayment[]> {
  const { rows } = await db.query<SandboxPayment>(
    `${INVOICES} and i.subscription_id = $2 order by i.number desc`,
    [appId, subscriptionId],
  )
  return rows
}

export async function findPayment(db: HomeDb, appId: string, id: string): Promise<SandboxPayment | null> {
  return (await read(db, appId, id, '')) ?? null
}

export async function lockPayment(db: HomeDb, appId: string, id: string): Promise<SandboxPayment | null> {
  return (await read(db, appId, id, 'for update')) ?? null
}

async function read(
  db: HomeDb,
  appId: string,
  id: string,
  lock: '' | 'for update',
): Promise<SandboxPayment | undefined> {
  const invoice = await db.query<SandboxPayment>(`${INVOICES} and i.id = $2 ${lock && `${lock} of i`}`, [
    appId,
    id,
  ])
  if (invoice.rows[0]) return invoice.rows[0]
  const checkout = await db.query<SandboxPayment>(`${CHECKOUTS} and id = $2 ${lock}`, [appId, id])
  return checkout.rows[0]
}

/** Stores the refund or dispute of a payment. */
export async function writePayment(db: HomeDb, appId: string, payment: SandboxPayment): Promise<void> {
  const { id, subscriptionId, refunds, dispute } = payment
  const values = [appId, id, JSON.stringify(refunds), dispute && JSON.stringify(dispute)]
  await (subscriptionId === null
    ? db.query(`update sandbox_checkout set refunds = $3, dispute = $4 where app_id = $1 and id = $2`, values)
    : db.query(`update sandbox_invoice set refunds = $3, dispute = $4 where app_id = $1 and id = $2`, values))
}
