import { TryAgain } from '../connection/database.ts'
import type { HomeDb, OwnBillingId, PaidBy } from '../connection/places.ts'

// Replaces, for a cell on another server, foreign keys and triggers that do not reach it.

/** Holds what new subscriptions refer to until the transaction ends. */
export async function holdReferences(
  db: HomeDb,
  home: string,
  appId: string,
  packageIds: readonly string[],
  paid: PaidBy | null,
): Promise<void> {
  const ids = [...new Set(packageIds)]
  const { rowCount: packages } = await db.query(
    `select from ${home}.package where app_id = $1 and id = any($2) order by id for key share`,
    [appId, ids],
  )
  // The next attempt finds it gone.
  if (packages !== ids.length) throw new TryAgain('the package was deleted in the meantime')
  if (!paid) return
  const { rowCount: payments } = await db.query(
    `select from ${home}.provider_subscription where app_id = $1 and provider = $2 and ref = $3 for key share`,
    [appId, paid.provider, paid.ref],
  )
  if (payments === 0) throw new TryAgain('the provider subscription was deleted in the meantime')
}

/** Stores which users have which billing ids now, given those they had before. */
export async function noteBillingIds(
  db: HomeDb,
  home: string,
  appId: string,
  before: readonly OwnBillingId[],
  after: readonly OwnBillingId[],
): Promise<void> {
  const [former, present] = [known(before), known(after)]
  const isIn = (all: readonly KnownBillingId[], { uid, billingId }: KnownBillingId) =>
    all.some((one) => one.uid === uid && one.billingId === billingId)
  const gone = former.filter((one) => !isIn(present, one))
  const come = present.filter((one) => !isIn(former, one))
  if (gone.length > 0)
    await db.query(
      `delete from ${home}.user_billing_id t using unnest($2::text[], $3::bigint[]) as g (billing_id, uid)
       where t.app_id = $1 and t.billing_id = g.billing_id and t.uid = g.uid`,
      [appId, gone.map(({ billingId }) => billingId), gone.map(({ uid }) => uid)],
    )
  if (come.length > 0)
    await db.query(
      `select ${home}.claim_billing_id($1, c.billing_id, c.uid)
       from unnest($2::text[], $3::bigint[]) as c (billing_id, uid) order by c.billing_id`,
      [appId, come.map(({ billingId }) => billingId), come.map(({ uid }) => uid)],
    )
}

type KnownBillingId = { uid: number; billingId: string }

const known = (all: readonly OwnBillingId[]): KnownBillingId[] =>
  all.flatMap(({ uid, billingId }) => (billingId === null ? [] : [{ uid, billingId }]))
