import { MAX_COUNT } from '../../domain/limits.ts'
import { timestamp } from '../connection/database.ts'
import type { HomeDb } from '../connection/places.ts'

/** A sum, capped at the largest number that JSON can represent. */
const capped = (sum: string): string => `least(${sum}, ${MAX_COUNT})::bigint`

/** Credits of a feature that were bought at one provider, in one currency. */
export interface SoldTotal {
  featureId: string
  provider: string
  /** null: what was paid is not known */
  currency: string | null
  paid: number
  units: number
  credits: number
}

/** Credits bought after `from`, up to `now`: the newest `limit` of them. */
export async function soldCredits(
  db: HomeDb,
  appId: string,
  { from, now, limit }: { from: number; now: number; limit: number },
): Promise<SoldTotal[]> {
  const { rows } = await db.query<SoldTotal>(
    `select feature_id as "featureId", provider, currency, ${capped('coalesce(sum(paid), 0)')} as paid,
       ${capped('sum(bought)')} as units, count(*) as credits
     from (select feature_id, provider, currency, paid, bought from credit
       where app_id = $1 and bought is not null and created_at > $2 and created_at <= $3
       order by created_at desc limit $4) s
     group by 1, 2, 3 order by 1, 2, 3`,
    [appId, timestamp(from), timestamp(now), limit],
  )
  return rows
}

export interface ExpiringTotal {
  featureId: string
  units: number
  credits: number
}

/** Unused units of credits that expire after `now`, up to `until`: those of the first `limit` credits to expire. */
export async function expiringCredits(
  db: HomeDb,
  appId: string,
  { now, until, limit }: { now: number; until: number; limit: number },
): Promise<ExpiringTotal[]> {
  const { rows } = await db.query<ExpiringTotal>(
    `select feature_id as "featureId", ${capped('sum(amount - used)')} as units, count(*) as credits
     from (select feature_id, amount, used from credit
       where app_id = $1 and not ended and used < amount and expires_at > $2 and expires_at <= $3 order by expires_at limit $4) e
     group by 1`,
    [appId, timestamp(now), timestamp(until), limit],
  )
  return rows
}
