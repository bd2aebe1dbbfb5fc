import { createHash } from 'node:crypto'
import type { ProviderRef } from '../../domain/provider-ref.ts'
import type { Tx } from '../connection/database.ts'
import type { HomeDb } from '../connection/places.ts'

// Hashes of the ids of deleted users. Providers' ids are long and random, so a hash does not reveal them.

type Ref = Pick<ProviderRef, 'provider' | 'ref'>

const hashOf = ({ provider, ref }: Ref): string =>
  createHash('sha256')
    .update(JSON.stringify([provider, ref]))
    .digest('hex')

export async function insertErasedRefs(db: HomeDb, appId: string, refs: readonly Ref[]): Promise<void> {
  await db.query(
    `insert into erased_ref (app_id, hash) select $1, decode(h, 'hex') from unnest($2::text[]) as h
     on conflict do nothing`,
    [appId, refs.map(hashOf)],
  )
}

/** Whether any of these belonged to a deleted user, and none is the billing id of an existing one. */
export async function isErased(db: HomeDb, appId: string, refs: readonly Ref[]): Promise<boolean> {
  const { rowCount } = await db.query(
    `select where exists (select from erased_ref e join unnest($2::text[]) as h on e.hash = decode(h, 'hex')
         where e.app_id = $1)
       and not exists (select from users where app_id = $1 and billing_id = any($3))`,
    [appId, refs.map(hashOf), refs.map(({ ref }) => ref)],
  )
  return rowCount === 1
}

const ERASURES = (appId: string): string => `hashtext('tollgate erasure'), hashtext(${appId})`

/** For a transaction that writes about users without locking them: prevents deletions of users of these apps. */
export async function holdErasures(tx: Tx, ...appIds: string[]): Promise<void> {
  await tx.query(
    `select pg_advisory_xact_lock_shared(${ERASURES('id')}) from (select unnest($1::text[]) as id order by 1) as apps`,
    [appIds],
  )
}

/** Waits for such transactions, and blocks them until this one ends. */
export async function lockErasures(tx: Tx, appId: string): Promise<void> {
  await tx.query(`select pg_advisory_xact_lock(${ERASURES('$1')})`, [appId])
}
