import type { JsonObject } from '../../domain/metadata.ts'
import type { Pool } from '../connection/database.ts'
import { transaction } from '../connection/database.ts'
import type { HomeDb } from '../connection/places.ts'
import type { Keyring } from '../secrets/keyring.ts'

export interface TokenKeyRow {
  id: string
  algorithm: string
  createdAt: number
  retiredAt: number | null
  revokedAt: number | null
}

interface NewTokenKey {
  id: string
  algorithm: string
  material: Buffer
  publicKey: JsonObject | null
}

const encryptionContext = (appId: string, id: string) => JSON.stringify(['token key', appId, id])

/** False: the app already has a signing key. */
export async function insertTokenKey(
  db: HomeDb,
  keyring: Keyring,
  appId: string,
  key: NewTokenKey,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into token_key (app_id, id, algorithm, material, public_key) values ($1, $2, $3, $4, $5)
     on conflict (app_id) where retired_at is null and revoked_at is null do nothing`,
    [
      appId,
      key.id,
      key.algorithm,
      keyring.seal(encryptionContext(appId, key.id), key.material),
      key.publicKey,
    ],
  )
  return rowCount === 1
}

/** The id of the app's signing key; null: it has none. */
export async function currentTokenKey(db: HomeDb, appId: string): Promise<string | null> {
  const { rows } = await db.query<{ id: string }>(
    `select id from token_key where app_id = $1 and retired_at is null and revoked_at is null`,
    [appId],
  )
  return rows[0]?.id ?? null
}

/** `good`: tokens it signed are still accepted. */
export async function findTokenKey(
  db: HomeDb,
  keyring: Keyring,
  appId: string,
  id: string,
  tokenSeconds: number,
): Promise<{ algorithm: string; material: Buffer; good: boolean } | null> {
  const { rows } = await db.query<{ algorithm: string; material: Buffer; good: boolean }>(
    `select algorithm, material,
       revoked_at is null and coalesce(retired_at > now() - make_interval(secs => $3), true) as good
     from token_key where app_id = $1 and id = $2`,
    [appId, id, tokenSeconds],
  )
  const [row] = rows
  return row ? { ...row, material: keyring.open(encryptionContext(appId, id), row.material) } : null
}

/** Newest first. */
export async function listTokenKeys(db: HomeDb, appId: string): Promise<TokenKeyRow[]> {
  const { rows } = await db.query<TokenKeyRow>(
    `select id, algorithm, created_at as "createdAt", retired_at as "retiredAt", revoked_at as "revokedAt"
     from token_key where app_id = $1 order by created_at desc, id`,
    [appId],
  )
  return rows
}

export async function retireTokenKey(db: HomeDb, appId: string): Promise<void> {
  await db.query(
    `update token_key set retired_at = now() where app_id = $1 and retired_at is null and revoked_at is null`,
    [appId],
  )
}

/** False: there is no such key. Repeating it is harmless. */
export async function revokeTokenKey(db: HomeDb, appId: string, id: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `update token_key set revoked_at = coalesce(revoked_at, now()) where app_id = $1 and id = $2`,
    [appId, id],
  )
  return rowCount === 1
}

/** Deletes keys whose tokens have all expired and whose responses are no longer repeated. */
export async function forgetTokenKeys(db: HomeDb, appId: string, keptHours: number): Promise<void> {
  await db.query(
    `delete from token_key where app_id = $1 and least(retired_at, revoked_at) < now() - make_interval(hours => $2)`,
    [appId, keptHours],
  )
}

/** From the next token on, apps sign with this algorithm. */
export async function retireOtherAlgorithms(db: HomeDb, algorithm: string): Promise<void> {
  await db.query(
    `update token_key set retired_at = now() where algorithm <> $1 and retired_at is null and revoked_at is null`,
    [algorithm],
  )
}

/** The public keys for verifying tokens, of all apps, newest first. */
export async function listPublicKeys(
  db: HomeDb,
  tokenSeconds: number,
): Promise<{ appId: string; id: string; algorithm: string; publicKey: JsonObject }[]> {
  const { rows } = await db.query<{ appId: string; id: string; algorithm: string; publicKey: JsonObject }>(
    `select app_id as "appId", id, algorithm, public_key as "publicKey" from token_key
     where public_key is not null and revoked_at is null
       and app_id in (select id from app where deleting_since is null)
       and coalesce(retired_at > now() - make_interval(secs => $1), true)
     order by app_id, created_at desc`,
    [tokenSeconds],
  )
  return rows
}

const BATCH = 500

/** Seals keys not yet sealed with the first master key, in batches. Several processes may do so at once. */
export async function sealTokenKeys(pool: Pool, keyring: Keyring): Promise<void> {
  let after = ['', '']
  for (;;) {
    const last = await transaction(pool, async (tx) => {
      const { rows } = await tx.query<{ appId: string; id: string; material: Buffer }>(
        `select app_id as "appId", id, material from token_key where (app_id, id) > ($1, $2)
         order by app_id, id limit ${BATCH} for update`,
        after,
      )
      for (const { appId, id, material } of rows) {
        const context = encryptionContext(appId, id)
        const secret = keyring.open(context, material)
        if (keyring.isCurrent(material)) continue
        await tx.query(`update token_key set material = $3 where app_id = $1 and id = $2`, [
          appId,
          id,
          keyring.seal(context, secret),
        ])
      }
      return rows.at(-1)
    })
    if (!last) return
    after = [last.appId, last.id]
  }
}
