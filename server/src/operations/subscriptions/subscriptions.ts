import { type Catalogue, versionOf } from '../../domain/catalogue.ts'
import { subscriptionNotFound } from '../../domain/errors.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import type { JsonObject } from '../../domain/metadata.ts'
import type { Package } from '../../domain/package.ts'
import type { ProviderRef } from '../../domain/provider-ref.ts'
import { endedAt, type Subscription, type SubscriptionStatus, statusAt } from '../../domain/subscription.ts'
import {
  findSubscription,
  listSubscriptions,
  type PaidFor,
  type SubscriptionRow,
} from '../../store/subscriptions/subscriptions.ts'
import { findUser } from '../../store/users/users.ts'
import { type Call, momentOf } from '../call/call.ts'
import { type Chunk, type Cursor, checkFirst, type Page, readChunk, unknownAfter } from '../call/paging.ts'
import { requirePackage } from '../call/require.ts'

export interface PackageSubscription {
  id: string
  /** null: not read for a list or a page */
  appId: string | null
  userId: string
  userName: string | null
  asOf: number
  status: SubscriptionStatus
  package: Package
  metadata: JsonObject
  startedAt: number
  cancelAt: number | null
  cancelledAt: number | null
  trialEndsAt: number | null
  quantity: number
  /** its current version of the package */
  packageVersion: number
  /** scheduled change */
  scheduled: { packageId: string; packageName: string; at: number } | null
  /** its provider, and the provider's id; null: created without a payment */
  paid: ProviderRef | null
}

/** A subscription as of `now`. */
export function packageSubscription(
  row: Subscription & { userId: string } & Partial<PaidFor & Pick<SubscriptionRow, 'next' | 'userName'>>,
  catalogue: Catalogue,
  now: number,
): PackageSubscription {
  return {
    id: row.id,
    appId: row.appId ?? null,
    userId: row.userId,
    userName: row.userName ?? null,
    asOf: now,
    status: statusAt(row, now),
    package: requirePackage(catalogue, row.packageId),
    metadata: row.metadata,
    startedAt: row.startedAt,
    cancelAt: row.cancelAt,
    cancelledAt: endedAt(row, now),
    trialEndsAt: row.trialEndsAt,
    quantity: row.quantity,
    packageVersion: versionOf(catalogue, row, now),
    scheduled: row.next && endedAt(row, now) === null ? scheduledChange(row.next, catalogue) : null,
    paid:
      row.appId && row.provider && row.providerRef
        ? { appId: row.appId, provider: row.provider, ref: row.providerRef }
        : null,
  }
}

const scheduledChange = ({ packageId, at }: { packageId: string; at: number }, catalogue: Catalogue) => ({
  packageId,
  packageName: catalogue.packages.get(packageId)?.name ?? packageId,
  at,
})

// Everything is read at one moment, or a plan that changes just then would be missing. A package with a subscription
// cannot be deleted, so a catalogue loaded after the rows contains all of theirs.

export async function subscription(call: Call, id: string): Promise<PackageSubscription> {
  const { app, now } = await momentOf(call)
  const row = isIdentifier(id) ? await findSubscription(call.service.pool, call.appId, id, now) : null
  if (!row) throw subscriptionNotFound(id)
  const known = app.catalogue.packages.has(row.packageId) ? app : (await momentOf(call)).app
  return packageSubscription(row, known.catalogue, now)
}

export async function subscriptions(
  call: Call,
  userId: string | null,
  page: Page,
  cursor: Cursor | null,
): Promise<Chunk<PackageSubscription>> {
  const { now } = await momentOf(call)
  const { pool } = call.service
  const user = userId !== null && isIdentifier(userId) ? await findUser(pool, call.appId, userId) : null
  // An unknown user has no subscriptions, which is not an error.
  if (userId !== null && !user) return { rows: [], next: null }
  const userUid = user?.uid ?? null
  const { rows, next } = await readChunk(
    cursor ?? (await start(call, userUid, page, now)),
    (after, limit) => listSubscriptions(pool, call.appId, userUid, after, limit, now),
    (row) => row.seq,
  )
  const { app } = await momentOf(call)
  return { rows: rows.map((row) => packageSubscription(row, app.catalogue, now)), next }
}

async function start(
  call: Call,
  userUid: number | null,
  { first, after }: Page,
  now: number,
): Promise<Cursor> {
  checkFirst(first)
  if (after === null || after === undefined) return { after: 0, left: first ?? null }
  const last = isIdentifier(after) ? await findSubscription(call.service.pool, call.appId, after, now) : null
  if (!last || (userUid !== null && last.userUid !== userUid)) throw unknownAfter()
  return { after: last.seq, left: first ?? null }
}
