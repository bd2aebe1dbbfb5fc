import type { HomeDb } from '../connection/places.ts'

/**
 * Deletes at most `limit` deliveries whose events are no longer kept, or whose endpoint was deleted; returns their number.
 * Endpoints are found by jumping from one to the next in the primary key; the oldest deliveries of each come first.
 */
export async function pruneDeliveries(db: HomeDb, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `with recursive present as (
       (select app_id, endpoint_id from webhook_delivery order by app_id, endpoint_id limit 1)
       union all
       select n.app_id, n.endpoint_id from present p cross join lateral (
         select app_id, endpoint_id from webhook_delivery
         where (app_id, endpoint_id) > (p.app_id, p.endpoint_id) order by app_id, endpoint_id limit 1) n),
     old as (
       select p.app_id, p.endpoint_id, d.seq from present p
       left join app a on a.id = p.app_id
       left join webhook_endpoint w on w.app_id = p.app_id and w.id = p.endpoint_id
       cross join lateral (
         select seq, created_at from webhook_delivery
         where app_id = p.app_id and endpoint_id = p.endpoint_id order by seq limit $1) d
       where w.id is null or d.created_at < now() - make_interval(days => a.event_days)
       limit $1)
     delete from webhook_delivery d using old
     where (d.app_id, d.endpoint_id, d.seq) = (old.app_id, old.endpoint_id, old.seq)`,
    [limit],
  )
  return rowCount ?? 0
}
