import type { Json } from '../../domain/metadata.ts'
import type { Person } from '../../domain/personal-data.ts'
import type { ProviderRef } from '../../domain/provider-ref.ts'
import type { HomeDb, OwnBillingId, UserDb } from '../connection/places.ts'
import { endSpending } from '../credits/spenders.ts'
import { eraseEvents } from '../events/event-log.ts'
import { eraseFromOutbox } from '../events/outbox.ts'
import { hasIdOnly, isBadRowOf, knownTimes } from '../imports/user-import-rows.ts'
import { subtractEntries } from '../usage/usage-hours.ts'
import type { UserRow } from '../users/users.ts'

// Deletes a user permanently. Usage stays, under a number that no longer identifies anyone: a counter still equals the
// sum of its ledger rows.

/** A user with everything that the deletion needs. */
export interface ErasableUser extends UserRow {
  createdAt: number
  formerIds: { id: string; until: number }[]
}

const SELECT = `select uid, id, billing_id as "billingId", name, email, metadata, created_at as "createdAt",
  (select coalesce(json_agg(json_build_object('id', f->>'id',
     'until', extract(epoch from (f->>'until')::timestamptz) * 1000)), '[]')
   from jsonb_array_elements(coalesce(former_ids, '[]')) f) as "formerIds"
from users where app_id = $1 and id = $2`

export async function findErasableUser(db: HomeDb, appId: string, id: string): Promise<ErasableUser | null> {
  const { rows } = await db.places.of(appId, id, (users) => users.query<ErasableUser>(SELECT, [appId, id]))
  return rows[0] ?? null
}

/** The same, locked against everything that refers to the user. */
export async function lockUserToErase(db: UserDb, appId: string, id: string): Promise<ErasableUser | null> {
  const { rows } = await db.query<ErasableUser>(`${SELECT} for update`, [appId, id])
  return rows[0] ?? null
}

/** Ids of all their subscriptions, including planned ones. */
export async function subscriptionIdsOf(db: UserDb, appId: string, uid: number): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select id from subscription where app_id = $1 and user_uid = $2`,
    [appId, uid],
  )
  return rows.map(({ id }) => id)
}

export async function newestSubscriptionIds(
  db: UserDb,
  appId: string,
  uid: number,
  limit: number,
): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select id from subscription where app_id = $1 and user_uid = $2 order by seq desc limit $3`,
    [appId, uid, limit],
  )
  return rows.map(({ id }) => id)
}

/** The ids among these that another user has now. */
export async function takenSince(
  db: HomeDb,
  appId: string,
  uid: number,
  ids: readonly string[],
): Promise<Set<string>> {
  const taken = await db.places.ofMany(
    appId,
    ids,
    (id) => id,
    async (users, some) => {
      const { rows } = await users.query<{ id: string }>(
        `select id from users where app_id = $1 and id = any($2) and uid <> $3`,
        [appId, some, uid],
      )
      return some.map((id) => rows.some((row) => row.id === id))
    },
  )
  return new Set(ids.filter((_, i) => taken[i]))
}

/** Deletes their subscriptions, payments and credits, then the user. */
export async function deleteUserRows(db: UserDb, appId: string, uid: number): Promise<void> {
  // The usage of a sample user was generated.
  const { rowCount: invented } = await db.query(
    `delete from sample_item where app_id = $1 and kind = 'user' and id = $2`,
    [appId, String(uid)],
  )
  if (invented === 1) {
    await db.places.holdLedger()
    await subtractEntries(db, appId, [String(uid)])
    for (const table of ['usage_ledger', 'ledger_base', 'usage_counter'])
      await db.query(`delete from ${table} where app_id = $1 and user_uid = $2`, [appId, uid])
  }
  await endSpending(db, appId, uid)
  await db.query(`delete from denial where app_id = $1 and user_uid = $2`, [appId, uid])
  await db.query(`delete from subscription where app_id = $1 and user_uid = $2`, [appId, uid])
  // In this order: payments are added to what the provider charges for, which is locked meanwhile.
  await db.query(`delete from provider_subscription where app_id = $1 and user_uid = $2`, [appId, uid])
  await db.query(`delete from payment where app_id = $1 and user_uid = $2`, [appId, uid])
  const { rows } = await db.query<OwnBillingId>(
    `delete from users where app_id = $1 and uid = $2 returning uid, billing_id as "billingId"`,
    [appId, uid],
  )
  await db.places.noteBillingIds(appId, rows, [])
  await eraseFromOutbox(db, appId, [uid])
  await eraseEvents(db, appId, uid)
}

export async function deleteRecentUsage(db: HomeDb, appId: string, ids: readonly string[]): Promise<void> {
  await db.query(`delete from recent_usage where app_id = $1 and user_id = any($2)`, [appId, ids])
}

/**
 * The rows of imports stay with their outcome, as the report of the file. Bad rows contain only the id of a user: one
 * of the `free` ids belongs to nobody else, any other only counts if it was theirs at that time.
 */
export async function clearImportRows(
  db: HomeDb,
  appId: string,
  { uid, knownAs }: Pick<Person, 'uid' | 'knownAs'>,
  free: readonly string[],
): Promise<void> {
  await db.query(
    `update user_import_row r set user_id = null, user_uid = null, message = null, old_email = null,
       new_email = null, old_billing_id = null, new_billing_id = null, old_name = null, new_name = null,
       old_metadata = null, new_metadata = null, plan = null
     where app_id = $1 and (user_uid = $2 or (${hasIdOnly('r')} and user_id = any($3)) or ${isBadRowOf('r', 4)})`,
    [appId, uid, free, ...knownTimes(knownAs)],
  )
}

/** The entries stay, with actor and time but without the subject. */
export async function clearAuditEntries(db: HomeDb, appId: string, seqs: readonly number[]): Promise<void> {
  await db.query(
    `update audit_entry set subject_id = null, before = null, after = null where app_id = $1 and seq = any($2)`,
    [appId, seqs],
  )
}

/** A failed event stays without its content: it shows which payment to refund. */
export async function deleteNotices(db: HomeDb, appId: string, seqs: readonly number[]): Promise<void> {
  await db.query(`delete from notice where app_id = $1 and seq = any($2) and state <> 'FAILED'`, [
    appId,
    seqs,
  ])
  await db.query(
    `update notice set payload = json_build_object('id', event_id, 'type', type) where app_id = $1 and seq = any($2)`,
    [appId, seqs],
  )
}

export async function replaceReceipt(
  db: HomeDb,
  appId: string,
  { scope, key }: { scope: string; key: string },
  results: Json,
): Promise<void> {
  await db.query(`update idempotency set results = $4 where app_id = $1 and scope = $2 and key = $3`, [
    appId,
    scope,
    key,
    JSON.stringify(results),
  ])
}

export async function deleteReceipts(
  db: HomeDb,
  appId: string,
  receipts: readonly { scope: string; key: string }[],
): Promise<void> {
  await db.query(
    `delete from idempotency i using unnest($2::text[], $3::text[]) as r (scope, key)
     where i.app_id = $1 and i.scope = r.scope and i.key = r.key`,
    [appId, receipts.map(({ scope }) => scope), receipts.map(({ key }) => key)],
  )
}

/** Jobs about objects that no longer exist. A running one ends by itself, and is deleted then. */
export async function deleteJobsAbout(db: HomeDb, refs: readonly ProviderRef[]): Promise<void> {
  await db.query(
    `delete from graphile_worker._private_jobs j using unnest($1::text[], $2::text[], $3::text[]) as r (app, provider, ref)
     where j.payload->>'appId' = r.app and j.payload->>'provider' = r.provider and j.payload->>'ref' = r.ref
       and j.locked_at is null`,
    [refs.map((r) => r.appId), refs.map((r) => r.provider), refs.map((r) => r.ref)],
  )
}
