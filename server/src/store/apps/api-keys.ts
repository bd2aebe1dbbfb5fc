import type { ApiKeyScope } from '../../domain/api-key-scope.ts'
import { timestampOrNull } from '../connection/database.ts'
import type { HomeDb } from '../connection/places.ts'

export interface ApiKeyRow {
  id: string
  name: string
  prefix: string
  scope: ApiKeyScope
  createdAt: number
  revokedAt: number | null
  lastUsedAt: number | null
  /** its expiry, or the end of its overlap with the key that replaced it; null: no end */
  expiresAt: number | null
  /** from the moment its expiry was set, which a replacement does not change */
  lifetimeMs: number | null
}

const SELECT = `select id, name, prefix, scope, created_at as "createdAt", revoked_at as "revokedAt",
  last_used_at as "lastUsedAt", expires_at as "expiresAt", lifetime_ms as "lifetimeMs" from api_key`

type NewApiKey = Pick<ApiKeyRow, 'id' | 'name' | 'prefix'> & { hash: Buffer }

export async function insertApiKey(
  db: HomeDb,
  appId: string,
  key: NewApiKey & Pick<ApiKeyRow, 'scope' | 'expiresAt' | 'lifetimeMs'>,
): Promise<void> {
  await db.query(
    `insert into api_key (app_id, id, name, prefix, hash, scope, expires_at, lifetime_ms)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      appId,
      key.id,
      key.name,
      key.prefix,
      key.hash,
      key.scope,
      timestampOrNull(key.expiresAt),
      key.lifetimeMs,
    ],
  )
}

/** The fields of a key that an owner may change. */
export async function changeApiKey(
  db: HomeDb,
  appId: string,
  {
    id,
    name,
    scope,
    expiresAt,
    lifetimeMs,
  }: Pick<ApiKeyRow, 'id' | 'name' | 'scope' | 'expiresAt' | 'lifetimeMs'>,
): Promise<void> {
  await db.query(
    `update api_key set name = $3, scope = $4, expires_at = $5, lifetime_ms = $6 where app_id = $1 and id = $2`,
    [appId, id, name, scope, timestampOrNull(expiresAt), lifetimeMs],
  )
}

/** The database's time, by which keys expire, also those of an app with a test clock. */
export async function realTime(db: HomeDb): Promise<number> {
  const { rows } = await db.query<{ now: number }>(
    `select date_trunc('milliseconds', statement_timestamp()) as now`,
  )
  return (rows[0] as { now: number }).now
}

/** False when there is no such key. Revoking twice is harmless. */
export async function revokeApiKey(db: HomeDb, appId: string, id: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `update api_key set revoked_at = coalesce(revoked_at, now()) where app_id = $1 and id = $2`,
    [appId, id],
  )
  return rowCount === 1
}

export async function listApiKeys(db: HomeDb, appId: string): Promise<ApiKeyRow[]> {
  const { rows } = await db.query<ApiKeyRow>(`${SELECT} where app_id = $1 order by created_at, id`, [appId])
  return rows
}

export async function countGoodApiKeys(db: HomeDb, appId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*) as count from api_key
     where app_id = $1 and revoked_at is null and (expires_at is null or expires_at > now())`,
    [appId],
  )
  return rows[0]?.count ?? 0
}

/** A working key, locked until the transaction ends. */
export async function lockGoodApiKey(db: HomeDb, appId: string, id: string): Promise<ApiKeyRow | null> {
  const { rows } = await db.query<ApiKeyRow>(
    `${SELECT} where app_id = $1 and id = $2 and revoked_at is null and (expires_at is null or expires_at > now())
     for update`,
    [appId, id],
  )
  return rows[0] ?? null
}

/** By the database's time; returns when. Never postpones an earlier expiry. */
export async function expireApiKey(
  db: HomeDb,
  appId: string,
  id: string,
  hours: number,
): Promise<number | null> {
  const { rows } = await db.query<{ expiresAt: number }>(
    `update api_key set expires_at = least(expires_at, now() + make_interval(hours => $3))
     where app_id = $1 and id = $2 returning expires_at as "expiresAt"`,
    [appId, id, hours],
  )
  return rows[0]?.expiresAt ?? null
}

/** How long ago each key was last used. */
export async function noteKeyUse(
  db: HomeDb,
  uses: readonly { appId: string; hash: string; msAgo: number }[],
): Promise<void> {
  await db.query(
    `update api_key k set last_used_at = greatest(k.last_used_at, now() - u.ms * interval '1 millisecond')
     from unnest($1::text[], $2::text[], $3::float8[]) as u (app_id, hash, ms)
     where k.app_id = u.app_id and k.hash = decode(u.hash, 'hex')`,
    [uses.map((u) => u.appId), uses.map((u) => u.hash), uses.map((u) => u.msAgo)],
  )
}

/** The app that the working key with this hash belongs to, and its scope. */
export async function findAppByKey(
  db: HomeDb,
  hash: Buffer,
): Promise<{ appId: string; scope: ApiKeyScope } | null> {
  const { rows } = await db.query<{ appId: string; scope: ApiKeyScope }>(
    `select app_id as "appId", scope from api_key
     where hash = $1 and revoked_at is null and (expires_at is null or expires_at > now())`,
    [hash],
  )
  return rows[0] ?? null
}

export async function hasApiKeys(db: HomeDb, appId: string): Promise<boolean> {
  const { rows } = await db.query<{ found: boolean }>(
    `select exists (select from api_key where app_id = $1) as found`,
    [appId],
  )
  return rows[0]?.found ?? false
}

/** Gives the key with this id a new secret with all scopes, even if the key was revoked or has expired. */
export async function replaceApiKey(db: HomeDb, appId: string, key: NewApiKey): Promise<void> {
  await db.query(
    `insert into api_key (app_id, id, name, prefix, hash) values ($1, $2, $3, $4, $5)
     on conflict (app_id, id) do update set prefix = excluded.prefix, hash = excluded.hash, revoked_at = null,
       expires_at = null, lifetime_ms = null, scope = 'ALL'`,
    [appId, key.id, key.name, key.prefix, key.hash],
  )
}

export async function findKeyByHash(
  db: HomeDb,
  hash: Buffer,
): Promise<{ appId: string; isGood: boolean } | null> {
  const { rows } = await db.query<{ appId: string; isGood: boolean }>(
    `select app_id as "appId", revoked_at is null and (expires_at is null or expires_at > now()) as "isGood"
     from api_key where hash = $1`,
    [hash],
  )
  return rows[0] ?? null
}
