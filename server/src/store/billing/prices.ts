import type { SoldCredits } from '../../domain/credit-sale.ts'
import type { PackagePrice, Price } from '../../domain/price.ts'
import type { ProviderRef } from '../../domain/provider-ref.ts'
import type { HomeDb } from '../connection/places.ts'

/** Item that a price sells: a package or credits. */
export type PriceSells = { packageId: string; credits: null } | { packageId: null; credits: SoldCredits }

/** A price of a package or of credits. */
export type AnyPriceRow = PackagePrice & PriceSells & { createdAt: number; archivedAt: number | null }

/** A price of a package. */
export type PriceRow = Extract<AnyPriceRow, { packageId: string }>

/** A price of credits. */
export type CreditPriceRow = Extract<AnyPriceRow, { packageId: null }>

const SELECT = `select id, provider, package_id as "packageId", amount, currency, interval, is_default as "isDefault",
  created_at as "createdAt", archived_at as "archivedAt",
  case when units is not null then
    json_build_object('featureId', feature_id, 'units', units, 'expiresDays', expires_days) end as credits
from price`

/** False: the id is already in use. The first price in use of a package is its default. */
export async function insertPrice(
  db: HomeDb,
  appId: string,
  { packageId, credits }: PriceSells,
  price: Price,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into price (app_id, provider, id, package_id, amount, currency, interval, feature_id, units, expires_days,
       is_default)
     values ($1::text, $2, $3, $4::text, $5, $6, $7, $8, $9, $10, $4::text is not null and not exists (
       select from price where app_id = $1::text and package_id = $4::text and archived_at is null)) on conflict do nothing`,
    [
      appId,
      price.provider,
      price.id,
      packageId,
      price.amount,
      price.currency,
      price.interval,
      credits?.featureId ?? null,
      credits?.units ?? null,
      credits?.expiresDays ?? null,
    ],
  )
  return rowCount === 1
}

/** A price of credits, by its id alone. */
export async function findCreditPrice(db: HomeDb, appId: string, id: string): Promise<CreditPriceRow | null> {
  const { rows } = await db.query<CreditPriceRow>(
    `${SELECT} where app_id = $1 and id = $2 and units is not null`,
    [appId, id],
  )
  return rows[0] ?? null
}

/** Prices of credits of a feature, including archived ones. */
export async function countCreditPrices(db: HomeDb, appId: string, featureId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    'select count(*) as count from price where app_id = $1 and feature_id = $2',
    [appId, featureId],
  )
  return rows[0]?.count ?? 0
}

export async function countPrices(db: HomeDb, appId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    'select count(*) as count from price where app_id = $1',
    [appId],
  )
  return rows[0]?.count ?? 0
}

export async function findPrice(
  db: HomeDb,
  appId: string,
  provider: string,
  id: string,
): Promise<AnyPriceRow | null> {
  const { rows } = await db.query<AnyPriceRow>(`${SELECT} where app_id = $1 and provider = $2 and id = $3`, [
    appId,
    provider,
    id,
  ])
  return rows[0] ?? null
}

/** The prices of packages with these ids at their providers, in order. */
export async function findPricesByRef(
  db: HomeDb,
  refs: readonly ProviderRef[],
): Promise<(PriceRow | undefined)[]> {
  const { rows } = await db.query<PriceRow & { ord: number }>(
    `select q.ord::int, p.* from unnest($1::text[], $2::text[], $3::text[]) with ordinality as q (app_id, provider, id, ord)
     cross join lateral (${SELECT} where app_id = q.app_id and provider = q.provider and id = q.id and units is null) p`,
    [refs.map((r) => r.appId), refs.map((r) => r.provider), refs.map((r) => r.ref)],
  )
  const found = refs.map((): PriceRow | undefined => undefined)
  for (const { ord, ...row } of rows) found[ord - 1] = row
  return found
}

/** Prices of packages, including archived ones, for which subscriptions are still charged. */
export async function findPrices(
  db: HomeDb,
  appId: string,
  provider: string,
  ids: readonly string[],
): Promise<PriceRow[]> {
  const found = await findAnyPrices(db, appId, provider, ids)
  return found.filter((price) => price.packageId !== null)
}

/** Prices of packages and of credits, including archived ones. */
export async function findAnyPrices(
  db: HomeDb,
  appId: string,
  provider: string,
  ids: readonly string[],
): Promise<AnyPriceRow[]> {
  const { rows } = await db.query<AnyPriceRow>(
    `${SELECT} where app_id = $1 and provider = $2 and id = any($3) order by seq`,
    [appId, provider, ids],
  )
  return rows
}

/** Prices of packages, oldest first: of the app, or of one package. */
export async function listPrices(
  db: HomeDb,
  appId: string,
  packageId: string | null,
  includeArchived: boolean,
): Promise<PriceRow[]> {
  const found = await listAnyPrices(db, appId, { packageId, featureId: null }, includeArchived)
  return found.filter((price) => price.packageId !== null)
}

/** Oldest first: of the app, or of one package, or of credits of one feature. */
export async function listAnyPrices(
  db: HomeDb,
  appId: string,
  { packageId, featureId }: { packageId: string | null; featureId: string | null },
  includeArchived: boolean,
): Promise<AnyPriceRow[]> {
  const { rows } = await db.query<AnyPriceRow>(
    `${SELECT} where app_id = $1 and ($2::text is null or package_id = $2)
       and ($3::text is null or feature_id = $3) and ($4 or archived_at is null)
     order by seq`,
    [appId, packageId, featureId, includeArchived],
  )
  return rows
}

/** A package with prices in use has a default: without one, the newest becomes it. */
export async function settleDefaultPrice(db: HomeDb, appId: string, packageId: string): Promise<void> {
  await db.query(
    `update price p set is_default = true from (
       select provider, id from price where app_id = $1 and package_id = $2 and archived_at is null
         and not exists (select from price where app_id = $1 and package_id = $2 and is_default and archived_at is null)
       order by seq desc limit 1) newest
     where p.app_id = $1 and p.provider = newest.provider and p.id = newest.id`,
    [appId, packageId],
  )
}

/** Another one of the package no longer is. */
export async function setDefaultPrice(
  db: HomeDb,
  appId: string,
  { packageId, provider, id }: Pick<PriceRow, 'packageId' | 'provider' | 'id'>,
): Promise<void> {
  await db.query(`update price set is_default = false where app_id = $1 and package_id = $2 and is_default`, [
    appId,
    packageId,
  ])
  await db.query(`update price set is_default = true where app_id = $1 and provider = $2 and id = $3`, [
    appId,
    provider,
    id,
  ])
}

/** False: there is no such price. An archived price is not the default. */
export async function archivePrice(
  db: HomeDb,
  appId: string,
  provider: string,
  id: string,
  archived: boolean,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update price set archived_at = case when $4 then coalesce(archived_at, now()) end,
       is_default = is_default and archived_at is null and not $4
     where app_id = $1 and provider = $2 and id = $3`,
    [appId, provider, id, archived],
  )
  return rowCount === 1
}
