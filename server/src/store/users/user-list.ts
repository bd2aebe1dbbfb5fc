import { numberArray } from '../connection/arrays.ts'
import { timestamp } from '../connection/database.ts'
import {
  allRows,
  compareBytes,
  descending,
  firstRows,
  firstScanned,
  type Scan,
  sums,
} from '../connection/merge-answers.ts'
import { type HomeDb, rowOf, rowsOf } from '../connection/places.ts'
import { LISTED, type ListedUser } from './search-users.ts'

/** Newest first, starting before this user, or oldest first, starting after them. */
export async function usersByAge(
  db: HomeDb,
  appId: string,
  order: 'NEWEST' | 'OLDEST',
  from: number,
  limit: number,
): Promise<ListedUser[]> {
  const [isNext, direction] = order === 'NEWEST' ? ['uid < $2', 'uid desc'] : ['uid > $2', 'uid']
  const ask = rowsOf<ListedUser>({
    name: `users-${order.toLowerCase()}`,
    text: `select ${LISTED} from users where app_id = $1 and ${isNext} order by ${direction} limit $3`,
    values: [appId, from, limit],
  })
  const byAge = (a: ListedUser, b: ListedUser) => (order === 'NEWEST' ? b.uid - a.uid : a.uid - b.uid)
  return db.places.each(ask, firstRows(limit, byAge))
}

export type UserByText = ListedUser & { key: string }

const BY_TEXT = {
  NAME: { column: 'name', down: false },
  NAME_DESC: { column: 'name', down: true },
  EMAIL: { column: 'email', down: false },
  EMAIL_DESC: { column: 'email', down: true },
} as const

/** Users with a name or an email, by its first 128 characters, starting after this text and user. */
export async function usersByText(
  db: HomeDb,
  appId: string,
  order: keyof typeof BY_TEXT,
  after: { key: string; uid: number } | null,
  limit: number,
): Promise<UserByText[]> {
  const { column, down } = BY_TEXT[order]
  const key = `left(lower(${column}), 128) collate "C"`
  const [further, direction] = down ? ['<', 'desc'] : ['>', 'asc']
  const rest = after === null ? '' : `and (${key}, uid) ${further} ($3 collate "C", $4)`
  const ask = rowsOf<UserByText>({
    name: `users-by-${order.toLowerCase()}${after === null ? '' : '-after'}`,
    text: `select ${LISTED}, ${key} as key from users
      where app_id = $1 and ${column} is not null ${rest}
      order by ${key} ${direction}, uid ${direction} limit $2`,
    values: [appId, limit, ...(after === null ? [] : [after.key, after.uid])],
  })
  const sign = down ? -1 : 1
  return db.places.each(
    ask,
    firstRows(limit, (a, b) => sign * (compareBytes(a.key, b.key) || a.uid - b.uid)),
  )
}

/** Users without a live subscription among the `most` newest before `before`, and where to continue. */
export async function usersWithoutPlan(
  db: HomeDb,
  appId: string,
  before: number,
  limit: number,
  most: number,
  now: number,
): Promise<Scan<ListedUser>> {
  const look = async (cell: HomeDb): Promise<Scan<ListedUser>> => {
    const scan = 'select * from users where app_id = $1 and uid < $2 order by uid desc limit $3'
    const { rows } = await cell.query<ListedUser>(
      `select ${LISTED} from (${scan}) u where not exists (select from subscription s
         where s.app_id = u.app_id and s.user_uid = u.uid and s.cancelled_at is null
           and (s.cancel_at is null or s.cancel_at > $4) and (s.follows is null or s.started_at <= $4))
       order by uid desc limit $5`,
      [appId, before, most, timestamp(now), limit],
    )
    if (rows.length === limit) return { rows, scannedTo: null }
    const ends = await cell.query<{ uid: number }>(
      'select uid from users where app_id = $1 and uid < $2 order by uid desc offset $3 limit 2',
      [appId, before, most - 1],
    )
    const [last, next] = ends.rows
    return { rows, scannedTo: last && next ? last.uid : null }
  }
  return db.places.each(
    look,
    firstScanned(limit, ({ uid }) => uid, descending),
  )
}

/** These users, by uid. */
export async function listedUsers(
  db: HomeDb,
  appId: string,
  uids: readonly number[],
): Promise<Map<number, ListedUser>> {
  const find = rowsOf<ListedUser>({
    text: `select ${LISTED} from users where app_id = $1 and uid = any($2::bigint[])`,
    values: [appId, numberArray(uids, (uid) => uid)],
  })
  return new Map((await db.places.each(find, allRows())).map((row) => [row.uid, row]))
}

/** Counted up to `most`. */
export async function countUsers(
  db: HomeDb,
  appId: string,
  most: number,
): Promise<{ count: number; more: boolean }> {
  const { count } = await db.places.each(
    rowOf<{ count: number }>({
      text: 'select count(*) as count from (select from users where app_id = $1 order by uid limit $2) u',
      values: [appId, most + 1],
    }),
    sums(),
  )
  return { count: Math.min(count, most), more: count > most }
}
