import type { ChargedPrice } from '../../domain/mrr.ts'
import { timestamp } from '../connection/database.ts'
import { type HomeDb, implied } from '../connection/places.ts'
import { type ListedPayment, MONEY, OF_PAGE } from './payments.ts'

// The lists behind sums of money that are not rows themselves: recurring revenue and refunds.

export interface MrrRow {
  provider: string
  ref: string
  since: number
  userId: string
  userName: string | null
  packageIds: string[]
  /** the provider's charge for it */
  charged: ChargedPrice[]
}

/**
 * The monthly recurring revenue, one row per subscription at a provider, in the order of an index, since there may be a
 * million.
 */
export async function listMrr(
  db: HomeDb,
  appId: string,
  now: number,
  after: { provider: string; ref: string } | null,
  limit: number,
): Promise<MrrRow[]> {
  const { rows } = await db.query<MrrRow>(
    `with page as materialized (
       select * from provider_subscription p
       where p.app_id = $1 and p.live and p.billing_state in ('active', 'past due')
         and not coalesce(p.trial_ends_at > $2, false)
         and (select true from subscription s where ${HELD} limit 1)
         and exists (select from ${ITEMS} where x.interval is not null)
         and (p.provider, p.ref) > ($3, $4)
       order by p.provider, p.ref limit $5)
     select p.provider, p.ref, p.made_at as since, u.id as "userId", coalesce(u.name, u.email) as "userName",
       array(select s.package_id from subscription s where ${HELD} order by s.is_addon, s.seq) as "packageIds",
       (select json_agg(json_build_object('provider', p.provider, 'currency', x.currency, 'amount', x.amount,
          'interval', x.interval, 'state', p.billing_state, 'trialing', false, 'quantity', i.quantity))
        from ${ITEMS}) as charged
     from page p join users u on u.app_id = p.app_id and u.uid = p.user_uid ${implied(db, OF_PAGE)}
     order by p.provider, p.ref`,
    [appId, timestamp(now), after?.provider ?? '', after?.ref ?? '', limit],
  )
  return rows
}

const HELD = `s.app_id = p.app_id and s.provider = p.provider and s.provider_ref = p.ref and s.cancelled_at is null
  and (s.cancel_at is null or s.cancel_at > $2) and (s.follows is null or s.started_at <= $2)`
const ITEMS = `unnest(p.price_ids, p.quantities) as i (price_id, quantity)
  join price x on x.app_id = p.app_id and x.provider = p.provider and x.id = i.price_id`

/** Refunds and amounts withheld by a dispute, with their time. */
export const TAKEN_BACK = `(
  select p.app_id, p.provider, p.user_uid, r->>'ref' as ref, r->>'currency' as currency,
    case when r->'dispute'->>'state' in ('OPEN', 'LOST') then (r->>'amount')::bigint else (r->>'refunded')::bigint end as amount,
    to_timestamp(coalesce((r->>'refundedAt')::float8, (r->'dispute'->>'openedAt')::float8) / 1000)::timestamptz(3) as at,
    hashtextextended(p.provider || ' ' || (r->>'ref'), 0) & 562949953421311 as seq
  from provider_subscription p cross join lateral json_array_elements(p.reversals) r
  where p.app_id = $1 and p.reversals is not null) t`

export interface RefundTotal {
  provider: string
  currency: string
  refunded: number
  refundedAmount: number
}

/** Refunds after `from`, up to `now`, also of earlier payments. */
export async function refundTotals(
  db: HomeDb,
  appId: string,
  from: number,
  now: number,
): Promise<RefundTotal[]> {
  const { rows } = await db.query<RefundTotal>(
    `select provider, currency, count(*) as refunded, ${MONEY('sum(amount)')} as "refundedAmount" from ${TAKEN_BACK}
     where amount > 0 and at > $2 and at <= $3 group by provider, currency order by provider, currency`,
    [appId, timestamp(from), timestamp(now)],
  )
  return rows
}

export async function listRefunds(
  db: HomeDb,
  appId: string,
  span: { from: number; now: number },
  before: { at: number; seq: number } | null,
  limit: number,
): Promise<ListedPayment[]> {
  const values: unknown[] = [appId, timestamp(span.from), timestamp(span.now), limit]
  const rest = before === null ? '' : 'and (t.at, t.seq) < ($5::timestamptz, $6::bigint)'
  if (before) values.push(timestamp(before.at), before.seq)
  const { rows } = await db.query<ListedPayment>(
    `with page as materialized (
       select * from ${TAKEN_BACK} where t.amount > 0 and t.at > $2 and t.at <= $3 ${rest}
       order by t.at desc, t.seq desc limit $4)
     select t.provider, t.ref, t.seq, 'REFUNDED' as state, t.amount, t.currency, t.at, u.id as "userId", coalesce(u.name, u.email) as "userName"
     from page t join users u on u.app_id = t.app_id and u.uid = t.user_uid ${implied(db, OF_PAGE)}
     order by t.at desc, t.seq desc`,
    values,
  )
  return rows
}
