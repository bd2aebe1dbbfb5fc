import { timestamp } from '../connection/database.ts'
import type { HomeDb } from '../connection/places.ts'
import type { ActivityUnit } from './activity.ts'

/** Checks and records of one feature. */
export interface FeatureCalls {
  checks: number
  /** of the checks: those answered with no */
  denied: number
  records: number
  /** what the records added up to: less than nothing where usage was taken back */
  units: number
  refused: number
}

export type CountedFeature = FeatureCalls & { appId: string; featureId: string }

const COUNTS = ['checks', 'denied', 'records', 'units', 'refused'] as const

/** Adds to the counts of this hour. A feature that was deleted meanwhile has none. */
export async function addFeatureActivity(db: HomeDb, counted: readonly CountedFeature[]): Promise<void> {
  await db.query(
    `insert into feature_activity as a (app_id, feature_id, hour, checks, denied, records, units, refused)
     select c.app_id, c.feature_id, date_trunc('hour', now()), c.checks, c.denied, c.records, c.units, c.refused
     from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::numeric[], $7::bigint[])
       as c (app_id, feature_id, checks, denied, records, units, refused)
     join feature f on f.app_id = c.app_id and f.id = c.feature_id
     order by c.app_id, c.feature_id for key share of f
     on conflict (app_id, feature_id, hour, sample) do update set checks = a.checks + excluded.checks,
       denied = a.denied + excluded.denied, records = a.records + excluded.records,
       units = a.units + excluded.units, refused = a.refused + excluded.refused`,
    [
      counted.map((c) => c.appId),
      counted.map((c) => c.featureId),
      ...COUNTS.map((count) => counted.map((c) => c[count])),
    ],
  )
}

/** The counts by start of each unit of time; units without any are left out. */
export async function featureActivityBetween(
  db: HomeDb,
  appId: string,
  featureId: string,
  unit: Exclude<ActivityUnit, 'minute'>,
  from: number,
  to: number,
): Promise<Map<number, FeatureCalls>> {
  const { rows } = await db.query<FeatureCalls & { at: number }>(
    `select date_trunc($3, hour) as at, sum(checks)::bigint as checks, sum(denied)::bigint as denied,
       sum(records)::bigint as records, sum(units)::float8 as units, sum(refused)::bigint as refused
     from feature_activity
     where app_id = $1 and feature_id = $2 and hour >= $4 and hour < $5 group by 1`,
    [appId, featureId, unit, timestamp(from), timestamp(to)],
  )
  return new Map(rows.map(({ at, ...calls }) => [at, calls]))
}

/** The sums of the last days' counts of these features; features without any are left out. */
export async function featureTotals(
  db: HomeDb,
  appId: string,
  featureIds: readonly string[],
  days: number,
): Promise<(FeatureCalls & { featureId: string })[]> {
  const { rows } = await db.query<FeatureCalls & { featureId: string }>(
    `select f.id as "featureId", a.* from unnest($2::text[]) as f (id) cross join lateral (
       select sum(checks)::bigint as checks, sum(denied)::bigint as denied, sum(records)::bigint as records,
         sum(units)::float8 as units, sum(refused)::bigint as refused
       from feature_activity where app_id = $1 and feature_id = f.id and hour >= now() - $3 * interval '1 day') a
     where a.checks is not null`,
    [appId, featureIds, days],
  )
  return rows
}

export type SampleFeatureCalls = FeatureCalls & { featureId: string; hoursAgo: number }

/** In real time, as all activity. */
export async function insertSampleFeatureCalls(
  db: HomeDb,
  appId: string,
  calls: readonly SampleFeatureCalls[],
): Promise<void> {
  await db.query(
    `insert into feature_activity (app_id, sample, feature_id, hour, checks, denied, records, units, refused)
     select $1, true, c.feature_id, date_trunc('hour', now()) - c.ago * interval '1 hour', c.checks, c.denied, c.records,
       c.units, c.refused
     from unnest($2::text[], $3::int[], $4::bigint[], $5::bigint[], $6::bigint[], $7::numeric[], $8::bigint[])
       as c (feature_id, ago, checks, denied, records, units, refused)`,
    [
      appId,
      calls.map((c) => c.featureId),
      calls.map((c) => c.hoursAgo),
      ...COUNTS.map((count) => calls.map((c) => c[count])),
    ],
  )
}
