import { numberArray } from '../connection/arrays.ts'
import { timestamp } from '../connection/database.ts'
import { allRows, ascending, descending, firstScanned, type Scan, sums } from '../connection/merge-answers.ts'
import { type HomeDb, rowOf, rowsOf } from '../connection/places.ts'
import { fromRow, isShown, type Read, type SubscriptionRow, select } from './subscriptions.ts'

/** Filters for subscriptions: live ones of a kind, or cancelled ones. */
export const SUBSCRIPTION_STATES = [
  'LIVE',
  'ACTIVE',
  'RENEWING',
  'TRIAL',
  'CHANGING',
  'ENDING',
  'PAST_DUE',
  'CANCELLED',
] as const
export type SubscriptionState = (typeof SUBSCRIPTION_STATES)[number]

export interface SubscriptionFilter {
  /** only these users' */
  userUids: readonly number[] | null
  packageId: string | null
  state: SubscriptionState | null
  /** '': not paid at a provider */
  provider: string | null
  /** only the newest of each user; CANCELLED: only of users without another one */
  perUser: boolean
}

export const ALL_SUBSCRIPTIONS: SubscriptionFilter = {
  userUids: null,
  packageId: null,
  state: null,
  provider: null,
  perUser: false,
}

const isLive = (now: string, s: string) =>
  `${s}.cancelled_at is null and (${s}.cancel_at is null or ${s}.cancel_at > ${now})`

/** Whether the payment of `s` is past due, in a statement about the app $1. */
type PastDue = (s: string) => string

const IS_PAST_DUE: PastDue = (s) =>
  // Not a join: PostgreSQL would read all subscriptions to find those of a few users.
  `coalesce((select true from provider_subscription p where p.app_id = ${s}.app_id and p.provider = ${s}.provider
    and p.ref = ${s}.provider_ref and p.live and p.past_due_since is not null limit 1), false)`
/** The same for a cell on another server, which receives the list of those past due. */
const IS_SENT_AS_PAST_DUE: PastDue = (s) =>
  `(${s}.provider is not null and (${s}.provider, ${s}.provider_ref) in (select p.provider, p.ref from provider_subscription p
    where p.app_id = $1 and p.live and p.past_due_since is not null))`

export const pastDueIn = (db: HomeDb): PastDue =>
  db.places.acrossServers ? IS_SENT_AS_PAST_DUE : IS_PAST_DUE

function isIn(state: SubscriptionState, now: string, s: string, pastDue: PastDue): string {
  const live = isLive(now, s)
  const changes = `exists (select from subscription c where c.app_id = ${s}.app_id and c.follows = ${s}.id
    and c.cancelled_at is null and c.started_at > ${now})`
  const isPastDue = pastDue(s)
  switch (state) {
    case 'LIVE':
      return live
    case 'ACTIVE':
      return `${live} and (${s}.trial_ends_at > ${now}) is not true and not ${isPastDue}`
    case 'RENEWING':
      return `${live} and ${s}.provider is not null and ${s}.cancel_at is null and not ${isPastDue}`
    case 'TRIAL':
      return `${live} and ${s}.trial_ends_at > ${now}`
    case 'CHANGING':
      return `${live} and ${changes}`
    case 'ENDING':
      return `${live} and ${s}.cancel_at is not null and ${s}.trial_ends_at is distinct from ${s}.cancel_at and not ${changes}`
    case 'PAST_DUE':
      return `${live} and ${isPastDue}`
    case 'CANCELLED':
      return `not (${live})`
  }
}

interface ScanRange {
  after: number | null
  oldestFirst: boolean
  /** maximum number of rows scanned: the cost of a page does not depend on how rare matches are */
  most: number
}

/** The rows found by an index, to which the other filters are applied. */
export function scanOf(
  app: string,
  { packageId, userUids }: SubscriptionFilter,
  { after, oldestFirst, most }: ScanRange,
) {
  const values: unknown[] = []
  const take = (value: unknown) => `$${values.push(value)}`
  const order = oldestFirst ? 'seq' : 'seq desc'
  const scan = `(select * from subscription where app_id = ${take(app)}
    ${after === null ? '' : `and seq ${oldestFirst ? '>' : '<'} ${take(after)}`}
    ${packageId === null ? '' : `and package_id = ${take(packageId)}`}
    ${userUids === null ? '' : `and user_uid = any(${take(userUids)}::bigint[])`}
    order by ${order} limit ${take(most)}) s`
  return { scan, order, values }
}

/** The condition of the filter on a subscription `s`. */
export function wanted(
  filter: SubscriptionFilter,
  now: string,
  take: (value: unknown) => string,
  pastDue: PastDue,
): string {
  const { state, provider, packageId, perUser } = filter
  const by = provider === null || provider === '' ? null : take(provider)
  const matches = (s: string) => {
    const conditions = [isShown(now, s)]
    if (state !== null) conditions.push(isIn(state, now, s, pastDue))
    if (provider !== null) conditions.push(by === null ? `${s}.provider is null` : `${s}.provider = ${by}`)
    return conditions.join(' and ')
  }
  if (!perUser) return matches('s')
  const another = (condition: string) =>
    `not exists (select from subscription o where o.app_id = s.app_id and o.user_uid = s.user_uid and ${condition})`
  // Written so that no index can be used: the one by user leads to a few rows, the one by package to many.
  const samePackage = packageId === null ? '' : 'and (o.package_id = s.package_id) is true'
  const conditions = [matches('s'), another(`o.seq > s.seq ${samePackage} and ${matches('o')}`)]
  // Users with another live subscription have not left.
  if (state === 'CANCELLED')
    conditions.push(another(`${isLive(now, 'o')} ${samePackage} and ${isShown(now, 'o')}`))
  return conditions.join(' and ')
}

/** In order; with fewer than `limit`, the row after which to continue. Null: that was all. */
export async function filteredSubscriptions(
  db: HomeDb,
  appId: string,
  filter: SubscriptionFilter,
  from: ScanRange,
  limit: number,
  now: number,
): Promise<Scan<SubscriptionRow>> {
  const look = async (cell: HomeDb): Promise<Scan<SubscriptionRow>> => {
    const { scan, order, values } = scanOf(appId, filter, from)
    const found = [...values]
    const take = (value: unknown) => `$${found.push(value)}`
    const at = `${take(timestamp(now))}::timestamptz`
    const { rows } = await cell.query<Read>(
      `${select(at, scan)} where ${wanted(filter, at, take, pastDueIn(cell))} order by s.${order} limit ${take(limit)}`,
      found,
    )
    if (rows.length === limit) return { rows: rows.map(fromRow), scannedTo: null }
    const longer = scanOf(appId, filter, { ...from, most: from.most + 1 })
    const ends = await cell.query<{ seq: number }>(
      `select seq from ${longer.scan} order by ${order} offset ${from.most - 1}`,
      longer.values,
    )
    const [last, next] = ends.rows
    return { rows: rows.map(fromRow), scannedTo: last && next ? last.seq : null }
  }
  return db.places.each(
    look,
    firstScanned(limit, ({ seq }) => seq, from.oldestFirst ? ascending : descending),
  )
}

/** The live subscriptions of these users to plans: one of each user at most. */
export async function livePlans(
  db: HomeDb,
  appId: string,
  uids: readonly number[],
  now: number,
): Promise<SubscriptionRow[]> {
  const ask = rowsOf<Read>({
    text: `${select('$3')} where s.app_id = $1 and s.user_uid = any($2::bigint[]) and not s.is_addon
      and ${isLive('$3', 's')} and ${isShown('$3')}`,
    values: [appId, numberArray(uids, (uid) => uid), timestamp(now)],
  })
  return (await db.places.each(ask, allRows())).map(fromRow)
}

/** The users among these who have had a trial of the package. */
export async function triedBefore(
  db: HomeDb,
  appId: string,
  uids: readonly number[],
  packageId: string,
): Promise<Set<number>> {
  const ask = rowsOf<{ uid: number }>({
    text: `select distinct user_uid as uid from subscription
      where app_id = $1 and user_uid = any($2::bigint[]) and package_id = $3 and trial_ends_at is not null`,
    values: [appId, numberArray(uids, (uid) => uid), packageId],
  })
  return new Set((await db.places.each(ask, allRows())).map(({ uid }) => uid))
}

/** Among the newest `most`, and whether there are more. */
export async function countSubscriptions(
  db: HomeDb,
  appId: string,
  filter: SubscriptionFilter,
  most: number,
  now: number,
): Promise<{ count: number; more: boolean }> {
  const { scan, values } = scanOf(appId, filter, { after: null, oldestFirst: false, most: most + 1 })
  const take = (value: unknown) => `$${values.push(value)}`
  const at = `${take(timestamp(now))}::timestamptz`
  const { count, looked } = await db.places.each(
    rowOf<{ count: number; looked: number }>({
      text: `select count(*) filter (where ${wanted(filter, at, take, pastDueIn(db))}) as count, count(*) as looked from ${scan}`,
      values,
    }),
    sums(),
  )
  return { count: Math.min(count, most), more: looked > most }
}
