import { appNotFound, badUserInput } from '../../domain/errors.ts'
import { checkText, isIdentifier, isStorable } from '../../domain/identifier.ts'
import { MAX_COUNTED, MAX_LOOKED_AT, MAX_TOTAL } from '../../domain/limits.ts'
import type { Package } from '../../domain/package.ts'
import { readAnyApp } from '../../store/connection/read-any-app.ts'
import { holders } from '../../store/subscriptions/subscribers.ts'
import {
  ALL_SUBSCRIPTIONS,
  countSubscriptions,
  filteredSubscriptions,
  livePlans,
  type SubscriptionState,
} from '../../store/subscriptions/subscription-list.ts'
import type { ListedUser } from '../../store/users/search-users.ts'
import {
  countUsers,
  listedUsers,
  type UserByText,
  usersByAge,
  usersByText,
  usersWithoutPlan,
} from '../../store/users/user-list.ts'
import { requireApp } from '../apps/apps.ts'
import type { Call } from '../call/call.ts'
import { type KeyedPage, keyAfter, keyBefore, pageOf, pageSize, unknownCursor } from '../call/pages.ts'
import type { Page } from '../call/paging.ts'
import { catalogueOf } from '../catalogue/catalogue.ts'
import { type PackageSubscription, packageSubscription } from '../subscriptions/subscriptions.ts'
import { dashboardUsers } from './find-users.ts'

export const USER_ORDERS = ['NEWEST', 'OLDEST', 'NAME', 'NAME_DESC', 'EMAIL', 'EMAIL_DESC'] as const

export interface UsersAsked {
  search: string
  /** '': without a package */
  packageId: string | null
  /** of one of their subscriptions; CANCELLED: they had one and have none now */
  state: SubscriptionState | null
  order: (typeof USER_ORDERS)[number]
}

export interface UserInList extends ListedUser {
  /** packages of their live subscriptions, read for the whole page at once if requested */
  packages: () => Promise<Package[]>
  /** live subscription to a plan, read in the same way */
  plan: () => Promise<PackageSubscription | null>
}

export interface UserPage extends KeyedPage<UserInList> {
  /** Counted only if requested; null: not available for a search. */
  total: () => Promise<{ count: number; more: boolean } | null>
}

/** Dispatches to one of the lists, each of which has its own order. */
export async function listedPage(call: Call, asked: UsersAsked, { first, after }: Page): Promise<UserPage> {
  const { appId } = call
  const { pool } = call.service
  if (!isIdentifier(appId)) throw appNotFound(appId)
  checkText('packageId', asked.packageId)
  if (asked.search.trim() !== '') {
    const page = await dashboardUsers(call, asked.search, { first, after })
    return { ...withPackages(call, page), total: async () => null }
  }
  if (asked.packageId !== null || asked.state !== null) return pageOfPlan(call, asked, { first, after })
  const page = await inOrder(call, asked.order, { first, after }).catch(async (error: unknown) => {
    await requireApp(pool, appId)
    throw error
  })
  if (page.rows.length === 0) await requireApp(pool, appId)
  return { ...withPackages(call, page), total: () => countUsers(pool, appId, MAX_TOTAL) }
}

async function inOrder(
  call: Call,
  order: UsersAsked['order'],
  { first, after }: Page,
): Promise<KeyedPage<ListedUser>> {
  const size = pageSize(first)
  const { lookups } = call.service
  if (order !== 'NEWEST' && order !== 'OLDEST') {
    const rows = await usersByText(lookups, call.appId, order, textAfter(after), size + 1)
    return pageOf(rows, size, ({ key, uid }: UserByText) =>
      Buffer.from(JSON.stringify([key, uid])).toString('base64url'),
    )
  }
  const from = order === 'OLDEST' && after == null ? 0 : keyBefore(after)
  return pageOf(await usersByAge(lookups, call.appId, order, from, size + 1), size, ({ uid }) => uid)
}

function textAfter(after: string | null | undefined): { key: string; uid: number } | null {
  if (after == null) return null
  try {
    const [key, uid] = JSON.parse(Buffer.from(after, 'base64url').toString()) as unknown[]
    if (typeof key === 'string' && isStorable(key) && Number.isSafeInteger(uid))
      return { key, uid: uid as number }
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error
  }
  throw unknownCursor()
}

/** Users with such a subscription, newest first; without a package: users without one. */
async function pageOfPlan(
  call: Call,
  { packageId, state }: UsersAsked,
  { first, after }: Page,
): Promise<UserPage> {
  const { appId } = call
  const { pool } = call.service
  const { now } = await requireApp(pool, appId)
  const size = pageSize(first)
  if (packageId === '') {
    if (state !== null) throw badUserInput('state cannot be combined with an empty packageId', 'state')
    const { rows, scannedTo } = await usersWithoutPlan(
      pool,
      appId,
      keyBefore(after),
      size + 1,
      MAX_LOOKED_AT,
      now,
    )
    const page = pageOf(rows, size, ({ uid }) => uid)
    const next = page.next ?? (scannedTo === null ? null : String(scannedTo))
    return { ...withPackages(call, { rows: page.rows, next }), total: async () => null }
  }
  const filter = { ...ALL_SUBSCRIPTIONS, packageId, state: state ?? 'LIVE', perUser: true } as const
  const from = { after: after == null ? null : keyAfter(after), oldestFirst: false, most: MAX_LOOKED_AT }
  const { rows, scannedTo } = await readAnyApp(pool, (tx) =>
    filteredSubscriptions(tx, appId, filter, from, size + 1, now),
  )
  const shown = rows.slice(0, size)
  const users = await listedUsers(
    pool,
    appId,
    shown.map(({ userUid }) => userUid),
  )
  const next = rows.length > size ? (shown.at(-1)?.seq ?? null) : scannedTo
  return {
    ...withPackages(call, {
      rows: shown.flatMap(({ userUid }) => users.get(userUid) ?? []),
      next: next === null ? null : String(next),
    }),
    total: () => readAnyApp(pool, (tx) => countSubscriptions(tx, appId, filter, MAX_COUNTED, now)),
  }
}

function withPackages(call: Call, { rows, next }: KeyedPage<ListedUser>): KeyedPage<UserInList> {
  const uids = rows.map(({ uid }) => uid)
  const packages = once(() => packagesOf(call, uids))
  const plans = once(() => plansOf(call, uids))
  // Copying a row takes longer than reading it did.
  const more = ({ uid }: ListedUser) => ({
    packages: async () => (await packages()).get(uid) ?? [],
    plan: async () => (await plans()).get(uid) ?? null,
  })
  return { rows: rows.map((row) => Object.assign(row, more(row))), next }
}

function once<T>(read: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined
  return () => {
    answer ??= read()
    return answer
  }
}

/** The users' live subscriptions to plans, by uid. */
async function plansOf(call: Call, uids: readonly number[]): Promise<Map<number, PackageSubscription>> {
  const { pool } = call.service
  const { now } = await requireApp(pool, call.appId)
  const rows = await livePlans(pool, call.appId, uids, now)
  const catalogue = await catalogueOf(call)
  return new Map(rows.map((row) => [row.userUid, packageSubscription(row, catalogue, now)]))
}

/** Packages of these users' live subscriptions, base plan first. */
async function packagesOf(call: Call, uids: readonly number[]): Promise<Map<number, Package[]>> {
  const { now } = await requireApp(call.service.pool, call.appId)
  const held = await holders(call.service.pool, call.appId, uids, now)
  const { packages } = await catalogueOf(call)
  return new Map(
    [...held].map(([uid, { live }]) => [
      uid,
      live
        .flatMap(({ packageId }) => packages.get(packageId) ?? [])
        .sort((a, b) => Number(a.isAddon) - Number(b.isAddon)),
    ]),
  )
}
