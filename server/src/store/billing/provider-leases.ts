import type { ProviderRef } from '../../domain/provider-ref.ts'
import type { HomeDb } from '../connection/places.ts'

// While a change is made at a provider and not yet recorded here, one caller has a lease on the provider's
// subscription: nobody else changes it, and no report about it is applied. A lease of a dead holder expires.

/**
 * Takes a lease; false: someone else has one; null: this subscription is unknown and needs none. Reports fetched before
 * this must be fetched again before writing.
 */
export async function takeLease(
  db: HomeDb,
  { appId, provider, ref }: ProviderRef,
  holder: string,
  milliseconds: number,
): Promise<boolean | null> {
  const { rows } = await db.query<{ taken: boolean }>(
    `with taken as (
       update provider_subscription set version = version + 1, leased_by = $4,
         leased_until = clock_timestamp() + make_interval(secs => $5::float8 / 1000)
       where app_id = $1 and provider = $2 and ref = $3
         and (leased_until is null or leased_until <= clock_timestamp()) returning 1)
     select exists (select from taken) as taken from provider_subscription
     where app_id = $1 and provider = $2 and ref = $3`,
    [appId, provider, ref, holder, milliseconds],
  )
  return rows[0]?.taken ?? null
}

export async function isLeased(db: HomeDb, { appId, provider, ref }: ProviderRef): Promise<boolean> {
  const { rowCount } = await db.query(
    `select from provider_subscription
     where app_id = $1 and provider = $2 and ref = $3 and leased_until > clock_timestamp()`,
    [appId, provider, ref],
  )
  return rowCount === 1
}

/** Whether the holder still has it; null: there is none. Nobody else can take it until this transaction ends. */
export async function holdsLease(
  db: HomeDb,
  { appId, provider, ref }: ProviderRef,
  holder: string,
): Promise<boolean | null> {
  const { rows } = await db.query<{ held: boolean }>(
    `select coalesce(leased_by = $4 and leased_until > clock_timestamp(), false) as held from provider_subscription
     where app_id = $1 and provider = $2 and ref = $3 for no key update`,
    [appId, provider, ref, holder],
  )
  return rows[0]?.held ?? null
}

export async function endLease(
  db: HomeDb,
  { appId, provider, ref }: ProviderRef,
  holder: string,
): Promise<void> {
  await db.query(
    `update provider_subscription set version = version + 1, leased_by = null, leased_until = null
     where app_id = $1 and provider = $2 and ref = $3 and leased_by = $4`,
    [appId, provider, ref, holder],
  )
}
