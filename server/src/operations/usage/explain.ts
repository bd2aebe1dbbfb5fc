import { type Access, checkDelta } from '../../domain/access.ts'
import { checkedEntities } from '../../domain/cap.ts'
import { type Catalogue, grantsOf, versionOf } from '../../domain/catalogue.ts'
import { overrideAt } from '../../domain/override.ts'
import type { ResetPeriod } from '../../domain/period.ts'
import { isGone, type Payment, reversalsDuring } from '../../domain/reversal.ts'
import { endedAt } from '../../domain/subscription.ts'
import type { LiveSubscription } from '../../domain/user-entitlement.ts'
import { accessEnded } from '../../store/billing/provider-subscriptions.ts'
import { type SubscriptionRow, subscriptionsOfUser } from '../../store/subscriptions/subscriptions.ts'
import { findUserByUid } from '../../store/users/users.ts'
import { requireApp } from '../apps/apps.ts'
import type { Call } from '../call/call.ts'
import type { EntitlementState } from '../call/hot-paths.ts'
import { accessOf, deniedBy } from './can-use-feature.ts'
import { type ExplainedStep, type ExplainedSubscription, stepsOf } from './explanation-steps.ts'
import { readEntitlements } from './read-entitlements.ts'

export interface Explanation extends Access {
  /** as `canUseFeature` says it */
  deniedBy: string | null
  now: number
  resetPeriod: ResetPeriod | null
  periodStart: number | null
  periodEnd: number | null
  steps: ExplainedStep[]
  subscriptions: ExplainedSubscription[]
}

/** Explains an answer of `canUseFeature`: the same rules, each with its result. */
export async function explain(
  call: Call,
  userId: string,
  featureId: string,
  delta: number,
  asked: readonly string[] = [],
): Promise<Explanation> {
  const { appId } = call
  const { pool } = call.service
  await requireApp(pool, appId)
  checkDelta(delta)
  const entities = checkedEntities(asked)
  const found = await decided(call, userId, featureId, entities)
  const { entitlement, holder, catalogue, used, purse, now, uid } = found
  const user = uid === null ? null : ((await findUserByUid(pool, appId, uid)) ?? { name: null })
  const held = uid === null ? [] : await subscriptionsOfUser(pool, appId, uid, now)
  const metered = entitlement.kind === 'metered' ? entitlement : null
  const access = accessOf(found, delta, entities)
  const withheld = uid === null ? new Map<string, Payment[]>() : await accessEnded(pool, appId, uid)
  const subscriptions = held
    .map((row) => ({
      ...explained(row, catalogue, featureId, now),
      live: isAmong(holder?.live ?? [], row),
      takenBack: takenBackOf(row, withheld, now),
    }))
    .sort((a, b) => Number(b.live) - Number(a.live))
  return {
    ...access,
    deniedBy: deniedBy(access),
    now,
    resetPeriod: metered?.allowance.resetPeriod ?? null,
    periodStart: metered?.period.start ?? null,
    periodEnd: metered?.period.end ?? null,
    subscriptions,
    steps: stepsOf({
      appId,
      userId,
      user,
      featureId,
      catalogue,
      override: overrideAt(holder?.overrides ?? null, featureId, now),
      subscriptions,
      entitlement,
      used,
      purse,
      now,
      delta,
      entities,
      access,
    }),
  }
}

/** Decision of a check now, with all data that it relies on, read in one statement. */
async function decided(
  { service, ...caller }: Call,
  userId: string,
  featureId: string,
  entities: readonly string[],
): Promise<EntitlementState> {
  const { usageStore, apps, pool } = service
  const client = await pool.connect()
  try {
    const [found] = await readEntitlements(usageStore, apps, client, [
      { caller, userId, featureId, entities },
    ])
    if (!found || 'error' in found) throw found?.error ?? new Error('a question was not answered')
    return found.value
  } finally {
    client.release()
  }
}

const isAmong = (live: readonly LiveSubscription[], row: SubscriptionRow): boolean =>
  live.some((s) => s.packageId === row.packageId && s.startedAt === row.startedAt)

/** Reason why a refund or a dispute ended it; null: neither did. A payment ends the newest subscription that it paid for. */
function takenBackOf(
  row: SubscriptionRow,
  withheld: ReadonlyMap<string, Payment[]>,
  now: number,
): ExplainedSubscription['takenBack'] {
  const payments = withheld.get(`${row.provider}/${row.providerRef}`)
  const ended = endedAt(row, now)
  if (!payments || ended === null) return null
  const [payment] = reversalsDuring(payments, { startedAt: row.startedAt, endedAt: ended }).filter(isGone)
  if (!payment) return null
  return payment.refundedAt !== null && payment.refunded >= payment.amount
    ? { how: 'refunded', at: payment.refundedAt }
    : { how: 'disputed', at: payment.dispute?.openedAt ?? ended }
}

function explained(
  row: SubscriptionRow,
  catalogue: Catalogue,
  featureId: string,
  now: number,
): Omit<ExplainedSubscription, 'takenBack' | 'live'> {
  const ended = endedAt(row, now)
  const version = versionOf(catalogue, row, now)
  const nameOf = (packageId: string) => catalogue.packages.get(packageId)?.name ?? packageId
  return {
    id: row.id,
    packageId: row.packageId,
    packageName: nameOf(row.packageId),
    isAddon: row.isAddon,
    startedAt: row.startedAt,
    cancelAt: row.cancelAt,
    cancelledAt: ended,
    quantity: row.quantity,
    earlierVersion: version === catalogue.packages.get(row.packageId)?.version ? null : version,
    trialEndsAt: row.trialEndsAt,
    next: row.next && {
      packageId: row.next.packageId,
      packageName: nameOf(row.next.packageId),
      at: row.next.at,
    },
    grant: grantsOf(catalogue, row, now)?.get(featureId) ?? null,
  }
}
