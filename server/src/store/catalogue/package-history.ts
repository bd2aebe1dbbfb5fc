import type { HistoryContent } from '../../domain/catalogue.ts'
import { entitlementOf } from '../../domain/package.ts'
import { timestamp } from '../connection/database.ts'
import type { HomeDb } from '../connection/places.ts'

/** Author and note of a version; null: not recorded. */
export interface Authorship {
  /** email address of the member */
  author: string | null
  note: string | null
}

/** An entry of a package's history, including undone ones. */
export interface HistoryRow extends HistoryContent, Authorship {
  /** set for a migration */
  id: string | null
  undoneAt: number | null
}

const SELECT = `select position, kind, from_version as "from", to_version as "to", reach, at, features, id,
  author, note, undone_at as "undoneAt" from package_history`

/** The whole history of the package's versions, oldest first. */
export async function packageHistory(db: HomeDb, appId: string, packageId: string): Promise<HistoryRow[]> {
  const { rows } = await db.query<HistoryRow>(
    `${SELECT} where app_id = $1 and package_id = $2 order by position`,
    [appId, packageId],
  )
  return rows
}

export async function packageOfMigration(db: HomeDb, appId: string, id: string): Promise<string | null> {
  const { rows } = await db.query<{ packageId: string }>(
    `select package_id as "packageId" from package_history where app_id = $1 and id = $2`,
    [appId, id],
  )
  return rows[0]?.packageId ?? null
}

/** Adds the next entry to the package's history. After a publication, its `to` is the newest version. */
export async function addToHistory(
  db: HomeDb,
  appId: string,
  packageId: string,
  entry: Omit<HistoryRow, 'undoneAt'>,
): Promise<void> {
  await db.query(
    `insert into package_history (app_id, package_id, position, kind, from_version, to_version, reach, at, features, id,
       author, note)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    [
      appId,
      packageId,
      entry.position,
      entry.kind,
      entry.from,
      entry.to,
      entry.reach,
      timestamp(entry.at),
      entry.features && JSON.stringify(entry.features.map(entitlementOf)),
      entry.id,
      entry.author,
      entry.note,
    ],
  )
  await db.query(
    `update package set history = $3, version = case when $4 = 'PUBLISHED' then $5 else version end
     where app_id = $1 and id = $2`,
    [appId, packageId, entry.position, entry.kind, entry.to],
  )
}

export async function markUndone(db: HomeDb, appId: string, id: string, now: number): Promise<void> {
  await db.query(`update package_history set undone_at = $3 where app_id = $1 and id = $2`, [
    appId,
    id,
    timestamp(now),
  ])
}
