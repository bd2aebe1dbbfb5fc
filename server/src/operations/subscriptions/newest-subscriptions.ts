import { checkText, isStorable } from '../../domain/identifier.ts'
import { MAX_COUNTED, MAX_LOOKED_AT, MAX_SORTED_BY_AMOUNT, MAX_TOTAL } from '../../domain/limits.ts'
import { readAnyApp } from '../../store/connection/read-any-app.ts'
import {
  countSubscriptions,
  filteredSubscriptions,
  type SubscriptionFilter,
  type SubscriptionState,
} from '../../store/subscriptions/subscription-list.ts'
import { findSubscriptions, type SubscriptionRow } from '../../store/subscriptions/subscriptions.ts'
import { type AmountKey, subscriptionsByAmount } from '../../store/subscriptions/subscriptions-by-amount.ts'
import { requireApp } from '../apps/apps.ts'
import type { Call } from '../call/call.ts'
import { type KeyedPage, keyAfter, pageOf, pageSize, unknownCursor } from '../call/pages.ts'
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

/** AMOUNT: smallest first. */
export const SUBSCRIPTION_ORDERS = ['NEWEST', 'OLDEST', 'AMOUNT', 'AMOUNT_DESC'] as const
type SubscriptionOrder = (typeof SUBSCRIPTION_ORDERS)[number]

/** A page may be short and still have a next one if few match. */
export async function dashboardSubscriptions(
  call: Call,
  asked: SubscriptionsAsked,
  order: SubscriptionOrder,
  page: Page,
): Promise<SubscriptionPage> {
  const { rows, next, now, total } = await listedSubscriptionRows(call, asked, order, page)
  // Loaded after the rows, so that it includes the packages of all of them.
  const catalogue = await catalogueOf(call)
  return { rows: rows.map((row) => packageSubscription(row, catalogue, now)), next, total }
}

/** The same as they are stored. */
export async function listedSubscriptionRows(
  call: Call,
  asked: SubscriptionsAsked,
  order: SubscriptionOrder,
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
  const total = () => readAnyApp(pool, (tx) => countSubscriptions(tx, appId, filter, counted, now))
  if (order === 'AMOUNT' || order === 'AMOUNT_DESC') {
    const page = await byAmount(call, filter, order === 'AMOUNT_DESC', { first: size, after }, now)
    return { ...page, now, total }
  }
  const from = {
    after: after == null ? null : keyAfter(after),
    oldestFirst: order === 'OLDEST',
    most: MAX_LOOKED_AT,
  }
  const { rows, scannedTo } = await readAnyApp(pool, (tx) =>
    filteredSubscriptions(tx, appId, filter, from, size + 1, now),
  )
  const shown = rows.slice(0, size)
  const next = rows.length > size ? (shown.at(-1)?.seq ?? null) : scannedTo
  return {
    rows: shown,
    now,
    next: next === null ? null : String(next),
    total,
  }
}

async function byAmount(
  { appId, service: { pool } }: Call,
  filter: SubscriptionFilter,
  down: boolean,
  { first, after }: { first: number; after: string | null | undefined },
  now: number,
): Promise<KeyedPage<SubscriptionRow>> {
  const from = { after: amountAfter(after), down, most: MAX_SORTED_BY_AMOUNT }
  return readAnyApp(pool, async (tx) => {
    const keys = await subscriptionsByAmount(tx, appId, filter, from, first + 1, now)
    const { rows, next } = pageOf(keys, first, ({ currency, amount, seq }) =>
      Buffer.from(JSON.stringify([currency, amount, seq])).toString('base64url'),
    )
    const ids = rows.map(({ id }) => id)
    const found = new Map((await findSubscriptions(tx, appId, ids, now)).map((row) => [row.id, row]))
    return { rows: ids.flatMap((id) => found.get(id) ?? []), next }
  })
}

function amountAfter(after: string | null | undefined): AmountKey | null {
  if (after == null) return null
  try {
    const [currency, amount, seq] = JSON.parse(Buffer.from(after, 'base64url').toString()) as unknown[]
    const isText = typeof currency === 'string' && isStorable(currency)
    if (isText && typeof amount === 'string' && /^\d{1,24}$/.test(amount) && Number.isSafeInteger(seq))
      return { currency, amount, seq: seq as number }
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error
  }
  throw unknownCursor()
}

async function usersOf(call: Call, { userId, search }: SubscriptionsAsked): Promise<number[] | null> {
  if (userId) return [(await requireUser(call.service.pool, call.appId, userId)).uid]
  if (!search?.trim()) return null
  return (await dashboardUsers(call, search, { first: SEARCHED_USERS })).rows.map(({ uid }) => uid)
}
