import { homeOfRemote } from './cells.ts'
import { type Db, TryAgain } from './database.ts'

// What keys and triggers do in the other cells is done here for a cell on another server, where they reach nothing. All of
// it does nothing anywhere else.

/** Holds what new subscriptions refer to until the transaction ends. */
export async function holdReferences(
  db: Db,
  appId: string,
  packageIds: readonly string[],
  paid: { provider: string; ref: string } | null,
): Promise<void> {
  const home = homeOfRemote(db)
  if (home === null) return
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

/** Someone of a user's billing ids. */
export interface OwnBillingId {
  uid: number
  billingId: string | null
}

/** Notes who has a billing id now that had another, or none, before. */
export async function noteBillingIds(
  db: Db,
  appId: string,
  before: readonly OwnBillingId[],
  after: readonly OwnBillingId[],
): Promise<void> {
  const home = homeOfRemote(db)
  if (home === null) return
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
