import type { BillingState } from '../../domain/mrr.ts'
import type { Interval } from '../../domain/price.ts'
import type { ProviderRef } from '../../domain/provider-ref.ts'
import type { Payment } from '../../domain/reversal.ts'
import { APP_NOW } from '../apps/apps.ts'
import { timestamp, timestampOrNull } from '../connection/database.ts'
import type { HomeDb } from '../connection/places.ts'

/** The last known state of a provider's subscription. */
export interface ProviderSubscriptionRow {
  userUid: number
  customerRef: string | null
  status: string
  /** by the app's clock */
  madeAt: number
  /** in real time; never changed once written */
  paidAt: number
  paidUntil: number | null
  pastDueSince: number | null
  live: boolean
  /** anchor and length of its periods; null: unknown, or it does not renew */
  anchor: number | null
  interval: Interval | null
  /** refunded or disputed payments, newest first */
  reversals: Payment[]
  /** when that ended access; null: it has not, or access was restored */
  accessEndedAt: number | null
  /** charged items */
  items: readonly BilledItem[]
  trialEndsAt: number | null
  billingState: BillingState
  version: number
}

interface BilledItem {
  priceId: string
  quantity: number
}

const COLUMNS = `user_uid as "userUid", customer_ref as "customerRef", status, made_at as "madeAt",
  paid_at as "paidAt", paid_until as "paidUntil", past_due_since as "pastDueSince", live, anchor, interval,
  coalesce(reversals, '[]') as reversals, access_ended_at as "accessEndedAt", version,
  (select coalesce(json_agg(json_build_object('priceId', i.id, 'quantity', i.quantity)), '[]')
   from unnest(price_ids, quantities) as i (id, quantity)) as items,
  trial_ends_at as "trialEndsAt", billing_state as "billingState"`

export async function findProviderSubscription(
  db: HomeDb,
  appId: string,
  provider: string,
  ref: string,
): Promise<ProviderSubscriptionRow | null> {
  const { rows } = await db.query<ProviderSubscriptionRow>(
    `select ${COLUMNS} from provider_subscription where app_id = $1 and provider = $2 and ref = $3`,
    [appId, provider, ref],
  )
  return rows[0] ?? null
}

export async function findProviderSubscriptions(
  db: HomeDb,
  refs: readonly ProviderRef[],
): Promise<(ProviderSubscriptionRow | undefined)[]> {
  const { rows } = await db.query<ProviderSubscriptionRow & { ord: number }>(
    `select q.ord::int, ${COLUMNS}
     from unnest($1::text[], $2::text[], $3::text[]) with ordinality as q (app_id, provider, ref, ord)
     join provider_subscription p using (app_id, provider, ref)`,
    [refs.map((r) => r.appId), refs.map((r) => r.provider), refs.map((r) => r.ref)],
  )
  const found = refs.map((): ProviderSubscriptionRow | undefined => undefined)
  for (const { ord, ...row } of rows) found[ord - 1] = row
  return found
}

/**
 * Writes the provider's state, unless another writer has changed the row since `version` was read (0: there was none).
 * Then it returns false: this state may be older than the stored one.
 */
export async function writeProviderSubscription(
  db: HomeDb,
  appId: string,
  provider: string,
  ref: string,
  s: ProviderSubscriptionRow,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into provider_subscription as p (app_id, provider, ref, user_uid, customer_ref, status, made_at,
       paid_at, paid_until, past_due_since, live, anchor, interval, reversals, access_ended_at, price_ids, quantities,
       trial_ends_at, billing_state)
     select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $13, $14, $15, $16, $17, $18, $19, $20
     on conflict (app_id, provider, ref) do update set customer_ref = excluded.customer_ref,
       status = excluded.status, paid_until = excluded.paid_until, past_due_since = excluded.past_due_since,
       live = excluded.live, anchor = excluded.anchor, interval = excluded.interval, reversals = excluded.reversals,
       access_ended_at = excluded.access_ended_at, price_ids = excluded.price_ids, quantities = excluded.quantities,
       trial_ends_at = excluded.trial_ends_at, billing_state = excluded.billing_state, version = p.version + 1
     where p.version = $12`,
    [
      appId,
      provider,
      ref,
      s.userUid,
      s.customerRef,
      s.status,
      timestamp(s.madeAt),
      timestamp(s.paidAt),
      timestampOrNull(s.paidUntil),
      timestampOrNull(s.pastDueSince),
      s.live,
      s.version,
      timestampOrNull(s.anchor),
      s.interval,
      s.reversals.length === 0 ? null : JSON.stringify(s.reversals),
      timestampOrNull(s.accessEndedAt),
      s.items.map(({ priceId }) => priceId),
      s.items.map(({ quantity }) => quantity),
      timestampOrNull(s.trialEndsAt),
      s.billingState,
    ],
  )
  return rowCount === 1
}

/** It was paid again later, so a plan paid in between does not replace it. */
export async function notePaidAgain(
  db: HomeDb,
  appId: string,
  provider: string,
  ref: string,
  paidAt: number,
): Promise<void> {
  await db.query(
    `update provider_subscription set paid_at = greatest(paid_at, $4::timestamptz)
     where app_id = $1 and provider = $2 and ref = $3`,
    [appId, provider, ref, timestamp(paidAt)],
  )
}

/** The provider's subscriptions of a user, including past ones. */
export async function providerSubscriptionsOfUser(
  db: HomeDb,
  appId: string,
  userUid: number,
): Promise<(ProviderSubscriptionRow & { provider: string; ref: string })[]> {
  const { rows } = await db.query<ProviderSubscriptionRow & { provider: string; ref: string }>(
    `select provider, ref, ${COLUMNS} from provider_subscription where app_id = $1 and user_uid = $2
     order by provider, ref`,
    [appId, userUid],
  )
  return rows
}

/** A user's subscriptions that a refund or dispute has ended, by provider and id, with those payments. */
export async function accessEnded(
  db: HomeDb,
  appId: string,
  userUid: number,
): Promise<Map<string, Payment[]>> {
  const { rows } = await db.query<{ key: string; reversals: Payment[] }>(
    `select provider || '/' || ref as key, coalesce(reversals, '[]') as reversals from provider_subscription
     where app_id = $1 and user_uid = $2 and access_ended_at is not null`,
    [appId, userUid],
  )
  return new Map(rows.map(({ key, reversals }) => [key, reversals]))
}

/** In SQL: whether this billing id of a user is being charged. */
export const isCharged = (appId: string, userUid: string, billingId: string): string =>
  `exists (select from provider_subscription p where p.app_id = ${appId} and p.user_uid = ${userUid}
     and p.customer_ref = ${billingId} and p.live)`

export const STILL_CHARGED =
  'The current billingId is charged for a subscription. Cancel the subscription first.'

/** The provider that still charges this customer for the user; null: none does. */
export async function chargedProvider(
  db: HomeDb,
  appId: string,
  userUid: number,
  customerRef: string,
): Promise<string | null> {
  const { rows } = await db.query<{ provider: string }>(
    `select provider from provider_subscription
     where app_id = $1 and user_uid = $2 and customer_ref = $3 and live order by ref limit 1`,
    [appId, userUid, customerRef],
  )
  return rows[0]?.provider ?? null
}

/** Subscriptions that may still change at the provider: all, or those that should have changed by now. */
export async function liveProviderSubscriptions(
  db: HomeDb,
  appId: string | null,
  which: 'due' | 'all',
): Promise<ProviderRef[]> {
  const { rows } = await db.query<ProviderRef>(
    `select s.app_id as "appId", s.provider, s.ref from provider_subscription s join app on app.id = s.app_id
     where s.live and ($1::text is null or s.app_id = $1)
       and ($2 or s.paid_until <= ${APP_NOW})`,
    [appId, which === 'all'],
  )
  return rows
}

/** An object to fetch from a provider: a subscription, or a one-off payment by its link. */
export interface AskAbout extends ProviderRef {
  oneOff: boolean
}

const ASK_ABOUT = `select s.app_id as "appId", s.provider, s.ref, s.status = 'paid' as "oneOff"
from provider_subscription s`

/**
 * Subscriptions that no longer renew, but were paid until at most `days` ago: they may still be refunded or disputed.
 */
export async function endedProviderSubscriptions(
  db: HomeDb,
  appId: string | null,
  days: number,
): Promise<AskAbout[]> {
  const { rows } = await db.query<AskAbout>(
    `${ASK_ABOUT} join app on app.id = s.app_id
     where not s.live and ($1::text is null or s.app_id = $1)
       and coalesce(s.paid_until, s.made_at) > ${APP_NOW} - make_interval(days => $2)`,
    [appId, days],
  )
  return rows
}

/** Subscriptions of an app with a refunded or disputed payment. */
export async function reversedProviderSubscriptions(db: HomeDb, appId: string): Promise<AskAbout[]> {
  const { rows } = await db.query<AskAbout>(`${ASK_ABOUT} where s.app_id = $1 and s.reversals is not null`, [
    appId,
  ])
  return rows
}

/** Subscriptions of an app with a payment due. */
export async function pastDueProviderSubscriptions(db: HomeDb, appId: string): Promise<AskAbout[]> {
  const { rows } = await db.query<AskAbout>(
    `${ASK_ABOUT} where s.app_id = $1 and s.live and s.past_due_since is not null`,
    [appId],
  )
  return rows
}

export async function providerSubscriptionsOf(
  db: HomeDb,
  appId: string,
  provider: string,
  customerRef: string,
): Promise<string[]> {
  const { rows } = await db.query<{ ref: string }>(
    `select ref from provider_subscription where app_id = $1 and provider = $2 and customer_ref = $3 and live`,
    [appId, provider, customerRef],
  )
  return rows.map((row) => row.ref)
}
