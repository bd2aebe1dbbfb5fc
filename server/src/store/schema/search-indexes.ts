import type { Db } from '../connection/places.ts'

/**
 * Indexes of users that some lists and the search need. A migration builds them where there are few users; where there are many they are
 * built in the background, without blocking writes, and the search does without them until then.
 */
export const SEARCH_INDEXES = {
  users_by_name: `users (app_id, left(lower(name), 128) collate "C", uid) where name is not null`,
  users_by_part: 'users using gin (user_parts(app_id, id, name, email, billing_id))',
  users_with_overrides: 'users (app_id, uid) where overrides is not null',
} as const
export type SearchIndex = keyof typeof SEARCH_INDEXES

/**
 * Whether the index can be used: asked as part of each search, so that no process has to be told when it is ready. With
 * several cells, it is in each.
 */
export const isReady = (index: SearchIndex): string =>
  `(coalesce((select indisvalid from pg_index where indexrelid = to_regclass('${index}')), to_regclass('c0.users') is not null))`

/** `broken`: whoever was building it is gone. */
type IndexState = 'ready' | 'building' | 'broken' | 'missing'

export async function stateOfIndex(db: Db, index: SearchIndex): Promise<IndexState> {
  const { rows } = await db.query<{ ready: boolean; building: boolean }>(
    `select indisvalid as ready,
       exists (select from pg_stat_progress_create_index where index_relid = i.indexrelid) as building
     from pg_index i where indexrelid = to_regclass($1)`,
    [index],
  )
  const [found] = rows
  if (!found) return 'missing'
  if (found.ready) return 'ready'
  return found.building ? 'building' : 'broken'
}

/** Takes minutes where there are millions of users. Of several processes that try, one builds it and the others wait. */
export async function buildIndex(db: Db, index: SearchIndex): Promise<void> {
  await db.query(`create index concurrently if not exists ${index} on ${SEARCH_INDEXES[index]}`)
}

export async function dropIndex(db: Db, index: SearchIndex): Promise<void> {
  await db.query(`drop index concurrently if exists ${index}`)
}
