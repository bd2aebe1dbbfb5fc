import { numberArray, textArray } from '../connection/arrays.ts'
import type { Tx } from '../connection/database.ts'
import type { UserDb } from '../connection/places.ts'
import { eraseFromOutbox } from '../events/outbox.ts'
import type { NewUserRow } from './create-imported-users.ts'

/** A row of an import whose user was created by it. */
type CreatedUserRow = NewUserRow & { uid: number }

/**
 * Removes users that an import created, if nothing has happened to them since: they have the values of the file, only
 * the subscription of the import, no usage, no overrides, and nothing at a provider.
 */
export async function removeImportedUsers(
  tx: Tx,
  appId: string,
  rows: readonly CreatedUserRow[],
): Promise<{ line: number; uid: null }[]> {
  const removed = await tx.places.writeEach((db) => removeSome(db, appId, rows))
  const uids = new Set(removed.flat())
  return rows.filter(({ uid }) => uids.has(uid)).map(({ line }) => ({ line, uid: null }))
}

async function usersWithBilling(
  db: UserDb,
  appId: string,
  rows: readonly CreatedUserRow[],
): Promise<Set<number>> {
  const has = (table: string) =>
    `exists (select from ${table} t where t.app_id = n.app_id and t.user_uid = n.uid)`
  const { rows: found } = await db.query<{ uid: number }>(
    `select n.uid from (select $1::text as app_id, unnest($2::bigint[]) as uid) n
     where ${['checkout_session', 'provider_subscription', 'payment'].map(has).join(' or ')}`,
    [appId, numberArray(rows, (r) => r.uid)],
  )
  return new Set(found.map(({ uid }) => uid))
}

async function removeSome(db: UserDb, appId: string, rows: readonly CreatedUserRow[]): Promise<number[]> {
  // Locked first: what the next statements see of them no longer changes.
  const { rows: held } = await db.query<{ uid: number }>(
    `select uid from users where app_id = $1 and uid = any($2::bigint[]) order by uid for update`,
    [appId, numberArray(rows, (r) => r.uid)],
  )
  const here = new Set(held.map(({ uid }) => uid))
  const billed = await usersWithBilling(db, appId, rows)
  const theirs = rows.filter(({ uid }) => here.has(uid) && !billed.has(uid))
  const { rows: untouched } = await db.query<{ uid: number }>(
    `select n.uid from (select $1::text as app_id, n.* from unnest($2::bigint[], $3::text[], $4::text[], $5::text[],
         $6::text[], $7::text[], $8::text[]) as n (uid, id, billing_id, name, email, metadata, plan)) n
       join users u on u.app_id = n.app_id and u.uid = n.uid
     where u.id = n.id and u.overrides is null and u.metadata::text = n.metadata
       and (u.billing_id, u.name, u.email) is not distinct from (n.billing_id, n.name, n.email)
       and (select count(*) from subscription s where s.app_id = n.app_id and s.user_uid = n.uid)
         = case when n.plan is null then 0 else 1 end
       and not exists (select from subscription s where s.app_id = n.app_id and s.user_uid = n.uid
         and (s.package_id <> n.plan or s.quantity <> 1 or s.cancelled_at is not null or s.cancel_at is not null
           or s.trial_ends_at is not null))
       and not exists (select from usage_counter c where c.app_id = n.app_id and c.user_uid = n.uid)
       and not exists (select from usage_ledger l where l.app_id = n.app_id and l.user_uid = n.uid)
       and not exists (select from ledger_base b where b.app_id = n.app_id and b.user_uid = n.uid)`,
    [
      appId,
      numberArray(theirs, (r) => r.uid),
      textArray(theirs, (r) => r.userId),
      textArray(theirs, (r) => r.billingId),
      textArray(theirs, (r) => r.name),
      textArray(theirs, (r) => r.email),
      textArray(theirs, (r) => r.metadata),
      textArray(theirs, (r) => r.plan),
    ],
  )
  const uids = untouched.map(({ uid }) => uid)
  const values = [appId, numberArray(uids, (uid) => uid)]
  await db.query(`delete from denial where app_id = $1 and user_uid = any($2::bigint[])`, values)
  await db.query(`delete from subscription where app_id = $1 and user_uid = any($2::bigint[])`, values)
  const { rows: removed } = await db.query<{ uid: number; billingId: string | null }>(
    `delete from users where app_id = $1 and uid = any($2::bigint[]) returning uid, billing_id as "billingId"`,
    values,
  )
  await db.places.noteBillingIds(appId, removed, [])
  await eraseFromOutbox(db, appId, uids)
  return uids
}
