import type { HomeDb } from '../connection/places.ts'

export interface ApiKeyRow {
  id: string
  name: string
  prefix: string
  createdAt: number
  revokedAt: number | null
  lastUsedAt: number | null
  /** replaced by another key; works until then */
  expiresAt: number | null
}

const SELECT = `select id, name, prefix, created_at as "createdAt", revoked_at as "revokedAt",
  last_used_at as "lastUsedAt", expires_at as "expiresAt" from api_key`

export async function insertApiKey(
  db: HomeDb,
  appId: string,
  key: { id: string; name: string; prefix: string; hash: Buffer },
): Promise<void> {
  await db.query(`insert into api_key (app_id, id, name, prefix, hash) values ($1, $2, $3, $4, $5)`, [
    appId,
    key.id,
    key.name,
    key.prefix,
    key.hash,
  ])
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

/** The app that the key with this hash belongs to. */
export async function findAppByKey(db: HomeDb, hash: Buffer): Promise<string | null> {
  const { rows } = await db.query<{ app_id: string }>(
    `select app_id from api_key where hash = $1 and revoked_at is null and (expires_at is null or expires_at > now())`,
    [hash],
  )
  return rows[0]?.app_id ?? null
}

export async function hasApiKeys(db: HomeDb, appId: string): Promise<boolean> {
  const { rows } = await db.query<{ found: boolean }>(
    `select exists (select from api_key where app_id = $1) as found`,
    [appId],
  )
  return rows[0]?.found ?? false
}

/** Gives the key with this id a new secret, which works whatever became of the one before. */
export async function replaceApiKey(
  db: HomeDb,
  appId: string,
  key: { id: string; name: string; prefix: string; hash: Buffer },
): Promise<void> {
  await db.query(
    `insert into api_key (app_id, id, name, prefix, hash) values ($1, $2, $3, $4, $5)
     on conflict (app_id, id) do update set prefix = excluded.prefix, hash = excluded.hash, revoked_at = null,
       expires_at = null`,
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
