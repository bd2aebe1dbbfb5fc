import type { Db } from './database.ts'
import type { UserRow } from './users.ts'

export type ListedUser = UserRow & { createdAt: number }

/** What a search matched a user by, in the order of the results. */
export const FOUND_BY = ['id', 'email', 'billingId'] as const
type FoundBy = (typeof FOUND_BY)[number]

/** Where a search continues: after this key among the matches by that field. */
export interface SearchCursor {
  by: FoundBy
  key: string
  uid: number
}

export type FoundUser = ListedUser & { by: FoundBy; key: string }

const COLUMNS = `uid, id, billing_id as "billingId", name, email, metadata, created_at as "createdAt"`

/** As indexed: byte by byte, and only the beginning of an address. */
const KEYS: Record<FoundBy, string> = {
  id: `id collate "C"`,
  email: `left(lower(email), 128) collate "C"`,
  billingId: `billing_id collate "C"`,
}

/** Newest first, starting before `before`. */
export async function newestUsers(
  db: Db,
  appId: string,
  before: number,
  limit: number,
): Promise<ListedUser[]> {
  const { rows } = await db.query<ListedUser>({
    name: 'newest-users',
    text: `select ${COLUMNS} from users where app_id = $1 and uid < $2 order by uid desc limit $3`,
    values: [appId, before, limit],
  })
  return rows
}

/** Appended to a prefix, it sorts after everything that starts with the prefix. */
const LAST = '\u{10ffff}'

/**
 * Users whose id, address or billing id starts with the text: three ranges of three indexes, one after the other. A
 * user matched twice appears twice.
 */
export async function usersBeginningWith(
  db: Db,
  appId: string,
  text: string,
  after: SearchCursor | null,
  limit: number,
): Promise<FoundUser[]> {
  const prefixes: Record<FoundBy, string> = { id: text, email: text.toLowerCase(), billingId: text }
  const values: unknown[] = [appId, limit]
  const take = (value: unknown) => `$${values.push(value)}`
  const ranges = FOUND_BY.slice(after ? FOUND_BY.indexOf(after.by) : 0).map((by) => {
    const [key, prefix] = [KEYS[by], prefixes[by].slice(0, 128)]
    const rest =
      after?.by === by ? `and (${key}, uid) > (${take(after.key)} collate "C", ${take(after.uid)})` : ''
    return `(select ${COLUMNS}, '${by}' as by, ${key} as key from users
      where app_id = $1 and ${key} >= ${take(prefix)} and ${key} < ${take(prefix + LAST)} ${rest}
      order by ${key}, uid limit $2)`
  })
  const { rows } = await db.query<FoundUser>({
    // Planning three ranges takes longer than reading them.
    name: after ? `search-users-after-${after.by}` : 'search-users',
    text: `select * from (${ranges.join(' union all ')}) found limit $2`,
    values,
  })
  return rows
}
