import { APP_NOW } from '../apps/apps.ts'
import type { HomeDb } from '../connection/places.ts'

/** Packages whose scheduled publication is due, the longest overdue first. An archived app publishes nothing. */
export async function duePublications(
  db: HomeDb,
  most: number,
): Promise<{ appId: string; packageId: string }[]> {
  const { rows } = await db.query<{ appId: string; packageId: string }>(
    `select p.app_id as "appId", p.id as "packageId" from package p join app on app.id = p.app_id
     where p.publish_at is not null and p.publish_at <= ${APP_NOW} and p.publication->>'problem' is null
       and app.deleting_since is null and app.archived_at is null
     order by p.publish_at limit $1`,
    [most],
  )
  return rows
}
