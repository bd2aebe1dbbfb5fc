import { timestamp } from '../connection/database.ts'
import { firstRows } from '../connection/merge-answers.ts'
import { type HomeDb, rowsOf } from '../connection/places.ts'

// The lists behind the figures: newest first, in pages.

const OF_SAME_USER = (other: string) =>
  `${other}.app_id = s.app_id and ${other}.user_uid = s.user_uid and not ${other}.is_addon and ${other}.id <> s.id`

/** Whether `s` is a base plan that started at the moment when another of the same user ended. */
const CHANGED_FROM = `(not s.is_addon and exists (select from subscription e
  where ${OF_SAME_USER('e')} and coalesce(e.cancelled_at, e.cancel_at) = s.started_at))`

/** Whether `s` is a base plan that ended at the moment when another of the same user started. */
const CHANGED_INTO = `(not s.is_addon and exists (select from subscription n
  where ${OF_SAME_USER('n')} and n.started_at = coalesce(s.cancelled_at, s.cancel_at)))`

export const REVENUE_LISTS = ['NEW', 'CHANGED', 'CANCELLED', 'PAST_DUE', 'TRIALING'] as const
export type RevenueList = (typeof REVENUE_LISTS)[number]

export interface ListedSubscription {
  id: string
  seq: number
  /** start, change, end, past due since, or end of the trial */
  at: number
  userId: string
  userName: string | null
  packageId: string
  /** the package before a change */
  fromPackageId: string | null
  provider: string | null
}

const BEGAN = `s.started_at > $2 and s.started_at <= $3 and (s.cancelled_at is null or s.cancelled_at >= s.started_at)`
const ENDED = `coalesce(s.cancelled_at, s.cancel_at)`
const LIVE = `s.cancelled_at is null and (s.cancel_at is null or s.cancel_at > $3) and (s.follows is null or s.started_at <= $3)
  and $2::timestamptz is not null`

const LISTS: Record<RevenueList, { time: string; where: string; join?: string }> = {
  NEW: { time: 's.started_at', where: `${BEGAN} and not ${CHANGED_FROM}` },
  CHANGED: { time: 's.started_at', where: `${BEGAN} and ${CHANGED_FROM}` },
  CANCELLED: {
    time: ENDED,
    where: `${ENDED} is not null and ${ENDED} > $2 and ${ENDED} <= $3 and ${ENDED} >= s.started_at and not ${CHANGED_INTO}`,
  },
  PAST_DUE: {
    time: 'p.past_due_since',
    where: `p.app_id = $1 and p.past_due_since is not null and ${LIVE}`,
    join: `join provider_subscription p on p.app_id = s.app_id and p.provider = s.provider and p.ref = s.provider_ref`,
  },
  TRIALING: { time: 's.trial_ends_at', where: `s.trial_ends_at > $3 and ${LIVE}` },
}

/** A page of one list, for events after `from`, up to `now`. */
export async function listRevenue(
  db: HomeDb,
  appId: string,
  list: RevenueList,
  span: { from: number; now: number },
  before: { at: number; seq: number } | null,
  limit: number,
): Promise<ListedSubscription[]> {
  const { time, where, join = '' } = LISTS[list]
  const values: unknown[] = [appId, timestamp(span.from), timestamp(span.now), limit]
  const rest = before === null ? '' : `and (${time}, s.seq) < ($5::timestamptz, $6::bigint)`
  if (before) values.push(timestamp(before.at), before.seq)
  const replaced =
    list === 'CHANGED'
      ? `(select e.package_id from subscription e where ${OF_SAME_USER('e')}
          and coalesce(e.cancelled_at, e.cancel_at) = s.started_at limit 1)`
      : 'null::text'
  const ask = rowsOf<ListedSubscription>({
    // The users of a page are looked up afterwards.
    text: `select x.*, u.id as "userId", coalesce(u.name, u.email) as "userName" from (
       select s.id, s.seq, s.app_id, s.user_uid, ${time} as at, s.package_id as "packageId", s.provider,
         ${replaced} as "fromPackageId"
       from subscription s ${join}
       where s.app_id = $1 and ${where} ${rest}
       order by ${time} desc, s.seq desc limit $4) x
     join users u on u.app_id = x.app_id and u.uid = x.user_uid
     order by x.at desc, x.seq desc`,
    values,
  })
  return db.places.each(
    ask,
    firstRows(limit, (a, b) => b.at - a.at || b.seq - a.seq),
  )
}
