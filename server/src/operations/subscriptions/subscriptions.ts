import type { Catalogue } from '../../domain/catalogue.ts'
import { subscriptionNotFound } from '../../domain/errors.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import type { JsonObject } from '../../domain/metadata.ts'
import type { Package } from '../../domain/package.ts'
import type { ProviderRef } from '../../domain/provider-ref.ts'
import { endedAt, type Subscription, type SubscriptionStatus, statusAt } from '../../domain/subscription.ts'
import { findSubscription, listSubscriptions, type PaidFor } from '../../store/subscriptions.ts'
import { findUser } from '../../store/users.ts'
import { type Call, momentOf } from '../call/call.ts'
import { foundPackage } from '../call/found.ts'
import { type Cursor, checkFirst, type Page, type Stretch, stretch, unknownAfter } from '../call/paging.ts'

export interface PackageSubscription {
  id: string
  userId: string
  status: SubscriptionStatus
  package: Package
  metadata: JsonObject
  startedAt: number
  cancelAt: number | null
  cancelledAt: number | null
  /** who is paid for it, and that one's id of what is paid for; null: it was made by hand */
  paid: ProviderRef | null
}

/** A subscription as of `now`. */
export function packageSubscription(
  row: Subscription & { userId: string } & Partial<PaidFor>,
  catalogue: Catalogue,
  now: number,
): PackageSubscription {
  return {
    id: row.id,
    userId: row.userId,
    status: statusAt(row, now),
    package: foundPackage(catalogue, row.packageId),
    metadata: row.metadata,
    startedAt: row.startedAt,
    cancelAt: row.cancelAt,
    cancelledAt: endedAt(row, now),
    paid:
      row.appId && row.provider && row.providerRef
        ? { appId: row.appId, provider: row.provider, ref: row.providerRef }
        : null,
  }
}

// The rows are read before the catalogue: packages are never deleted, so the later catalogue has all of them.
// Only a caller whose key is still valid learns that nothing was found.

export async function subscription(call: Call, id: string): Promise<PackageSubscription> {
  const row = isIdentifier(id) ? await findSubscription(call.service.pool, call.appId, id) : null
  const { app, now } = await momentOf(call)
  if (!row) throw subscriptionNotFound(id)
  return packageSubscription(row, app.catalogue, now)
}

export async function subscriptions(
  call: Call,
  userId: string | null,
  page: Page,
  cursor: Cursor | null,
): Promise<Stretch<PackageSubscription>> {
  await momentOf(call)
  const { pool } = call.service
  const user = userId !== null && isIdentifier(userId) ? await findUser(pool, call.appId, userId) : null
  // An unknown user has no subscriptions, which is not an error.
  if (userId !== null && !user) return { rows: [], next: null }
  const userUid = user?.uid ?? null
  const { rows, next } = await stretch(
    cursor ?? (await start(call, userUid, page)),
    (after, limit) => listSubscriptions(pool, call.appId, userUid, after, limit),
    (row) => row.seq,
  )
  const { app, now } = await momentOf(call)
  return { rows: rows.map((row) => packageSubscription(row, app.catalogue, now)), next }
}

async function start(call: Call, userUid: number | null, { first, after }: Page): Promise<Cursor> {
  checkFirst(first)
  if (after === null || after === undefined) return { after: 0, left: first ?? null }
  const last = isIdentifier(after) ? await findSubscription(call.service.pool, call.appId, after) : null
  if (!last || (userUid !== null && last.userUid !== userUid)) throw unknownAfter()
  return { after: last.seq, left: first ?? null }
}
