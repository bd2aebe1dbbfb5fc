import type { Price } from '../../domain/price.ts'
import type { ProviderRef } from '../../domain/provider-ref.ts'
import type { HomeDb } from '../connection/places.ts'

export interface PriceRow extends Price {
  packageId: string
  createdAt: number
  archivedAt: number | null
}

const SELECT = `select id, provider, package_id as "packageId", amount, currency, interval,
  created_at as "createdAt", archived_at as "archivedAt" from price`

/** False: the id is already the price of a package. */
export async function insertPrice(
  db: HomeDb,
  appId: string,
  packageId: string,
  price: Price,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into price (app_id, provider, id, package_id, amount, currency, interval)
     values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`,
    [appId, price.provider, price.id, packageId, price.amount, price.currency, price.interval],
  )
  return rowCount === 1
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
): Promise<PriceRow | null> {
  const { rows } = await db.query<PriceRow>(`${SELECT} where app_id = $1 and provider = $2 and id = $3`, [
    appId,
    provider,
    id,
  ])
  return rows[0] ?? null
}

/** The prices with these ids at their providers, in order. */
export async function findPricesByRef(
  db: HomeDb,
  refs: readonly ProviderRef[],
): Promise<(PriceRow | undefined)[]> {
  const { rows } = await db.query<PriceRow & { ord: number }>(
    `select q.ord::int, p.* from unnest($1::text[], $2::text[], $3::text[]) with ordinality as q (app_id, provider, id, ord)
     cross join lateral (${SELECT} where app_id = q.app_id and provider = q.provider and id = q.id) p`,
    [refs.map((r) => r.appId), refs.map((r) => r.provider), refs.map((r) => r.ref)],
  )
  const found = new Array<PriceRow | undefined>(refs.length)
  for (const { ord, ...row } of rows) found[ord - 1] = row
  return found
}

/** Including archived ones, for which subscriptions are still charged. */
export async function findPrices(
  db: HomeDb,
  appId: string,
  provider: string,
  ids: readonly string[],
): Promise<PriceRow[]> {
  const { rows } = await db.query<PriceRow>(
    `${SELECT} where app_id = $1 and provider = $2 and id = any($3) order by seq`,
    [appId, provider, ids],
  )
  return rows
}

/** Oldest first: of the app, or of one package. */
export async function listPrices(
  db: HomeDb,
  appId: string,
  packageId: string | null,
  includeArchived: boolean,
): Promise<PriceRow[]> {
  const { rows } = await db.query<PriceRow>(
    `${SELECT} where app_id = $1 and ($2::text is null or package_id = $2) and ($3 or archived_at is null)
     order by seq`,
    [appId, packageId, includeArchived],
  )
  return rows
}

/** False: there is no such price. */
export async function archivePrice(
  db: HomeDb,
  appId: string,
  provider: string,
  id: string,
  archived: boolean,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update price set archived_at = case when $4 then coalesce(archived_at, now()) end
     where app_id = $1 and provider = $2 and id = $3`,
    [appId, provider, id, archived],
  )
  return rowCount === 1
}
