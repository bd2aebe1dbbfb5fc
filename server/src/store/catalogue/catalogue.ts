import type { ApiKeyScope } from '../../domain/api-key-scope.ts'
import {
  buildCatalogue,
  type Catalogue,
  type FeatureContent,
  type PackageContent,
} from '../../domain/catalogue.ts'
import type { HomeDb, PlaceLayout } from '../connection/places.ts'

export interface LoadedApp {
  version: number
  catalogue: Catalogue
  /** The valid API keys by their hash in hex. */
  keys: ReadonlyMap<string, LoadedKey>
  /** Ids of keys whose user tokens are rejected. */
  revokedTokenKeys: ReadonlySet<string>
  /** The origins whose pages may use the client API. */
  origins: readonly string[]
  archived: boolean
  /** Whether it has a test clock. */
  testClock: boolean
  /** whether each recorded call is an event */
  usageEvents: boolean
  /** whether any rule buys credits automatically; it may stay true after the last one was removed */
  recharges: boolean
  /** where its users are; null: all in one place */
  layout: PlaceLayout | null
}

export interface LoadedKey {
  /** milliseconds, when it was read; infinite: no end */
  left: number
  scope: ApiKeyScope
}

type PackageRow = Omit<PackageContent, 'updatedAt' | 'entries'> & {
  updatedAt: string
  entries: (Omit<PackageContent['entries'][number], 'at'> & { at: string })[]
}

interface Row {
  version: number
  /** with the milliseconds left, by the database's time; null: no end */
  keys: { hash: string; left: number | null; scope: ApiKeyScope }[]
  revokedTokenKeys: string[]
  origins: string[]
  archived: boolean
  testClock: boolean
  usageEvents: boolean
  recharges: boolean
  layout: PlaceLayout | null
  features: FeatureContent[]
  packages: PackageRow[]
}

/**
 * The package's history since all subscriptions last had one version, if any, and the grants of the versions in use:
 * also an older one, if subscriptions were moved back to it.
 */
const ENTRIES = `(select coalesce(json_agg(json_build_object('position', h.position, 'kind', h.kind,
     'from', h.from_version, 'to', h.to_version, 'reach', h.reach, 'at', h.at, 'features', h.features)
     order by h.position), '[]')
   from (select coalesce(max(position), 1) as position from package_history
     where app_id = p.app_id and package_id = p.id and kind = 'PUBLISHED' and reach = 'ALL') last_for_all
   join package_history h on h.app_id = p.app_id and h.package_id = p.id and h.undone_at is null
     and (h.position >= last_for_all.position or h.kind = 'PUBLISHED' and h.from_version in (
       select m.to_version from package_history m
       where m.app_id = p.app_id and m.package_id = p.id and m.kind = 'MIGRATED' and m.undone_at is null
         and m.position > last_for_all.position))
   where last_for_all.position < p.history)`

/** Everything that changes rarely, in one statement: one snapshot, so version and content match. */
export async function loadApp(db: HomeDb, appId: string): Promise<LoadedApp | null> {
  const { rows } = await db.query<Row>({
    name: 'load-app',
    text: `
select app.version, app.origins, app.archived_at is not null as archived, app.test_clock is not null as "testClock",
  app.usage_events as "usageEvents", coalesce((select true from recharge_rule where app_id = app.id order by user_uid limit 1), false) as recharges,
  (select json_build_object('all', json_agg(json_build_object('schema', schema, 'remote', remote) order by id),
     'buckets', (select json_agg(cell order by bucket) from cell_bucket)) from cell having count(*) > 0) as layout,
  (select coalesce(json_agg(json_build_object('hash', encode(hash, 'hex'), 'scope', scope,
     'left', extract(epoch from expires_at - statement_timestamp()) * 1000)), '[]') from api_key
   where app_id = app.id and revoked_at is null) as keys,
  (select coalesce(json_agg(id), '[]') from token_key where app_id = app.id and revoked_at is not null)
    as "revokedTokenKeys",
  (select coalesce(json_agg(json_build_object(
     'id', id, 'name', name, 'type', type, 'unitLabel', unit_label, 'unitLabelPlural', unit_label_plural,
     'metadata', metadata, 'thresholds', thresholds, 'costs', costs, 'overridePeriods', override_periods, 'spends', spends, 'archived', archived_at is not null) order by seq), '[]') from feature where app_id = app.id) as features,
  (select coalesce(json_agg(json_build_object(
     'id', p.id, 'name', p.name, 'status', p.status, 'isAddon', p.is_addon, 'metadata', p.metadata,
     'draft', p.draft, 'updatedAt', p.updated_at, 'version', p.version, 'history', p.history,
     'archived', p.archived_at is not null,
     'scheduled', (select json_build_object('at', (extract(epoch from p.publish_at) * 1000)::bigint, 'reach', s.reach,
        'note', s.note, 'memberId', s."memberId", 'author', s.author, 'problem', s.problem)
        from json_to_record(p.publication) as s (reach text, note text, "memberId" bigint, author text, problem text)
        where p.publish_at is not null),
     'entries', ${ENTRIES},
     'features', (select coalesce(json_agg(json_build_object(
        'featureId', feature_id, 'limit', "limit", 'resetPeriod', reset_period,
        'overageEnabled', overage_enabled, 'overageCap', overage_cap, 'caps', caps) order by position), '[]')
        from package_feature where app_id = p.app_id and package_id = p.id),
     'prices', (select coalesce(json_agg(json_build_object(
        'id', id, 'provider', provider, 'amount', amount, 'currency', currency, 'interval', interval,
        'isDefault', is_default)
        order by seq), '[]')
        from price where app_id = p.app_id and package_id = p.id and archived_at is null)) order by seq), '[]')
   from package p where app_id = app.id) as packages
from app where id = $1 and deleting_since is null`,
    values: [appId],
  })
  const row = rows[0]
  if (!row) return null
  if (row.layout) await db.places.refreshIfChanged(row.layout)
  return {
    version: row.version,
    keys: new Map(row.keys.map(({ hash, left, scope }) => [hash, { left: left ?? Infinity, scope }])),
    revokedTokenKeys: new Set(row.revokedTokenKeys),
    origins: row.origins,
    archived: row.archived,
    testClock: row.testClock,
    usageEvents: row.usageEvents,
    recharges: row.recharges,
    layout: row.layout,
    catalogue: buildCatalogue(row.features, row.packages.map(fromRow)),
  }
}

function fromRow(row: PackageRow): PackageContent {
  return {
    ...row,
    updatedAt: Date.parse(row.updatedAt),
    entries: row.entries.map((entry) => ({ ...entry, at: Date.parse(entry.at) })),
  }
}

export async function setArchived(
  db: HomeDb,
  table: 'feature' | 'package',
  appId: string,
  id: string,
  archived: boolean,
): Promise<void> {
  await db.query(
    `update ${table} set archived_at = case when $3 then coalesce(archived_at, now()) end
     where app_id = $1 and id = $2`,
    [appId, id, archived],
  )
}
