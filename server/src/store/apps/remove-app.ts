import { TryAgain, type Tx } from '../connection/database.ts'
import { allRows } from '../connection/merge-answers.ts'
import type { HomeDb } from '../connection/places.ts'
import { bumpVersion } from './apps.ts'

/** Serialises archiving and deleting apps, so that the last app in use stays. */
export async function lockAppRemoval(tx: Tx): Promise<void> {
  await tx.query(`select pg_advisory_xact_lock(hashtext('tollgate removal of apps'))`)
}

export async function archiveApp(db: HomeDb, id: string, archived: boolean): Promise<void> {
  await db.query(
    `update app set archived_at = case when $2 then coalesce(archived_at, now()) end where id = $1`,
    [id, archived],
  )
}

export async function isAnotherInUse(db: HomeDb, id: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `select from app where id <> $1 and archived_at is null and deleting_since is null limit 1`,
    [id],
  )
  return rowCount === 1
}

/** Open charges at one provider, or at all but the sandbox, which charges nobody. */
export interface StillPaid {
  paid: number
  openLinks: number
}

export async function stillPaid(db: HomeDb, appId: string, provider: string | null): Promise<StillPaid> {
  const asked = `app_id = $1 and case when $2::text is null then provider <> 'sandbox' else provider = $2 end`
  const { rows } = await db.query<StillPaid>(
    `select (select count(*) from provider_subscription where ${asked} and live) as paid,
       (select count(*) from checkout_session where ${asked} and state in ('OPEN', 'AWAITING')) as "openLinks"`,
    [appId, provider],
  )
  return rows[0] ?? { paid: 0, openLinks: 0 }
}

export interface AppContent {
  users: number
  subscriptions: number
  ledgerEntries: number
  features: number
  packages: number
  payments: number
  auditEntries: number
  /** valid ones */
  keys: number
}

/** Numbers of objects in an app. */
export async function countAppContent(db: HomeDb, appId: string): Promise<AppContent> {
  const count = (table: string, and = '') => `(select count(*) from ${table} where app_id = $1 ${and})`
  const { rows } = await db.query<AppContent>(
    `select ${count('users')} as users, ${count('subscription')} as subscriptions,
       ${count('usage_ledger')} as "ledgerEntries", ${count('feature')} as features, ${count('package')} as packages,
       ${count('payment')} as payments, ${count('audit_entry')} as "auditEntries",
       ${count('api_key', 'and revoked_at is null and (expires_at is null or expires_at > now())')} as keys`,
    [appId],
  )
  if (!rows[0]) throw new Error('the count query returned no row')
  return rows[0]
}

/** From now on the app does not exist for anyone; its keys and its users' tokens stop working. */
export async function beginAppDeletion(tx: Tx, id: string): Promise<void> {
  await tx.query(`update app set deleting_since = now() where id = $1`, [id])
  await tx.query(`update api_key set revoked_at = now() where app_id = $1 and revoked_at is null`, [id])
  await bumpVersion(tx, id)
}

/** Apps being deleted. */
export async function appsBeingDeleted(db: HomeDb): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(`select id from app where deleting_since is not null`)
  return rows.map(({ id }) => id)
}

/** All tables of an app, each before those it refers to. */
const CONTENT = [
  'bulk_change_row',
  'bulk_change',
  'webhook_delivery',
  'webhook_endpoint',
  'user_import_row',
  'user_import',
  'denial',
  'recent_usage',
  'usage_reservation',
  'usage_cap',
  'credit',
  'spender',
  'usage_ledger',
  'ledger_base',
  'usage_counter',
  'usage_hour',
  'idempotency',
  'notice',
  'payment',
  'subscription',
  'provider_subscription',
  'recharge_attempt',
  'recharge_rule',
  'checkout_session',
  'billing_template_item',
  'billing_template',
  'price',
  'package_history',
  'package_feature',
  'package',
  'feature_activity',
  'feature',
  'users',
  'user_billing_id',
  'sandbox_event',
  'sandbox_invoice',
  'sandbox_subscription',
  'sandbox_checkout',
  'sandbox_customer',
  'provider_account',
  'token_key',
  'api_key',
  'activity',
  'sample_activity',
  'sample_item',
  'revenue_figures',
  'erased_ref',
  'audit_entry',
  'event_due',
  'event_outbox',
  'event_log',
]

/**
 * Deletes at most `most` rows of an app that is being deleted, and after the last of them the app. False: nothing is
 * left. Nothing is stored between two batches.
 *
 * The lock waits for transactions that began before the deletion and have written rows of the app: their rows refer to
 * it, or they hold it themselves.
 */
export async function deleteAppBatch(tx: Tx, id: string, most: number): Promise<boolean> {
  const { rowCount: present } = await tx.query(
    `select from app where id = $1 and deleting_since is not null for update`,
    [id],
  )
  if (present === 0) return false
  let left = most
  for (const table of CONTENT) {
    left -= await deleteRows(tx, table, id, left)
    if (left <= 0) break
  }
  if (left < most) {
    await tx.query(`update app set deleted_rows = deleted_rows + $2 where id = $1`, [id, most - left])
    return true
  }
  await deleteJobsOfApp(tx, id)
  await tx.query(`delete from app where id = $1`, [id])
  return false
}

/** User tables, of which each place has its own. */
const USER_TABLES = ['users', 'subscription', 'usage_counter', 'usage_ledger', 'ledger_base']

async function deleteRows(tx: Tx, table: string, appId: string, most: number): Promise<number> {
  if (!USER_TABLES.includes(table)) return deleteRowsIn(tx, table, appId, most)
  let deleted = 0
  await tx.places.writeEach(async (db) => {
    // Keeps a partition that is being retired from being summed up again for nothing.
    if (table === 'usage_ledger' && (await hasRows(db, table, appId))) await db.places.holdLedger()
    if (deleted < most) deleted += await deleteRowsIn(db, table, appId, most - deleted)
  })
  return deleted
}

async function hasRows(db: HomeDb, table: string, appId: string): Promise<boolean> {
  const { rowCount } = await db.query(`select from ${table} where app_id = $1 limit 1`, [appId])
  return rowCount === 1
}

async function deleteRowsIn(db: HomeDb, table: string, appId: string, most: number): Promise<number> {
  const { rowCount } = await db.query(
    `delete from ${table} where app_id = $1 and ctid = any(array(
       select ctid from ${table} where app_id = $1 limit $2))`,
    [appId, most],
  )
  return rowCount ?? 0
}

/** A running job ends by itself: it finds nothing. */
async function deleteJobsOfApp(tx: Tx, id: string): Promise<void> {
  await tx.query(
    `delete from graphile_worker._private_jobs where payload->>'appId' = $1 and locked_at is null`,
    [id],
  )
}

/**
 * Tables without foreign keys, some of them only with several cells. A call in progress may still write to them after
 * its app's last row was deleted.
 */
const UNTIED = [
  'activity',
  'audit_entry',
  'event_due',
  'event_log',
  'event_outbox',
  'idempotency',
  'ledger_base',
  'payment',
  'provider_subscription',
  'recent_usage',
  'sample_activity',
  'sample_item',
  'usage_counter',
  'usage_hour',
  'usage_ledger',
  'user_billing_id',
  'user_import_row',
  'webhook_delivery',
]

/** Deletes at most `most` rows of deleted apps; returns their number. */
export async function deleteRowsOfGoneApps(tx: Tx, most: number): Promise<number> {
  let deleted = 0
  for (const table of UNTIED) {
    const owners = USER_TABLES.includes(table)
      ? await tx.places.each((db) => appsIn(db, table), allRows<string>())
      : await appsIn(tx, table)
    for (const id of await goneOf(tx, owners)) {
      deleted += await deleteOfGoneApp(tx, table, id, most - deleted)
      if (deleted >= most) return deleted
    }
  }
  return deleted
}

/** Rows without an app belong to nobody, even if an app with that id is created next. */
async function deleteOfGoneApp(tx: Tx, table: string, id: string, most: number): Promise<number> {
  const deleted = await deleteRows(tx, table, id, most)
  const { rowCount: present } = await tx.query(`select from app where id = $1`, [id])
  if (present !== 0) throw new TryAgain()
  return deleted
}

async function appsIn(db: HomeDb, table: string): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `with recursive apps as (
       (select app_id as id from ${table} order by app_id limit 1)
       union all
       select (select app_id from ${table} where app_id > apps.id order by app_id limit 1) from apps where apps.id is not null)
     select id from apps where id <> ''`,
  )
  return rows.map(({ id }) => id)
}

/** The apps that are gone among those with rows: another server has no list of apps to compare with. */
async function goneOf(db: HomeDb, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const { rows } = await db.query<{ id: string }>(
    `select distinct r.id from unnest($1::text[]) as r (id) where not exists (select from app where app.id = r.id)`,
    [ids],
  )
  return rows.map(({ id }) => id)
}
