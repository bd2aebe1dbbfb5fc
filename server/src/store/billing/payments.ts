import { MAX_COUNT } from '../../domain/limits.ts'
import type { ProviderRef } from '../../domain/provider-ref.ts'
import { timestamp } from '../connection/database.ts'
import { type HomeDb, implied } from '../connection/places.ts'

export const PAYMENT_STATES = ['PAID', 'FAILED'] as const
export type PaymentState = (typeof PAYMENT_STATES)[number]

/** A charge at a provider. */
interface Payment {
  ref: string
  state: PaymentState
  /** minor units */
  amount: number
  currency: string
  at: number
}

/**
 * Stores these payments of `of`. They are complete since then, unless that is null: failed ones that the provider no
 * longer has are deleted.
 */
export async function keepPayments(
  db: HomeDb,
  of: ProviderRef,
  payments: readonly Payment[],
  since: number | null,
): Promise<void> {
  const { appId, provider, ref } = of
  const refs = payments.map((payment) => payment.ref)
  if (payments.length > 0) await insertPayments(db, of, payments)
  if (since === null) return
  await db.query(
    `delete from payment where app_id = $1 and provider = $2 and subscription_ref = $3 and state = 'FAILED'
       and at >= $4 and ref <> all($5)`,
    [appId, provider, ref, timestamp(since), refs],
  )
}

async function insertPayments(
  db: HomeDb,
  { appId, provider, ref }: ProviderRef,
  payments: readonly Payment[],
): Promise<void> {
  await db.query(
    `insert into payment (app_id, provider, ref, user_uid, subscription_ref, state, amount, currency, at)
     select p.app_id, p.provider, q.ref, p.user_uid, p.ref, q.state, q.amount, q.currency, q.at
     from unnest($4::text[], $5::text[], $6::bigint[], $7::text[], $8::timestamptz[]) as q (ref, state, amount, currency, at)
     join provider_subscription p on p.app_id = $1 and p.provider = $2 and p.ref = $3
     for key share of p
     on conflict (app_id, provider, ref) do update
       set state = excluded.state, amount = excluded.amount, currency = excluded.currency, at = excluded.at
       where (payment.state, payment.amount, payment.at) is distinct from (excluded.state, excluded.amount, excluded.at)`,
    [
      appId,
      provider,
      ref,
      payments.map((payment) => payment.ref),
      payments.map(({ state }) => state),
      payments.map(({ amount }) => amount),
      payments.map(({ currency }) => currency),
      payments.map(({ at }) => timestamp(at)),
    ],
  )
}

/**
 * A charge of a saved card that was declined, under the id of the charge: nothing exists at the provider that it would
 * belong to.
 */
export async function insertDeclinedCharge(
  db: HomeDb,
  { appId, provider, ref }: ProviderRef,
  { currency, at }: { currency: string; at: number },
): Promise<void> {
  await db.query(
    `insert into payment (app_id, provider, ref, user_uid, subscription_ref, state, amount, currency, at)
     select app_id, $2, session_id, user_uid, session_id, 'FAILED', amount, $4, $5
     from recharge_attempt where app_id = $1 and session_id = $3
     on conflict do nothing`,
    [appId, provider, ref, currency, timestamp(at)],
  )
}

/** It was paid after all. */
export async function deleteDeclinedCharge(db: HomeDb, { appId, provider, ref }: ProviderRef): Promise<void> {
  await db.query(
    `delete from payment where app_id = $1 and provider = $2 and ref = $3 and state = 'FAILED'`,
    [appId, provider, ref],
  )
}

/** A sum of money, capped at the largest number that JSON can represent. */
export const MONEY = (sum: string): string => `least(${sum}, ${MAX_COUNT})::bigint`

export interface PaymentTotal {
  provider: string
  currency: string
  paid: number
  paidAmount: number
  failed: number
  failedAmount: number
}

/** Paid and failed amounts after `from`, up to `now`. */
export async function paymentTotals(
  db: HomeDb,
  appId: string,
  from: number,
  now: number,
): Promise<PaymentTotal[]> {
  const { rows } = await db.query<PaymentTotal>(
    `select provider, currency, count(*) filter (where state = 'PAID') as paid,
       ${MONEY("coalesce(sum(amount) filter (where state = 'PAID'), 0)")} as "paidAmount",
       count(*) filter (where state = 'FAILED') as failed,
       ${MONEY("coalesce(sum(amount) filter (where state = 'FAILED'), 0)")} as "failedAmount"
     from payment where app_id = $1 and state in ('PAID', 'FAILED') and at > $2 and at <= $3
     group by provider, currency order by provider, currency`,
    [appId, timestamp(from), timestamp(now)],
  )
  return rows
}

export interface ListedPayment extends Omit<Payment, 'state'> {
  /** REFUNDED: refunded, or withheld by a dispute */
  state: PaymentState | 'REFUNDED'
  seq: number
  provider: string
  userId: string
  userName: string | null
}

/** The users of a page. */
export const OF_PAGE = 'u.app_id = $1 and u.uid = any(array(select user_uid from page))'

export async function listPayments(
  db: HomeDb,
  appId: string,
  state: PaymentState,
  span: { from: number; now: number },
  before: { at: number; seq: number } | null,
  limit: number,
): Promise<ListedPayment[]> {
  const values: unknown[] = [appId, state, timestamp(span.from), timestamp(span.now), limit]
  const rest = before === null ? '' : 'and (p.at, p.seq) < ($6::timestamptz, $7::bigint)'
  if (before) values.push(timestamp(before.at), before.seq)
  const { rows } = await db.query<ListedPayment>(
    `with page as materialized (
       select * from payment p where p.app_id = $1 and p.state = $2 and p.at > $3 and p.at <= $4 ${rest}
       order by p.at desc, p.seq desc limit $5)
     select p.provider, p.ref, p.seq, p.state, p.amount, p.currency, p.at, u.id as "userId", coalesce(u.name, u.email) as "userName"
     from page p join users u on u.app_id = p.app_id and u.uid = p.user_uid ${implied(db, OF_PAGE)}
     order by p.at desc, p.seq desc`,
    values,
  )
  return rows
}

/** A charge of one of the provider's subscriptions. */
export interface BillPayment extends Payment {
  seq: number
  provider: string
  subscriptionRef: string
}

const BILL_PAYMENT = `select provider, ref, seq, subscription_ref as "subscriptionRef", state, amount, currency, at from payment`

/** The newest charges of a provider's subscription, newest first. */
export async function paymentsOfBill(
  db: HomeDb,
  { appId, provider, ref }: ProviderRef,
  limit: number,
): Promise<BillPayment[]> {
  const { rows } = await db.query<BillPayment>(
    `${BILL_PAYMENT} where app_id = $1 and provider = $2 and subscription_ref = $3
     order by at desc, seq desc limit $4`,
    [appId, provider, ref, limit],
  )
  return rows
}

/** The charges of a user, newest first. */
export async function paymentsOfUser(
  db: HomeDb,
  appId: string,
  userUid: number,
  before: { at: number; seq: number } | null,
  limit: number,
): Promise<BillPayment[]> {
  const values: unknown[] = [appId, userUid, limit]
  if (before) values.push(timestamp(before.at), before.seq)
  const { rows } = await db.query<BillPayment>(
    `${BILL_PAYMENT} where app_id = $1 and user_uid = $2
       ${before === null ? '' : 'and (at, seq) < ($4::timestamptz, $5::bigint)'}
     order by at desc, seq desc limit $3`,
    values,
  )
  return rows
}
