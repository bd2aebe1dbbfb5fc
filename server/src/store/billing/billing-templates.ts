import type { Price } from '../../domain/price.ts'
import type { SaleTerms } from '../../domain/sale-terms.ts'
import type { HomeDb } from '../connection/places.ts'

export interface TemplateRow {
  id: string
  name: string
  createdAt: number
  archivedAt: number | null
  items: { packageId: string; chosen: (Price & { archived: boolean }) | null }[]
  terms: SaleTerms
}

const SELECT = `
select t.id, t.name, t.created_at as "createdAt", t.archived_at as "archivedAt", t.terms,
  (select coalesce(json_agg(json_build_object('packageId', i.package_id, 'chosen', case when p.id is not null then
     json_build_object('id', p.id, 'provider', p.provider, 'amount', p.amount, 'currency', p.currency,
       'interval', p.interval, 'archived', p.archived_at is not null) end) order by i.position), '[]')
   from billing_template_item i
   left join price p on p.app_id = i.app_id and p.provider = i.provider and p.id = i.price_id
   where i.app_id = t.app_id and i.template_id = t.id) as items
from billing_template t`

interface NewTemplate {
  id: string
  name: string
  items: { packageId: string; price: Price | null }[]
  terms: SaleTerms
}

export async function countTemplates(db: HomeDb, appId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    'select count(*) as count from billing_template where app_id = $1',
    [appId],
  )
  return rows[0]?.count ?? 0
}

/** False: the id is taken. */
export async function insertTemplate(
  db: HomeDb,
  appId: string,
  { id, name, items, terms }: NewTemplate,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into billing_template (app_id, id, name, terms) values ($1, $2, $3, $4) on conflict do nothing`,
    [appId, id, name, JSON.stringify(terms)],
  )
  if (rowCount !== 1) return false
  await db.query(
    `insert into billing_template_item (app_id, template_id, position, package_id, provider, price_id)
     select $1, $2, position, package_id, provider, price_id
     from unnest($3::text[], $4::text[], $5::text[]) with ordinality as i (package_id, provider, price_id, position)`,
    [
      appId,
      id,
      items.map((i) => i.packageId),
      items.map((i) => i.price?.provider ?? null),
      items.map((i) => i.price?.id ?? null),
    ],
  )
  return true
}

export async function findTemplate(db: HomeDb, appId: string, id: string): Promise<TemplateRow | null> {
  const { rows } = await db.query<TemplateRow>(`${SELECT} where t.app_id = $1 and t.id = $2`, [appId, id])
  return rows[0] ?? null
}

/** Oldest first. */
export async function listTemplates(
  db: HomeDb,
  appId: string,
  includeArchived: boolean,
): Promise<TemplateRow[]> {
  const { rows } = await db.query<TemplateRow>(
    `${SELECT} where t.app_id = $1 and ($2 or t.archived_at is null) order by t.seq`,
    [appId, includeArchived],
  )
  return rows
}

/** False: there is no such template. */
export async function archiveTemplate(
  db: HomeDb,
  appId: string,
  id: string,
  archived: boolean,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update billing_template set archived_at = case when $3 then coalesce(archived_at, now()) end
     where app_id = $1 and id = $2`,
    [appId, id, archived],
  )
  return rowCount === 1
}

export async function deleteTemplate(db: HomeDb, appId: string, id: string): Promise<void> {
  await db.query(`delete from billing_template_item where app_id = $1 and template_id = $2`, [appId, id])
  await db.query(`delete from billing_template where app_id = $1 and id = $2`, [appId, id])
}
