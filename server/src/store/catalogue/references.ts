import { timestamp } from '../connection/database.ts'
import { sums } from '../connection/merge-answers.ts'
import { type HomeDb, rowOf } from '../connection/places.ts'

// References to objects that are about to be archived or deleted.

/** Waits for transactions that subscribe to the package, and blocks further ones. False: there is no such package. */
export async function lockPackage(db: HomeDb, appId: string, id: string): Promise<boolean> {
  const { rowCount } = await db.query(`select from package where app_id = $1 and id = $2 for update`, [
    appId,
    id,
  ])
  return rowCount === 1
}

export interface PackageReferences {
  /** including ended ones */
  subscriptions: number
  live: number
  templates: number
}

export async function packageReferences(
  db: HomeDb,
  appId: string,
  id: string,
  now: number,
): Promise<PackageReferences> {
  const held = await db.places.each(
    rowOf<{ subscriptions: number; live: number }>({
      text: `select count(*)::int as subscriptions,
        (count(*) filter (where cancelled_at is null and (cancel_at is null or cancel_at > $3)))::int as live
      from subscription where app_id = $1 and package_id = $2`,
      values: [appId, id, timestamp(now)],
    }),
    sums(),
  )
  const { rows } = await db.query<{ templates: number }>(
    `select count(distinct template_id)::int as templates from billing_template_item where app_id = $1 and package_id = $2`,
    [appId, id],
  )
  return { ...held, templates: rows[0]?.templates ?? 0 }
}

/** The packages that granted the feature in an earlier version. */
export async function packagesThatGranted(db: HomeDb, appId: string, featureId: string): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select distinct package_id as id from package_history h
     where app_id = $1 and exists (
       select from json_array_elements(coalesce(h.features, '[]')) f where f->>'featureId' = $2)`,
    [appId, featureId],
  )
  return rows.map(({ id }) => id)
}

/** Waits for transactions that create a payment link from the template. False: there is no such template. */
export async function lockTemplate(db: HomeDb, appId: string, id: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `select from billing_template where app_id = $1 and id = $2 for update`,
    [appId, id],
  )
  return rowCount === 1
}

/** Number of stored payment links of a template. */
export async function linksOfTemplate(db: HomeDb, appId: string, id: string): Promise<number> {
  const { rows } = await db.query<{ links: number }>(
    `select count(*)::int as links from checkout_session where app_id = $1 and template_id = $2`,
    [appId, id],
  )
  return rows[0]?.links ?? 0
}
