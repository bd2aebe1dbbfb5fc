import { newestSubscriptions } from '../../store/subscriptions.ts'
import { foundApp } from '../apps/apps.ts'
import type { Call } from '../call/call.ts'
import { foundUser } from '../call/found.ts'
import { type KeyedPage, keyBefore, pageOf, pageSize } from '../call/pages.ts'
import { catalogueOf } from '../catalogue/catalogue.ts'
import { type PackageSubscription, packageSubscription } from './subscriptions.ts'

/** Newest first: all, one user's or one package's. */
export async function dashboardSubscriptions(
  call: Call,
  of: { userId?: string | null | undefined; packageId?: string | null | undefined },
  first: number | null | undefined,
  after: string | null | undefined,
): Promise<KeyedPage<PackageSubscription>> {
  const { appId } = call
  const { pool } = call.service
  const { now } = await foundApp(pool, appId)
  const size = pageSize(first)
  const userUid = of.userId ? (await foundUser(pool, appId, of.userId)).uid : null
  const rows = await newestSubscriptions(
    pool,
    appId,
    { userUid, packageId: of.packageId ?? null },
    keyBefore(after),
    size + 1,
    now,
  )
  // Loaded after the rows, so that it includes the packages of all of them.
  const catalogue = await catalogueOf(call)
  const page = pageOf(rows, size, (row) => row.seq)
  return { rows: page.rows.map((row) => packageSubscription(row, catalogue, now)), next: page.next }
}
