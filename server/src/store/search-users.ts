import type { Db } from './database.ts'
import { isReady } from './search-indexes.ts'
import type { UserRow } from './users.ts'

export type ListedUser = UserRow & { createdAt: number }

/** What a search found a user by, in the order of the results: the beginning of these, or a part of any of them. */
export const FOUND_BY = ['id', 'email', 'billingId', 'name', 'part'] as const
type FoundBy = (typeof FOUND_BY)[number]

/** Where a search continues: after this key among those found by that. */
export interface SearchCursor {
  by: FoundBy
  key: string
  uid: number
}

export type FoundUser = ListedUser & { by: FoundBy; key: string }

export const LISTED = `uid, id, billing_id as "billingId", name, email, metadata, created_at as "createdAt"`

/** As indexed: byte by byte, and only the beginning of an address or a name. */
const KEYS: Record<Exclude<FoundBy, 'part'>, string> = {
  id: `id collate "C"`,
  email: `left(lower(email), 128) collate "C"`,
  billingId: `billing_id collate "C"`,
  name: `left(lower(name), 128) collate "C"`,
}
const BEGINNINGS = Object.keys(KEYS) as (keyof typeof KEYS)[]

/** Appended to a prefix, it sorts after everything that starts with the prefix. */
const LAST = '\u{10ffff}'

/**
 * Users whose id, address, billing id or name starts with the text: ranges of four indexes, one after the other. A user
 * matched twice appears twice.
 */
export async function usersBeginningWith(
  db: Db,
  appId: string,
  text: string,
  after: SearchCursor | null,
  limit: number,
): Promise<FoundUser[]> {
  if (after?.by === 'part') return []
  const folded = text.toLowerCase()
  const prefixes: typeof KEYS = { id: text, email: folded, billingId: text, name: folded }
  const values: unknown[] = [appId, limit]
  const take = (value: unknown) => `$${values.push(value)}`
  const ranges = BEGINNINGS.slice(after ? BEGINNINGS.indexOf(after.by) : 0).map((by) => {
    const [key, prefix] = [KEYS[by], prefixes[by].slice(0, 128)]
    const rest =
      after?.by === by ? `and (${key}, uid) > (${take(after.key)} collate "C", ${take(after.uid)})` : ''
    const ready = by === 'name' ? `and ${isReady('users_by_name')}` : ''
    return `(select ${LISTED}, '${by}' as by, ${key} as key from users
      where app_id = $1 and ${key} >= ${take(prefix)} and ${key} < ${take(prefix + LAST)} ${rest} ${ready}
      order by ${key}, uid limit $2)`
  })
  const { rows } = await db.query<FoundUser>({
    // Planning the ranges takes longer than reading them.
    name: after ? `search-users-after-${after.by}` : 'search-users',
    text: `select * from (${ranges.join(' union all ')}) found limit $2`,
    values,
  })
  return rows
}

/**
 * Users with every word of the text somewhere in their id, name, address or billing id: first those in whose name a
 * word begins so, then the others, oldest first; none that `usersBeginningWith` finds. Of more than `most`, which ones is
 * left open.
 */
export async function usersContaining(
  db: Db,
  appId: string,
  text: string,
  after: SearchCursor | null,
  limit: number,
  most: number,
): Promise<FoundUser[]> {
  const { rows } = await db.query<FoundUser>({
    name: 'search-users-by-part',
    text: `
      select * from (
        select ${LISTED}, 'part' as by,
          case when strpos(' ' || lower(name), ' ' || s.text) > 0 then '0' else '1' end collate "C" as key
        from users, (select lower($2 collate "default") as text, array(
            select '%' || regexp_replace(word, '([\\\\%_])', '\\\\\\1', 'g') || '%'
            from string_to_table(lower($2 collate "default"), ' ') as word) as words offset 0) s
        where app_id = $1 and user_parts(app_id, id, name, email, billing_id) @@ parts_of_search($1, $2)
          and ${isReady('users_by_part')} and not starts_with(id, $2)
          and not coalesce(starts_with(lower(email), s.text), false)
          and not coalesce(starts_with(billing_id, $2), false)
          and not coalesce(starts_with(lower(name), s.text), false)
          and lower(concat_ws(' ', id, name, email, billing_id) collate "default") like all (s.words)
        limit $3) found
      where (key, uid) > ($4, $5) order by key, uid limit $6`,
    values: [appId, text, most, after?.by === 'part' ? after.key : '', after?.uid ?? 0, limit],
  })
  return rows
}
