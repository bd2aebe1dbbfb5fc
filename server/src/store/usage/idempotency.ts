import type { Json } from '../../domain/metadata.ts'
import type { Tx } from '../connection/database.ts'
import type { HomeDb } from '../connection/places.ts'

export interface KeyName {
  appId: string
  /** 'request': the header of a whole request. 'usage': the key inside one usage event. */
  scope: 'request' | 'usage'
  key: string
}

export const KEY_TAKEN = 'idempotency_pkey'

interface Claim {
  request: Buffer
  /** what each mutation field of that request answered, by its response name */
  results: Record<string, Json>
}

/**
 * Locks the key for this transaction, waiting for its current holder, and returns its answers so far. Null: there is no
 * such app. One that is there stays until the transaction ends, so that the key is deleted with it.
 */
export async function claimKey(
  tx: Tx,
  { appId, scope, key }: KeyName,
  request: Buffer,
): Promise<Claim | null> {
  const { rowCount } = await tx.query(
    `with held as (select id from app where id = $1 for key share),
     claimed as (insert into idempotency (app_id, scope, key, request, results)
       select id, $2, $3, $4, '{}' from held on conflict do nothing)
     select from held`,
    [appId, scope, key, request],
  )
  if (rowCount === 0) return null
  const { rows } = await tx.query<Claim>(
    `select request, results from idempotency where app_id = $1 and scope = $2 and key = $3 for update`,
    [appId, scope, key],
  )
  if (!rows[0]) throw new Error('an idempotency key was deleted while it was being claimed')
  return rows[0]
}

export async function storeResults(
  tx: Pick<HomeDb, 'query'>,
  { appId, scope, key }: KeyName,
  results: Record<string, Json>,
): Promise<void> {
  await tx.query(`update idempotency set results = $4 where app_id = $1 and scope = $2 and key = $3`, [
    appId,
    scope,
    key,
    JSON.stringify(results),
  ])
}

/** The key of a usage event, with whose usage it is, locked for this transaction. Null: there is none. */
export async function lockUsageKey(
  tx: Pick<HomeDb, 'query'>,
  appId: string,
  key: string,
): Promise<{ userUid: number | null; results: Record<string, Json> } | null> {
  const { rows } = await tx.query<{ userUid: number | null; results: Record<string, Json> }>(
    `select user_uid as "userUid", results from idempotency where app_id = $1 and scope = 'usage' and key = $2
     for update`,
    [appId, key],
  )
  return rows[0] ?? null
}

/** The stored answers of these keys, in their order; null for a new key. */
export async function readKeys(db: HomeDb, keys: readonly KeyName[]): Promise<(Claim | null)[]> {
  const { rows } = await db.query<Claim & { ord: number }>({
    name: 'read-idempotency-keys',
    text: `select q.ord::int, i.request, i.results
      from unnest($1::text[], $2::text[], $3::text[]) with ordinality as q (app_id, scope, key, ord)
      join idempotency i using (app_id, scope, key)`,
    values: [keys.map((k) => k.appId), keys.map((k) => k.scope), keys.map((k) => k.key)],
  })
  const found = new Array<Claim | null>(keys.length).fill(null)
  for (const { ord, ...claim } of rows) found[ord - 1] = claim
  return found
}
