import pg from 'pg'
import type { Tx } from '../connection/database.ts'
import { allRows } from '../connection/merge-answers.ts'
import { type HomeDb, rowsOf } from '../connection/places.ts'
import { subtractEntries } from '../usage/usage-hours.ts'
import type { SampleKind } from './sample.ts'
import { REMOVE_SAMPLE_BILLS, SAMPLE_BILLS } from './sample-bills.ts'

/** Rows to delete with an item of each kind, the item itself last. */
const REMOVALS: Record<SampleKind, string[]> = {
  user: [
    `delete from recent_usage where app_id = $1 and user_id in (
       select id from users where app_id = $1 and uid = any($2::text[]::bigint[]))`,
    `delete from denial where app_id = $1 and user_uid = any($2::text[]::bigint[])`,
    `delete from usage_ledger where app_id = $1 and user_uid = any($2::text[]::bigint[])`,
    `delete from ledger_base where app_id = $1 and user_uid = any($2::text[]::bigint[])`,
    `delete from usage_counter where app_id = $1 and user_uid = any($2::text[]::bigint[])`,
    ...REMOVE_SAMPLE_BILLS,
    `delete from users where app_id = $1 and uid = any($2::text[]::bigint[])
     returning uid::text as id, billing_id as "billingId"`,
  ],
  template: [
    `delete from billing_template_item where app_id = $1 and template_id = any($2)`,
    `delete from billing_template where app_id = $1 and id = any($2) returning id`,
  ],
  price: [
    // A sandbox subscription has no foreign key to its price.
    `delete from price p where app_id = $1 and provider = 'sandbox' and id = any($2) and not exists (
       select from sandbox_subscription s where s.app_id = $1 and p.id = any(s.price_ids)) returning id`,
  ],
  package: [
    `delete from package_history where app_id = $1 and package_id = any($2)`,
    `delete from package_feature where app_id = $1 and package_id = any($2)`,
    `delete from package where app_id = $1 and id = any($2) returning id`,
  ],
  feature: [
    // A user may have an override of it, which would apply to another feature with that id.
    `delete from feature where app_id = $1 and id = any($2) and override_periods = '{}' and not exists (
       select from package p, json_array_elements(p.draft->'features') g
       where p.app_id = $1 and g->>'featureId' = feature.id) and not exists (
       select from package_history h, json_array_elements(h.features) g
       where h.app_id = $1 and g->>'featureId' = feature.id) returning id`,
  ],
}

const FOREIGN_KEY_VIOLATION = '23503'

/** Deletes all items of a kind, except those that something else refers to. */
export async function removeSampleItems(
  tx: Tx,
  appId: string,
  kind: SampleKind,
): Promise<{ removed: number; kept: string[] }> {
  const { rows } = await tx.query<{ id: string }>(
    `select id from sample_item where app_id = $1 and kind = $2 order by id`,
    [appId, kind],
  )
  const ids = rows.map(({ id }) => id)
  const inUse = await inUseElsewhere(tx, appId, kind, ids)
  const removable = ids.filter((id) => !inUse.has(id))
  const removed = new Set((await remove(tx, appId, kind, removable)) ?? [])
  if (removed.size === 0) {
    for (const id of removable)
      for (const one of (await remove(tx, appId, kind, [id])) ?? []) removed.add(one)
  }
  return { removed: removed.size, kept: ids.filter((id) => !removed.has(id)) }
}

/** The deleted items; null: one of them is referred to, and none was deleted. */
async function remove(
  tx: Tx,
  appId: string,
  kind: SampleKind,
  ids: readonly string[],
): Promise<string[] | null> {
  await tx.query('savepoint removal')
  try {
    const removal = async (db: HomeDb) => {
      let removed: { id: string; billingId?: string | null }[] = []
      if (kind === 'user') {
        await db.places.holdLedger()
        await subtractEntries(db, appId, ids)
      }
      for (const text of REMOVALS[kind]) removed = (await db.query(text, [appId, ids])).rows
      if (kind === 'user') {
        const before = removed.map(({ id, billingId = null }) => ({ uid: Number(id), billingId }))
        await db.places.noteBillingIds(appId, before, [])
      }
      return removed.map(({ id }) => id)
    }
    const removed = kind === 'user' ? (await tx.places.writeEach(removal)).flat() : await removal(tx)
    await tx.query('release savepoint removal')
    return removed
  } catch (error) {
    await tx.query('rollback to savepoint removal; release savepoint removal')
    if (error instanceof pg.DatabaseError && error.code === FOREIGN_KEY_VIOLATION) return null
    throw error
  }
}

/** Items in use that no foreign key protects. */
async function inUseElsewhere(
  tx: Tx,
  appId: string,
  kind: SampleKind,
  ids: readonly string[],
): Promise<Set<string>> {
  if (kind === 'user') return billedUsers(tx, appId, ids)
  if (kind === 'package' && tx.places.acrossServers) return subscribedPackages(tx, appId, ids)
  return new Set()
}

/** The packages that somebody is subscribed to, also on another server. From here on nobody else subscribes to any. */
async function subscribedPackages(tx: Tx, appId: string, ids: readonly string[]): Promise<Set<string>> {
  await tx.query(`select from package where app_id = $1 and id = any($2) order by id for update`, [
    appId,
    ids,
  ])
  const find = rowsOf<{ id: string }>({
    text: `select distinct package_id as id from subscription where app_id = $1 and package_id = any($2)`,
    values: [appId, ids],
  })
  return new Set((await tx.places.each(find, allRows())).map(({ id }) => id))
}

/** The users among these who are charged for more than the sample. */
async function billedUsers(tx: Tx, appId: string, uids: readonly string[]): Promise<Set<string>> {
  const { rows } = await tx.query<{ uid: string }>(
    `select user_uid::text as uid from provider_subscription
     where app_id = $1 and user_uid = any($2::text[]::bigint[]) and not starts_with(ref, $3)
     union select user_uid::text from checkout_session
     where app_id = $1 and user_uid = any($2::text[]::bigint[])`,
    [appId, uids, SAMPLE_BILLS],
  )
  return new Set(rows.map(({ uid }) => uid))
}
