import type { Tx } from '../connection/database.ts'
import type { HomeDb } from '../connection/places.ts'

/**
 * Deletes at most `limit` rows older than `seconds`; returns their number. The oldest come first, by an index that
 * exists for another purpose if possible, so that a table without old rows costs a page or two.
 */
export type Prune = (db: HomeDb, seconds: number, limit: number) => Promise<number>

const pruneBy =
  (sql: string): Prune =>
  async (db, seconds, limit) => {
    const { rowCount } = await db.query(sql, [seconds, limit])
    return rowCount ?? 0
  }

const CUTOFF = 'now() - make_interval(secs => $1)'

/** By app and kind of actor: applications write far more than people, and have another retention. */
const pruneAuditOf = (kinds: string) =>
  pruneBy(
    `delete from audit_entry d using (
       with recursive apps as (
         select min(app_id) as id from audit_entry
         union all
         select (select min(app_id) from audit_entry where app_id > apps.id) from apps where apps.id is not null)
       select e.app_id, e.seq from apps cross join unnest(array[${kinds}]) as kind cross join lateral (
         select app_id, seq from audit_entry
         where app_id = apps.id and actor_kind = kind and at < ${CUTOFF} order by at, seq limit $2) e
       limit $2) old
     where (d.app_id, d.seq) = (old.app_id, old.seq)`,
  )

export const pruneAudit = pruneAuditOf(`'MEMBER', 'VISITOR', 'SERVICE'`)
export const pruneApiAudit = pruneAuditOf(`'API_KEY', 'PROVIDER'`)

/** Pending events, and failed ones that nobody has handled, are kept. */
export const pruneNotices = pruneBy(
  `delete from notice n using (
     select a.id as app_id, oldest.seq from app a cross join lateral (
       select seq, received_at from notice
       where app_id = a.id and state = 'DONE' order by app_id, state, seq limit $2) oldest
     where (select received_at from notice where app_id = a.id and state = 'DONE'
         order by app_id, state, seq limit 1) < ${CUTOFF}
       and oldest.received_at < ${CUTOFF} limit $2) old
   where (n.app_id, n.seq) = (old.app_id, old.seq) and n.state = 'DONE'`,
)

/**
 * Closed links, with the sandbox's data. A paid one is kept while a later event is not done, since retrying the event
 * may need the link. A one-off purchase is kept: it may be refunded years later.
 */
export const pruneCheckouts = pruneBy(
  `with old as (
     select app_id, id from checkout_session s
     where state in ('PAID', 'FAILED', 'EXPIRED') and created_at < ${CUTOFF}
       and not (state = 'PAID' and exists (select from notice n where n.app_id = s.app_id
         and n.state in ('PENDING', 'FAILED') and n.received_at >= s.created_at))
       and not exists (select from provider_subscription p
         where (p.app_id, p.provider, p.ref) = (s.app_id, s.provider, s.provider_ref))
     order by created_at limit $2),
   books as (delete from sandbox_checkout b using old where (b.app_id, b.session_id) = (old.app_id, old.id))
   delete from checkout_session s using old where (s.app_id, s.id) = (old.app_id, old.id)`,
)

export const prunePayments = pruneBy(
  `delete from payment where ctid = any(array(
     select ctid from payment where at < ${CUTOFF} order by at limit $2))`,
)

export const pruneFeatureActivity = pruneBy(
  `delete from feature_activity where ctid = any(array(
     select ctid from feature_activity where hour < ${CUTOFF} order by hour limit $2))`,
)

/** The last minute with checks is kept: it shows the dashboard that the app has ever made one. */
export const pruneActivity = pruneBy(
  `delete from activity d using (
     select a.id as app_id, oldest.minute from app a cross join lateral (
       select minute, checks from activity
       where app_id = a.id and minute < ${CUTOFF} order by app_id, minute limit $2) oldest
     where oldest.checks = 0 or exists (select from activity later
       where later.app_id = a.id and later.minute > oldest.minute and later.checks > 0) limit $2) old
   where (d.app_id, d.minute) = (old.app_id, old.minute)`,
)

/** Expired responses of mutations with an idempotency key. */
export const pruneReceipts = pruneBy(
  `delete from idempotency where ctid = any(array(
     select ctid from idempotency where created_at < ${CUTOFF} order by created_at limit $2))`,
)

/** False: another transaction is pruning. */
export async function tryLockPruning(tx: Tx): Promise<boolean> {
  const { rows } = await tx.query<{ locked: boolean }>(
    `select pg_try_advisory_xact_lock(hashtext('tollgate pruning')) as locked`,
  )
  return rows[0]?.locked === true
}
