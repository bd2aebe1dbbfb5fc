import { checkText } from '../../domain/identifier.ts'
import { MAX_COUNTED, MAX_LOOKED_AT, MAX_TOTAL } from '../../domain/limits.ts'
import { readAnyApp } from '../../store/connection/read-any-app.ts'
import {
  countSubscriptions,
  filteredSubscriptions,
  type SubscriptionFilter,
  type SubscriptionState,
} from '../../store/subscriptions/subscription-list.ts'
import type { SubscriptionRow } from '../../store/subscriptions/subscriptions.ts'
import { requireApp } from '../apps/apps.ts'
import type { Call } from '../call/call.ts'
import { type KeyedPage, keyAfter, pageSize } from '../call/pages.ts'
import type { Page } from '../call/paging.ts'
import { requireUser } from '../call/require.ts'
import { catalogueOf } from '../catalogue/catalogue.ts'
import { dashboardUsers } from '../users/find-users.ts'
import { type PackageSubscription, packageSubscription } from './subscriptions.ts'

/** The filters; undefined or null: any. */
export interface SubscriptionsAsked {
  userId?: string | null | undefined
  /** as in the search for users */
  search?: string | null | undefined
  packageId?: string | null | undefined
  state?: SubscriptionState | null | undefined
  /** '': not paid at a provider */
  provider?: string | null | undefined
}

export interface SubscriptionPage extends KeyedPage<PackageSubscription> {
  /** of all pages, counted only if requested */
  total: () => Promise<{ count: number; more: boolean }>
}

/** Maximum number of users whose subscriptions a search shows. */
const SEARCHED_USERS = 100

/** Newest first, unless `oldestFirst`. A page may be short and still have a next one if few match. */
export async function dashboardSubscriptions(
  call: Call,
  asked: SubscriptionsAsked,
  oldestFirst: boolean,
  page: Page,
): Promise<SubscriptionPage> {
  const { rows, next, now, total } = await subscriptionRows(call, asked, oldestFirst, page)
  // Loaded after the rows, so that it includes the packages of all of them.
  const catalogue = await catalogueOf(call)
  return { rows: rows.map((row) => packageSubscription(row, catalogue, now)), next, total }
}

/** The same as they are stored. */
export async function subscriptionRows(
  call: Call,
  asked: SubscriptionsAsked,
  oldestFirst: boolean,
  { first, after }: Page,
): Promise<KeyedPage<SubscriptionRow> & Pick<SubscriptionPage, 'total'> & { now: number }> {
  const { appId } = call
  const { pool } = call.service
  const { now } = await requireApp(pool, appId)
  const size = pageSize(first)
  checkText('packageId', asked.packageId)
  checkText('provider', asked.provider)
  const filter: SubscriptionFilter = {
    userUids: await usersOf(call, asked),
    packageId: asked.packageId ?? null,
    state: asked.state ?? null,
    provider: asked.provider ?? null,
    perUser: false,
  }
  const counted = filter.state === null && filter.provider === null ? MAX_TOTAL : MAX_COUNTED
  const from = { after: after == null ? null : keyAfter(after), oldestFirst, most: MAX_LOOKED_AT }
  const { rows, scannedTo } = await readAnyApp(pool, (tx) =>
    filteredSubscriptions(tx, appId, filter, from, size + 1, now),
  )
  const shown = rows.slice(0, size)
  const next = rows.length > size ? (shown.at(-1)?.seq ?? null) : scannedTo
  return {
    rows: shown,
    now,
    next: next === null ? null : String(next),
    total: () => readAnyApp(pool, (tx) => countSubscriptions(tx, appId, filter, counted, now)),
  }
}

async function usersOf(call: Call, { userId, search }: SubscriptionsAsked): Promise<number[] | null> {
  if (userId) return [(await requireUser(call.service.pool, call.appId, userId)).uid]
  if (!search?.trim()) return null
  return (await dashboardUsers(call, search, { first: SEARCHED_USERS })).rows.map(({ uid }) => uid)
}
