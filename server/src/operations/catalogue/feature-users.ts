import { type Catalogue, grantsOf } from '../../domain/catalogue.ts'
import { MAX_LOOKED_AT } from '../../domain/limits.ts'
import { type Holder, type UserEntitlement, userEntitlement } from '../../domain/user-entitlement.ts'
import { readAnyApp } from '../../store/connection/read-any-app.ts'
import { holders, type UserCounter, usedOf } from '../../store/subscriptions/subscribers.ts'
import { ALL_SUBSCRIPTIONS, filteredSubscriptions } from '../../store/subscriptions/subscription-list.ts'
import { listedUsers } from '../../store/users/user-list.ts'
import { requireApp } from '../apps/apps.ts'
import type { Call } from '../call/call.ts'
import { type KeyedPage, keyAfter, pageSize, unknownCursor } from '../call/pages.ts'
import type { Page } from '../call/paging.ts'
import { requireFeature } from '../call/require.ts'
import { catalogueOf } from './catalogue.ts'
import { grantingPackages } from './feature-packages.ts'

/** A user to whom a package grants the feature. */
export interface FeatureUser {
  userId: string
  userName: string | null
  packageId: string
  packageName: string
  /** An override may deny what the package grants. */
  denied: boolean
  overridden: boolean
  /** of a consumable feature, in the current period */
  used: number | null
  budget: number | null
  overageEnabled: boolean
  periodEnd: number | null
}

/** Packages without users that one page may skip; the next page continues. */
const MOST_PACKAGES = 20

/**
 * Ordered by package, then newest subscription first. A user with several of the packages is listed with the first of
 * them.
 */
export async function featureUsers(
  call: Call,
  id: string,
  packageId: string | null,
  { first, after }: Page,
): Promise<KeyedPage<FeatureUser>> {
  const { appId } = call
  const { pool } = call.service
  const { now } = await requireApp(pool, appId)
  const catalogue = await catalogueOf(call)
  requireFeature(catalogue, id)
  const granting = grantingPackages(catalogue, id)
  const listed = packageId === null ? granting : granting.filter((one) => one === packageId)
  const start = parseCursor(after, listed)
  const size = pageSize(first)
  const rows: Found[] = []
  let next: FeatureUserCursor | null = start
  for (let tried = 0; next && rows.length < size && tried < MOST_PACKAGES; tried++) {
    const at: FeatureUserCursor = next
    const filter = { ...ALL_SUBSCRIPTIONS, packageId: listed[at.index] ?? '', state: 'LIVE' } as const
    const from = { after: at.seq, oldestFirst: false, most: MAX_LOOKED_AT }
    const limit = size + 1 - rows.length
    const found = await readAnyApp(pool, (tx) => filteredSubscriptions(tx, appId, filter, from, limit, now))
    const shown = found.rows.slice(0, limit - 1)
    const held = await holders(
      pool,
      appId,
      shown.map(({ userUid }) => userUid),
      now,
    )
    for (const { userUid } of shown) {
      const holder = held.get(userUid)
      if (holder && listedBy(catalogue, listed, holder, id, now) === filter.packageId)
        rows.push({ uid: userUid, packageId: filter.packageId, holder })
    }
    const last = found.rows.length === limit ? (shown.at(-1)?.seq ?? null) : found.scannedTo
    if (last !== null) {
      next = { index: at.index, seq: last }
      if (found.rows.length < limit) break
    } else {
      next = at.index + 1 < listed.length ? { index: at.index + 1, seq: null } : null
    }
  }
  return {
    rows: await described(call, catalogue, id, rows, now),
    next: next && `${next.seq ?? ''}:${listed[next.index]}`,
  }
}

/** The first of the listed packages that grants the feature to this user. */
function listedBy(
  catalogue: Catalogue,
  listed: readonly string[],
  { live }: Holder,
  featureId: string,
  now: number,
): string | null {
  const granted = new Set(
    live.filter((s) => grantsOf(catalogue, s, now)?.has(featureId)).map(({ packageId }) => packageId),
  )
  return listed.find((one) => granted.has(one)) ?? null
}

interface Found {
  uid: number
  packageId: string
  holder: Holder
}

async function described(
  call: Call,
  catalogue: Catalogue,
  featureId: string,
  found: readonly Found[],
  now: number,
): Promise<FeatureUser[]> {
  const { pool } = call.service
  const users = await listedUsers(
    pool,
    call.appId,
    found.map(({ uid }) => uid),
  )
  const entitlements = found.map(({ holder }) => userEntitlement(catalogue, featureId, holder, now))
  const counters = found.flatMap(({ uid }, i) => userCounters(uid, featureId, entitlements[i]))
  const used = await usedOf(pool, call.appId, counters)
  const usedBy = new Map(counters.map(({ uid }, i) => [uid, used[i] ?? 0]))
  return found.flatMap(({ uid, packageId }, i) => {
    const user = users.get(uid)
    const entitlement = entitlements[i]
    if (!user || !entitlement) return []
    const metered = entitlement.kind === 'metered' ? entitlement : null
    return [
      {
        userId: user.id,
        userName: user.name ?? user.email,
        packageId,
        packageName: catalogue.packages.get(packageId)?.name ?? packageId,
        denied: entitlement.kind === 'none',
        overridden: entitlement.kind === 'none' || entitlement.byOverride,
        used: metered && (usedBy.get(uid) ?? 0),
        budget: metered?.allowance.budget ?? null,
        overageEnabled: metered?.allowance.overageEnabled ?? false,
        periodEnd: metered?.period.end ?? null,
      },
    ]
  })
}

function userCounters(
  uid: number,
  featureId: string,
  entitlement: UserEntitlement | undefined,
): UserCounter[] {
  if (entitlement?.kind !== 'metered') return []
  const { resetPeriod } = entitlement.allowance
  return [{ uid, featureId, resetPeriod, periodStart: entitlement.period.start }]
}

interface FeatureUserCursor {
  /** of the package */
  index: number
  /** continue after this subscription; null: start with the newest */
  seq: number | null
}

function parseCursor(after: string | null | undefined, listed: readonly string[]): FeatureUserCursor | null {
  if (after == null) return listed.length > 0 ? { index: 0, seq: null } : null
  const colon = after.indexOf(':')
  const index = colon < 0 ? -1 : listed.indexOf(after.slice(colon + 1))
  if (index < 0) throw unknownCursor()
  return { index, seq: colon === 0 ? null : keyAfter(after.slice(0, colon)) }
}
