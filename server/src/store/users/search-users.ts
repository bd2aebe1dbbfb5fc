import type { JsonObject } from '../../domain/metadata.ts'
import { parseTimestamp } from '../connection/database.ts'
import { compareBytes, firstRows } from '../connection/merge-answers.ts'
import type { HomeDb } from '../connection/places.ts'
import { Prepared } from '../connection/prepared.ts'
import type { UserRow } from './users.ts'

export type ListedUser = Omit<UserRow, 'overrides'> & { createdAt: number }

/** Kind of match, in the order of the results: the beginning of these fields, or a part of any field. */
export const MATCHED_BY = ['id', 'email', 'billingId', 'name', 'part'] as const
type MatchedBy = (typeof MATCHED_BY)[number]

/** Where a search continues: after this key among the matches of that kind. */
export interface SearchCursor {
  by: MatchedBy
  key: string
  uid: number
}

export type UserMatch = ListedUser & { by: MatchedBy; key: string }

export const LISTED = `uid, id, billing_id as "billingId", name, email, metadata, created_at as "createdAt"`

/** As indexed: byte by byte, and only the beginning of an address or a name. */
const KEYS: Record<Exclude<MatchedBy, 'part'>, string> = {
  id: `id collate "C"`,
  email: `left(lower(email), 128) collate "C"`,
  billingId: `billing_id collate "C"`,
  name: `left(lower(name), 128) collate "C"`,
}
const BEGINNINGS = Object.keys(KEYS) as (keyof typeof KEYS)[]
/** Compared in lower case. */
const FOLDED: ReadonlySet<MatchedBy> = new Set(['email', 'name'])

/** Appended to a prefix, it sorts after everything that starts with the prefix. */
const LAST = '\u{10ffff}'

const COLUMNS = 'uid, id, billing_id, name, email, metadata, created_at'
type Row = [
  by: MatchedBy,
  key: string,
  uid: string,
  id: string,
  billingId: string | null,
  name: string | null,
  email: string | null,
  metadata: string,
  createdAt: string,
]

interface Search {
  appId: string
  text: string
  folded: string
  /** '' and 0: the beginning */
  after: Pick<SearchCursor, 'key' | 'uid'>
  limit: number
  byPart: number
}

/** A statement, and the values of its parameters in order. */
interface Statement {
  prepared: Prepared<Row>
  values: ((search: Search) => string | number)[]
}

const statements = new Map<string, Statement>()

function statementFor(after: MatchedBy | null, byPart: boolean): Statement {
  const name = `search-users-${byPart ? 'part-' : ''}${after ? `after-${after}` : 'all'}`
  const statement = statements.get(name) ?? newStatement(name, after, byPart)
  statements.set(name, statement)
  return statement
}

function newStatement(name: string, after: MatchedBy | null, byPart: boolean): Statement {
  const values: Statement['values'] = [({ appId }) => appId, ({ limit }) => limit]
  const take = (value: (search: Search) => string | number) => `$${values.push(value)}`
  const takeCursor = () => [take((search) => search.after.key), take((search) => search.after.uid)] as const
  const left = after === 'part' ? [] : BEGINNINGS.slice(after === null ? 0 : BEGINNINGS.indexOf(after))
  const ranges = left.map((by) => {
    const key = KEYS[by]
    const prefix = (search: Search) => search[FOLDED.has(by) ? 'folded' : 'text'].slice(0, 128)
    const [from, to] = [take(prefix), take((search) => prefix(search) + LAST)]
    let rest = ''
    if (after === by) {
      const [afterKey, afterUid] = takeCursor()
      rest = `and (${key}, uid) > (${afterKey} collate "C", ${afterUid})`
    }
    return `(select '${by}' as by, ${key} as key, ${COLUMNS} from users
      where app_id = $1 and ${key} >= ${from} and ${key} < ${to} ${rest}
      order by ${key}, uid limit $2)`
  })
  if (byPart) {
    const cursor = after === 'part' ? takeCursor() : [`''`, '0']
    const asked = [take(({ text }) => text), take((search) => search.byPart), ...cursor]
    ranges.push(`(select 'part' as by, key, ${COLUMNS} from users_with_part($1, ${asked.join(', ')}, $2))`)
  }
  const text = `select * from (${ranges.join(' union all ')}) found limit $2`
  return { prepared: new Prepared(name, text), values }
}

/**
 * Users whose id, address, billing id or name starts with the text, by ranges of four indexes, one after the other: a
 * user matched twice appears twice. Then up to `byPart` users per cell with every word of the text somewhere in these;
 * of more, an arbitrary selection. Later parts do not run once there are enough.
 */
export async function searchUsers(
  db: HomeDb,
  appId: string,
  text: string,
  after: SearchCursor | null,
  limit: number,
  byPart: number,
): Promise<UserMatch[]> {
  if (after?.by === 'part' && byPart === 0) return []
  const base = { appId, text, folded: text.toLowerCase(), limit, byPart }
  const start = { key: '', uid: 0 }
  const whole = { ...statementFor(after?.by ?? null, byPart > 0), search: { ...base, after: after ?? start } }
  // Citus would call the function of the last part on the other server, which does not have it.
  const split = db.places.acrossServers && byPart > 0 && after?.by !== 'part'
  const steps = split
    ? [
        { ...statementFor(after?.by ?? null, false), search: whole.search },
        { ...statementFor('part', true), search: { ...base, after: start } },
      ]
    : [whole]
  const find = async (cell: HomeDb) => {
    const found: UserMatch[] = []
    for (const { prepared, values, search } of steps) {
      if (found.length >= limit) break
      const rows = await prepared.runOn(
        cell,
        values.map((value) => String(value(search))),
      )
      found.push(...rows.map(matchOf))
    }
    return found
  }
  return db.places.each(find, firstRows(limit, inOrder))
}

const inOrder = (a: UserMatch, b: UserMatch): number =>
  MATCHED_BY.indexOf(a.by) - MATCHED_BY.indexOf(b.by) || compareBytes(a.key, b.key) || a.uid - b.uid

const matchOf = ([by, key, uid, id, billingId, name, email, metadata, createdAt]: Row): UserMatch => ({
  by,
  key,
  uid: Number(uid),
  id,
  billingId,
  name,
  email,
  metadata: metadata === '{}' ? {} : (JSON.parse(metadata) as JsonObject),
  createdAt: parseTimestamp(createdAt),
})
