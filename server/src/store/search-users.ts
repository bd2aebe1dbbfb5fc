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
 * Users whose id, address, billing id or name starts with the text, by ranges of four indexes, one after the other: a
 * user matched twice appears twice. Then, up to `byPart`, those with every word of the text somewhere in these; of more,
 * which ones is left open. One statement, whose later parts are not run once there are enough.
 */
export async function searchUsers(
  db: Db,
  appId: string,
  text: string,
  after: SearchCursor | null,
  limit: number,
  byPart: number,
): Promise<FoundUser[]> {
  const folded = text.toLowerCase()
  const prefixes: typeof KEYS = { id: text, email: folded, billingId: text, name: folded }
  const values: unknown[] = [appId, limit]
  const take = (value: unknown) => `$${values.push(value)}`
  const left = after?.by === 'part' ? [] : BEGINNINGS.slice(after ? BEGINNINGS.indexOf(after.by) : 0)
  const ranges = left.map((by) => {
    const [key, prefix] = [KEYS[by], prefixes[by].slice(0, 128)]
    const rest =
      after?.by === by ? `and (${key}, uid) > (${take(after.key)} collate "C", ${take(after.uid)})` : ''
    const ready = by === 'name' ? `and ${isReady('users_by_name')}` : ''
    return `(select ${LISTED}, '${by}' as by, ${key} as key from users
      where app_id = $1 and ${key} >= ${take(prefix)} and ${key} < ${take(prefix + LAST)} ${rest} ${ready}
      order by ${key}, uid limit $2)`
  })
  if (byPart > 0) {
    const from = after?.by === 'part' ? [after.key, after.uid] : ['', 0]
    ranges.push(`(select ${LISTED}, 'part' as by, key
      from users_with_part($1, ${take(text)}, ${take(byPart)}, ${from.map(take).join(', ')}, $2))`)
  }
  if (ranges.length === 0) return []
  const { rows } = await db.query<FoundUser>({
    // Planning the ranges takes longer than reading them.
    name: `search-users-${byPart > 0 ? 'part-' : ''}${after ? `after-${after.by}` : 'all'}`,
    text: `select * from (${ranges.join(' union all ')}) found limit $2`,
    values,
  })
  return rows
}
