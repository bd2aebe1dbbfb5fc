import type { ChargedPrice } from '../domain/mrr.ts'
import { type Db, timestamp } from './database.ts'
import { CHANGED_FROM, CHANGED_INTO } from './revenue-lists.ts'

/** The live subscriptions of one package. */
export interface PlanCount {
  packageId: string
  active: number
  trialing: number
  pastDue: number
  /** no provider is paid for them */
  unpaid: number
}

/** Reads every live subscription of the app. */
export async function countByPackage(db: Db, appId: string, now: number): Promise<PlanCount[]> {
  const { rows } = await db.query<PlanCount>(
    `select s.package_id as "packageId", count(*) as active, count(*) filter (where s.trial_ends_at > $2) as trialing,
       count(*) filter (where p.ref is not null) as "pastDue", count(*) filter (where s.provider is null) as unpaid
     from subscription s left join provider_subscription p on p.app_id = s.app_id and p.provider = s.provider
       and p.ref = s.provider_ref and p.past_due_since is not null
     where s.app_id = $1 and s.cancelled_at is null and (s.cancel_at is null or s.cancel_at > $2)
       and (s.follows is null or s.started_at <= $2)
     group by s.package_id`,
    [appId, timestamp(now)],
  )
  return rows
}

export interface Movements {
  started: number
  changed: number
  ended: number
}

/** What began and what ended after `from`, up to `now`. */
export async function countMovements(db: Db, appId: string, from: number, now: number): Promise<Movements> {
  const { rows } = await db.query<Movements>(
    `select count(*) filter (where not changed) as started, count(*) filter (where changed) as changed,
       (select count(*) from subscription s
        where s.app_id = $1 and coalesce(s.cancelled_at, s.cancel_at) > $2
          and coalesce(s.cancelled_at, s.cancel_at) <= $3
          and coalesce(s.cancelled_at, s.cancel_at) >= s.started_at and not ${CHANGED_INTO}) as ended
     from (select ${CHANGED_FROM} as changed from subscription s
       where s.app_id = $1 and s.started_at > $2 and s.started_at <= $3
         and (s.cancelled_at is null or s.cancelled_at >= s.started_at)) began`,
    [appId, timestamp(from), timestamp(now)],
  )
  return rows[0] ?? { started: 0, changed: 0, ended: 0 }
}

/** What the providers charge for now, by price. */
export async function chargedPrices(db: Db, appId: string, now: number): Promise<ChargedPrice[]> {
  const { rows } = await db.query<ChargedPrice>(
    `select c.provider, x.currency, x.amount, x.interval, c.state, c.trialing, c.quantity
     from (
       select p.provider, i.price_id, p.billing_state as state, coalesce(p.trial_ends_at > $2, false) as trialing,
         sum(i.quantity)::bigint as quantity
       from provider_subscription p cross join lateral unnest(p.price_ids, p.quantities) as i (price_id, quantity)
       where p.app_id = $1 and p.live and p.billing_state is not null
         -- Past due at the provider, it may have ended here.
         and exists (select from subscription s where s.app_id = p.app_id and s.provider = p.provider
           and s.provider_ref = p.ref and s.cancelled_at is null and (s.cancel_at is null or s.cancel_at > $2))
       group by 1, 2, 3, 4) c
     join price x on x.app_id = $1 and x.provider = c.provider and x.id = c.price_id`,
    [appId, timestamp(now)],
  )
  return rows
}

/** Live subscriptions at providers whose prices are not known yet: stored by an earlier version. */
export async function countUncounted(db: Db, appId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*) as count from provider_subscription where app_id = $1 and live and price_ids is null`,
    [appId],
  )
  return rows[0]?.count ?? 0
}

/** Kept figures, and how long ago they were made, in real time. */
export interface KeptFigures<Figures> {
  asOf: number
  ageMs: number
  figures: Figures
}

export async function findFigures<Figures>(
  db: Db,
  appId: string,
  days: number,
): Promise<KeptFigures<Figures> | null> {
  const { rows } = await db.query<KeptFigures<Figures>>(
    `select as_of as "asOf", (extract(epoch from clock_timestamp() - made_at) * 1000)::float8 as "ageMs", figures
     from revenue_figures where app_id = $1 and days = $2`,
    [appId, days],
  )
  return rows[0] ?? null
}

export async function keepFigures(
  db: Db,
  appId: string,
  days: number,
  asOf: number,
  figures: object,
): Promise<void> {
  await db.query(
    `insert into revenue_figures (app_id, days, as_of, made_at, figures) values ($1, $2, $3, clock_timestamp(), $4)
     on conflict (app_id, days) do update
       set as_of = excluded.as_of, made_at = excluded.made_at, figures = excluded.figures`,
    [appId, days, timestamp(asOf), JSON.stringify(figures)],
  )
}

/** Whether nobody else is making figures of this app; held until the transaction ends. */
export async function makesFiguresAlone(db: Db, appId: string): Promise<boolean> {
  const { rows } = await db.query<{ alone: boolean }>(
    `select pg_try_advisory_xact_lock(hashtext('tollgate revenue'), hashtext($1)) as alone`,
    [appId],
  )
  return rows[0]?.alone === true
}
