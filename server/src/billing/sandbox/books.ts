import type { CardOutcome } from '../../domain/card.ts'
import type { Interval } from '../../domain/price.ts'
import type { SaleTerms } from '../../domain/sale-terms.ts'
import { APP_NOW } from '../../store/apps/apps.ts'
import { timestamp } from '../../store/connection/database.ts'
import type { HomeDb } from '../../store/connection/places.ts'

// Tables of the built-in provider. Only the provider itself reads them.

interface SandboxItem {
  priceId: string
  name: string
  amount: number
  currency: string
  interval: Interval | null
}

export interface SandboxCheckout {
  appId: string
  id: string
  sessionId: string
  /** null: the payer enters their own */
  customerId: string | null
  items: SandboxItem[]
  terms: SaleTerms
  successUrl: string
  cancelUrl: string
  state: 'open' | 'paid' | 'cancelled' | 'expired'
  subscriptionId: string | null
  madeAt: number
  /** by the app's clock */
  paidAt: number | null
  paidReallyAt: number | null
  expiresAt: number
  /** the app's */
  appName: string
  now: number
}

const CHECKOUT = `
select c.app_id as "appId", c.id, c.session_id as "sessionId", c.customer_id as "customerId", c.items, c.terms,
  c.success_url as "successUrl", c.cancel_url as "cancelUrl", c.state, c.subscription_id as "subscriptionId",
  c.made_at as "madeAt", c.paid_at as "paidAt", c.paid_really_at as "paidReallyAt", c.expires_at as "expiresAt", app.name as "appName", ${APP_NOW} as now
from sandbox_checkout c join app on app.id = c.app_id`

/** The id of a session's checkout; null: there is none. */
export async function findCheckoutOf(db: HomeDb, appId: string, sessionId: string): Promise<string | null> {
  const { rows } = await db.query<{ id: string }>(
    `select id from sandbox_checkout where app_id = $1 and session_id = $2`,
    [appId, sessionId],
  )
  return rows[0]?.id ?? null
}

/** Creates the checkout of a session unless it exists; returns its id. */
export async function insertCheckout(
  db: HomeDb,
  c: Pick<
    SandboxCheckout,
    'appId' | 'id' | 'sessionId' | 'customerId' | 'items' | 'terms' | 'successUrl' | 'cancelUrl'
  >,
  lifeHours: number,
): Promise<string> {
  await db.query(
    `insert into sandbox_checkout (app_id, id, session_id, customer_id, items, success_url, cancel_url, made_at,
       expires_at, terms)
     select app.id, $2, $3, $4, $5, $6, $7, ${APP_NOW}, ${APP_NOW} + make_interval(hours => $8), $9
     from app where id = $1
     on conflict (app_id, session_id) do nothing`,
    [
      c.appId,
      c.id,
      c.sessionId,
      c.customerId,
      JSON.stringify(c.items),
      c.successUrl,
      c.cancelUrl,
      lifeHours,
      JSON.stringify(c.terms),
    ],
  )
  const id = await findCheckoutOf(db, c.appId, c.sessionId)
  if (id === null) throw new Error(`the sandbox checkout of ${c.sessionId} no longer exists`)
  return id
}

/** Looked up by id only, which cannot be guessed: anyone who has it may pay. */
export async function findCheckout(db: HomeDb, id: string): Promise<SandboxCheckout | null> {
  const { rows } = await db.query<SandboxCheckout>(`${CHECKOUT} where c.id = $1`, [id])
  return rows[0] ?? null
}

export async function lockCheckout(db: HomeDb, appId: string, id: string): Promise<SandboxCheckout | null> {
  const { rows } = await db.query<SandboxCheckout>(
    `${CHECKOUT} where c.app_id = $1 and c.id = $2 for update of c`,
    [appId, id],
  )
  return rows[0] ?? null
}

export async function closeCheckout(
  db: HomeDb,
  appId: string,
  id: string,
  closed: { state: SandboxCheckout['state']; customerId: string | null; subscriptionId: string | null },
): Promise<void> {
  await db.query(
    `update sandbox_checkout c set state = $3, customer_id = $4, subscription_id = $5,
       paid_at = case when $3 = 'paid' then ${APP_NOW} end,
       paid_really_at = case when $3 = 'paid' then clock_timestamp() end
     from app where app.id = c.app_id and c.app_id = $1 and c.id = $2`,
    [appId, id, closed.state, closed.customerId, closed.subscriptionId],
  )
}

/** Closes expired checkouts; returns their ids. */
export async function expireCheckouts(db: HomeDb, appId: string, now: number): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `update sandbox_checkout set state = 'expired'
     where app_id = $1 and state in ('open', 'cancelled') and expires_at <= $2 returning id`,
    [appId, timestamp(now)],
  )
  return rows.map((row) => row.id)
}

interface SandboxCustomer {
  id: string
  email: string | null
  name: string | null
}

/** Does not change an existing customer. */
export async function insertCustomer(db: HomeDb, appId: string, customer: SandboxCustomer): Promise<void> {
  await db.query(
    `insert into sandbox_customer (app_id, id, email, name) values ($1, $2, $3, $4) on conflict do nothing`,
    [appId, customer.id, customer.email, customer.name],
  )
}

export async function findCustomer(db: HomeDb, appId: string, id: string): Promise<SandboxCustomer | null> {
  const { rows } = await db.query<SandboxCustomer>(
    `select id, email, name from sandbox_customer where app_id = $1 and id = $2`,
    [appId, id],
  )
  return rows[0] ?? null
}

/** The card that a customer saved, by its behaviour; null: none. */
export async function findCard(db: HomeDb, appId: string, customerId: string): Promise<CardOutcome | null> {
  const { rows } = await db.query<{ card: CardOutcome | null }>(
    `select card from sandbox_customer where app_id = $1 and id = $2`,
    [appId, customerId],
  )
  return rows[0]?.card ?? null
}

export async function saveCard(
  db: HomeDb,
  appId: string,
  customerId: string,
  card: CardOutcome,
): Promise<void> {
  await db.query(`update sandbox_customer set card = $3 where app_id = $1 and id = $2`, [
    appId,
    customerId,
    card,
  ])
}

/** Apps with a renewal, cancellation or expiry that is due. */
export async function appsDue(db: HomeDb): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select id from app where deleting_since is null and (exists (select from sandbox_subscription s
         where s.app_id = app.id and s.status <> 'canceled' and s.period_end <= ${APP_NOW})
       or exists (select from sandbox_checkout c
         where c.app_id = app.id and c.state in ('open', 'cancelled') and c.expires_at <= ${APP_NOW}))`,
  )
  return rows.map((row) => row.id)
}

export async function nowOf(db: HomeDb, appId: string): Promise<number> {
  const { rows } = await db.query<{ now: number }>(`select ${APP_NOW} as now from app where id = $1`, [appId])
  if (!rows[0]) throw new Error(`the app ${appId} no longer exists`)
  return rows[0].now
}

export async function insertEvent(db: HomeDb, appId: string, id: string, payload: object): Promise<void> {
  await db.query(`insert into sandbox_event (app_id, id, payload) values ($1, $2, $3)`, [
    appId,
    id,
    JSON.stringify(payload),
  ])
}

/** The body of an event; null once delivered. */
export async function findEvent(db: HomeDb, appId: string, id: string): Promise<string | null> {
  const { rows } = await db.query<{ payload: string }>(
    `select payload::text as payload from sandbox_event where app_id = $1 and id = $2`,
    [appId, id],
  )
  return rows[0]?.payload ?? null
}

export async function deleteEvent(db: HomeDb, appId: string, id: string): Promise<void> {
  await db.query(`delete from sandbox_event where app_id = $1 and id = $2`, [appId, id])
}
