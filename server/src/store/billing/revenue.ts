import type { ChargedPrice } from '../../domain/mrr.ts'
import { timestamp } from '../connection/database.ts'
import { allRows, sums } from '../connection/merge-answers.ts'
import { type HomeDb, rowOf, rowsOf } from '../connection/places.ts'

/** Live subscriptions of one package. */
export interface PlanCount {
  packageId: string
  /** neither in a trial nor past due */
  active: number
  trialing: number
  pastDue: number
  /** not paid at a provider */
  unpaid: number
}

/** Reads every live subscription of the app. */
export async function countByPackage(db: HomeDb, appId: string, now: number): Promise<PlanCount[]> {
  const ask = rowsOf<PlanCount>({
    text: `select s.package_id as "packageId",
       count(*) filter (where (s.trial_ends_at > $2) is not true and p.ref is null) as active,
       count(*) filter (where s.trial_ends_at > $2) as trialing,
       count(*) filter (where p.ref is not null) as "pastDue", count(*) filter (where s.provider is null) as unpaid
     from subscription s left join provider_subscription p on p.app_id = s.app_id and p.provider = s.provider
       and p.ref = s.provider_ref and p.past_due_since is not null
     where s.app_id = $1 and s.cancelled_at is null and (s.cancel_at is null or s.cancel_at > $2)
       and (s.follows is null or s.started_at <= $2)
     group by s.package_id`,
    values: [appId, timestamp(now)],
  })
  const plans = new Map<string, PlanCount>()
  for (const plan of await db.places.each(ask, allRows())) {
    const sum = plans.get(plan.packageId)
    plans.set(plan.packageId, sum ? together(sum, plan) : plan)
  }
  return [...plans.values()]
}

const together = (a: PlanCount, b: PlanCount): PlanCount => ({
  packageId: a.packageId,
  active: a.active + b.active,
  trialing: a.trialing + b.trialing,
  pastDue: a.pastDue + b.pastDue,
  unpaid: a.unpaid + b.unpaid,
})

export interface Movements {
  started: number
  changed: number
  ended: number
}

type Moved = Record<'began' | 'ended' | 'replaced' | 'replacing', number>

const ENDED = (of: string) => `coalesce(${of}.cancelled_at, ${of}.cancel_at)`

/**
 * Starts and ends after `from`, up to `now`. Changes are counted by a join of ends and starts: row by row, a year of
 * 300,000 subscriptions took five seconds. Both are materialised first, so that PostgreSQL does not join by the time
 * only, which many may share.
 */
export async function countMovements(
  db: HomeDb,
  appId: string,
  from: number,
  now: number,
): Promise<Movements> {
  const { began, ended, replaced, replacing } = await db.places.each(
    rowOf<Moved>({
      text: `with began as materialized (
       select id, user_uid, is_addon, started_at as at from subscription s
       where s.app_id = $1 and s.started_at > $2 and s.started_at <= $3
         and (s.cancelled_at is null or s.cancelled_at >= s.started_at)),
     ended as materialized (
       select id, user_uid, is_addon, ${ENDED('e')} as at from subscription e
       where e.app_id = $1 and ${ENDED('e')} is not null and ${ENDED('e')} > $2 and ${ENDED('e')} <= $3
         and ${ENDED('e')} >= e.started_at)
     select (select count(*) from began) as began, (select count(*) from ended) as ended,
       count(distinct e.id) as replaced, count(distinct s.id) as replacing
     from ended e join began s on s.user_uid = e.user_uid and s.at = e.at and s.id <> e.id
     where not s.is_addon and not e.is_addon`,
      values: [appId, timestamp(from), timestamp(now)],
    }),
    sums(),
  )
  return { started: began - replacing, changed: replacing, ended: ended - replaced }
}

/** The providers' current charges, by price. */
export async function chargedPrices(
  db: HomeDb,
  appId: string,
  now: number,
): Promise<(ChargedPrice & { packageId: string })[]> {
  const { rows } = await db.query<ChargedPrice & { packageId: string }>(
    `select x.package_id as "packageId", c.provider, x.currency, x.amount, x.interval, c.state, c.trialing, c.quantity
     from (
       select p.provider, i.price_id, p.billing_state as state, coalesce(p.trial_ends_at > $2, false) as trialing,
         sum(i.quantity)::bigint as quantity
       from provider_subscription p cross join lateral unnest(p.price_ids, p.quantities) as i (price_id, quantity)
       where p.app_id = $1 and p.live
         -- Past due at the provider, it may have ended here.
         and exists (select from subscription s where s.app_id = p.app_id and s.provider = p.provider
           and s.provider_ref = p.ref and s.cancelled_at is null and (s.cancel_at is null or s.cancel_at > $2))
       group by 1, 2, 3, 4) c
     join price x on x.app_id = $1 and x.provider = c.provider and x.id = c.price_id`,
    [appId, timestamp(now)],
  )
  return rows
}

/** Cached figures and their age in real time. */
export interface KeptFigures<Figures> {
  asOf: number
  ageMs: number
  figures: Figures
}

export async function findFigures<Figures>(
  db: HomeDb,
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
  db: HomeDb,
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

/** False: another transaction is computing the figures of this app. Held until this one ends. */
export async function tryLockFigures(db: HomeDb, appId: string): Promise<boolean> {
  const { rows } = await db.query<{ locked: boolean }>(
    `select pg_try_advisory_xact_lock(hashtext('tollgate revenue'), hashtext($1)) as locked`,
    [appId],
  )
  return rows[0]?.locked === true
}
