import type { Price } from '../../domain/price.ts'
import { type Tx, timestamp, timestampOrNull } from '../connection/database.ts'
import type { OwnBillingId } from '../connection/places.ts'

/** The monthly sandbox bill of a sample customer. */
export interface SampleBill {
  ref: string
  customerRef: string
  uid: number
  prices: Price[]
  startedAt: number
  endedAt: number | null
  paidUntil: number
  /** set: the last charge was declined */
  pastDueSince: number | null
  /** times of the charges */
  charges: number[]
}

/** Prefix of the references of the sample's bills; the sandbox's own continue in hexadecimal digits. */
export const SAMPLE_BILLS = 'sub_sandbox_demo_'

/** Writes bills as if they had been paid in the sandbox: in its tables, and as reported by it. */
export async function insertSampleBills(tx: Tx, appId: string, bills: readonly SampleBill[]): Promise<void> {
  const statusOf = (b: SampleBill) =>
    b.endedAt !== null ? 'canceled' : b.pastDueSince !== null ? 'past_due' : 'active'
  const values = [
    appId,
    bills.map((b) => b.ref),
    bills.map((b) => b.customerRef),
    bills.map((b) => b.uid),
    bills.map(statusOf),
    bills.map((b) => timestamp(b.startedAt)),
    bills.map((b) => timestamp(b.paidUntil)),
    bills.map((b) => timestampOrNull(b.pastDueSince)),
    bills.map((b) => timestampOrNull(b.endedAt)),
    // Lists of unequal length do not form an array, so PostgreSQL unpacks them.
    bills.map((b) => JSON.stringify(Object.fromEntries(b.prices.map(({ id }) => [id, 1])))),
  ]
  const BILLS = `unnest($2::text[], $3::text[], $4::bigint[], $5::text[], $6::timestamptz[], $7::timestamptz[],
    $8::timestamptz[], $9::timestamptz[], $10::text[])
    as b (ref, customer_ref, uid, status, started_at, paid_until, past_due_since, ended_at, quantities)`
  const PRICES = `array(select json_object_keys(b.quantities::json))`
  const customers = await tx.places.writeEach(async (db) => {
    const { rows } = await db.query<OwnBillingId & { email: string | null; name: string | null }>(
      `update users u set billing_id = b.customer_ref
       from unnest($2::text[], $3::bigint[]) as b (customer_ref, uid)
       where u.app_id = $1 and u.uid = b.uid and u.uid = any($3)
       returning u.uid, u.billing_id as "billingId", u.email, u.name`,
      [appId, values[2], values[3]],
    )
    await db.places.noteBillingIds(appId, [], rows)
    return rows
  })
  await tx.query(
    `insert into sandbox_customer (app_id, id, email, name)
     select $1, c.* from unnest($2::text[], $3::text[], $4::text[]) as c`,
    [
      appId,
      customers.flat().map((c) => c.billingId),
      customers.flat().map((c) => c.email),
      customers.flat().map((c) => c.name),
    ],
  )
  await tx.query(
    `insert into sandbox_subscription (app_id, id, session_id, customer_id, price_ids, quantities, interval, status,
       made_at, anchor, period_end, past_due_since, ended_at, card_renews)
     select $1, b.ref, 'of ' || b.ref, b.customer_ref, ${PRICES}, b.quantities::json, 'month', b.status,
       b.started_at, b.started_at, b.paid_until, b.past_due_since, b.ended_at, b.past_due_since is null
     from ${BILLS}`,
    values,
  )
  await tx.query(
    `insert into provider_subscription (app_id, provider, ref, user_uid, customer_ref, status, made_at, paid_at,
       paid_until, past_due_since, live, anchor, interval, price_ids, quantities, billing_state)
     select $1, 'sandbox', b.ref, b.uid, b.customer_ref, b.status, b.started_at, least(b.started_at, now()),
       coalesce(b.past_due_since, b.paid_until), b.past_due_since, b.ended_at is null, b.started_at, 'month', ${PRICES},
       array(select 1 from json_object_keys(b.quantities::json)),
       case when b.past_due_since is null then 'active' else 'past due' end
     from ${BILLS}`,
    values,
  )
  await insertCharges(tx, appId, bills)
}

/** Their invoices in the sandbox, and their payments. */
async function insertCharges(tx: Tx, appId: string, bills: readonly SampleBill[]): Promise<void> {
  const charges = bills.flatMap(({ ref, uid, prices, pastDueSince, charges }) =>
    charges.map((at, i) => ({
      ref,
      uid,
      number: i + 1,
      id: `${ref.replace('sub', 'in')}_${i + 1}`,
      reason: i === 0 ? 'subscription_create' : 'subscription_cycle',
      currency: prices[0]?.currency ?? '',
      lines: JSON.stringify(
        prices.map(({ id, amount }) => ({ priceId: id, quantity: 1, amount, proration: false })),
      ),
      due: prices.reduce((sum, { amount }) => sum + amount, 0),
      paid: at !== pastDueSince,
      at: timestamp(at),
    })),
  )
  const of = <Key extends keyof (typeof charges)[number]>(key: Key) => charges.map((charge) => charge[key])
  await tx.query(
    `insert into sandbox_invoice (app_id, subscription_id, number, id, reason, currency, lines, due, paid, made_at)
     select $1, c.ref, c.number, c.id, c.reason, c.currency, c.lines::json, c.due, c.paid, c.at
     from unnest($2::text[], $3::int[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::boolean[],
       $10::timestamptz[]) as c (ref, number, id, reason, currency, lines, due, paid, at)`,
    [
      appId,
      of('ref'),
      of('number'),
      of('id'),
      of('reason'),
      of('currency'),
      of('lines'),
      of('due'),
      of('paid'),
      of('at'),
    ],
  )
  await tx.query(
    `insert into payment (app_id, provider, ref, user_uid, subscription_ref, state, amount, currency, at)
     select $1, 'sandbox', c.id, c.uid, c.ref, case when c.paid then 'PAID' else 'FAILED' end, c.due, c.currency, c.at
     from unnest($2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::text[], $7::boolean[], $8::timestamptz[])
       as c (id, ref, uid, due, currency, paid, at) order by c.at`,
    [appId, of('id'), of('ref'), of('uid'), of('due'), of('currency'), of('paid'), of('at')],
  )
}

/** The users of this cell among those listed. */
const LISTED = `any(array(select uid from users where app_id = $1 and uid = any($2::text[]::bigint[])))`
const BILLS_OF_LISTED = `any(array(select ref from provider_subscription where app_id = $1 and user_uid = ${LISTED}))`

/** Statements that delete the bills of users, including the subscriptions that they pay for, before the users. */
export const REMOVE_SAMPLE_BILLS = [
  `delete from sandbox_invoice where app_id = $1 and subscription_id = ${BILLS_OF_LISTED}`,
  `delete from sandbox_subscription where app_id = $1 and id = ${BILLS_OF_LISTED}`,
  `delete from sandbox_customer where app_id = $1 and id = any(array(
     select customer_ref from provider_subscription where app_id = $1 and user_uid = ${LISTED}))`,
  `delete from payment where app_id = $1 and user_uid = ${LISTED}`,
  `delete from subscription where app_id = $1 and user_uid = ${LISTED}`,
  `delete from provider_subscription where app_id = $1 and user_uid = ${LISTED}`,
]
