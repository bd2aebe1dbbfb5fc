import type { Days, RecurringChange } from '../../domain/revenue-series.ts'
import { timestamp } from '../connection/database.ts'
import { allRows, sums } from '../connection/merge-answers.ts'
import { type HomeDb, rowOf, rowsOf } from '../connection/places.ts'
import { TAKEN_BACK } from './revenue-money.ts'

// Revenue by day of UTC. Everything reads subscriptions and payments once, and groups them.

const DAY = (at: string) => `date_trunc('day', ${at}, 'UTC')`
const ENDED = (of: string) => `coalesce(${of}.cancelled_at, ${of}.cancel_at)`

export interface Money {
  provider: string
  currency: string
}

/**
 * Changes of the recurring revenue, by provider, currency and day; those before `from` together. A subscription counts
 * from the end of its trial to its own end, at the price that its provider charges. For a plan that was replaced, that is
 * the package's newest price with the interval of the bill, since the bill shows only its current prices.
 */
export async function recurringChanges(
  db: HomeDb,
  appId: string,
  { from, to }: Days,
): Promise<(Money & RecurringChange)[]> {
  const { rows } = await db.query<Money & RecurringChange>(
    `with valued as (
       select s.provider, x.currency,
         x.amount::numeric * s.quantity * (case x.interval when 'day' then 365 when 'week' then 52 when 'month' then 12 else 1 end) as yearly,
         greatest(s.started_at, coalesce(s.trial_ends_at, s.started_at)) as began, ${ENDED('s')} as ended
       from subscription s
       join provider_subscription p on p.app_id = s.app_id and p.provider = s.provider and p.ref = s.provider_ref
       cross join lateral (
         select x.currency, x.amount, x.interval from price x
         where x.app_id = s.app_id and x.package_id = s.package_id and x.provider = s.provider
           and x.interval is not null and (x.id = any(p.price_ids) or x.interval = p.interval)
         order by x.id = any(p.price_ids) desc, x.seq desc limit 1) x
       where s.app_id = $1 and s.provider is not null and s.started_at < $3
         and (s.cancelled_at is null or s.cancelled_at > s.started_at)
         and p.billing_state <> 'paused'),
     changes as (
       select provider, currency, yearly, began as at from valued where ended is null or ended > began
       union all
       select provider, currency, -yearly, ended from valued where ended > began)
     select provider, currency, case when at >= $2 then ${DAY('at')} end as day, sum(yearly)::float8 as yearly
     from changes where at < $3 group by 1, 2, 3`,
    [appId, timestamp(from), timestamp(to)],
  )
  return rows
}

export interface DayOfMoney extends Money {
  day: number
  /** minor units */
  amount: number
}

/** Paid amounts, by provider, currency and day. */
export const paidPerDay = (db: HomeDb, appId: string, days: Days): Promise<DayOfMoney[]> =>
  moneyPerDay(db, appId, days, `payment where state = 'PAID'`)

/** Amounts refunded or withdrawn by a dispute, by provider, currency and day. */
export const refundedPerDay = (db: HomeDb, appId: string, days: Days): Promise<DayOfMoney[]> =>
  moneyPerDay(db, appId, days, `${TAKEN_BACK} where amount > 0`)

async function moneyPerDay(
  db: HomeDb,
  appId: string,
  { from, to }: Days,
  payments: string,
): Promise<DayOfMoney[]> {
  const { rows } = await db.query<DayOfMoney>(
    `select provider, currency, ${DAY('at')} as day, sum(amount)::float8 as amount
     from ${payments} and app_id = $1 and at >= $2 and at < $3 group by 1, 2, 3`,
    [appId, timestamp(from), timestamp(to)],
  )
  return rows
}

export interface Movement {
  day: number
  started: number
  ended: number
}

/** Starts and ends by day, without changes of plan. */
export async function movementsPerDay(db: HomeDb, appId: string, { from, to }: Days): Promise<Movement[]> {
  const ask = rowsOf<Movement>({
    text: `with began as materialized (
       select id, user_uid, is_addon, started_at as at from subscription s
       where s.app_id = $1 and s.started_at >= $2 and s.started_at < $3
         and (s.cancelled_at is null or s.cancelled_at >= s.started_at)),
     ended as materialized (
       select id, user_uid, is_addon, ${ENDED('e')} as at from subscription e
       where e.app_id = $1 and ${ENDED('e')} is not null and ${ENDED('e')} >= $2 and ${ENDED('e')} < $3
         and ${ENDED('e')} >= e.started_at),
     changed as materialized (
       select e.id as old_id, s.id as new_id from ended e join began s on s.user_uid = e.user_uid and s.at = e.at and s.id <> e.id
       where not s.is_addon and not e.is_addon),
     moved as (
       select at, 1 as started, 0 as ended from began where id not in (select new_id from changed)
       union all
       select at, 0, 1 from ended where id not in (select old_id from changed))
     select ${DAY('at')} as day, sum(started)::int as started, sum(ended)::int as ended from moved group by 1`,
    values: [appId, timestamp(from), timestamp(to)],
  })
  return db.places.each(ask, allRows())
}

/** Subscriptions that were live at a moment. */
export async function countLiveAt(db: HomeDb, appId: string, at: number): Promise<number> {
  const { live } = await db.places.each(
    rowOf<{ live: number }>({
      text: `select count(*) as live from subscription s where s.app_id = $1 and s.started_at < $2
         and (${ENDED('s')} is null or ${ENDED('s')} >= $2)`,
      values: [appId, timestamp(at)],
    }),
    sums(),
  )
  return live
}
