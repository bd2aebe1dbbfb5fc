import { type Access, checkDelta, decideAccess } from '../../domain/access.ts'
import { type Catalogue, grantsOf, versionOf } from '../../domain/catalogue.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import { overrideAt } from '../../domain/override.ts'
import type { ResetPeriod } from '../../domain/period.ts'
import { isGone, type Payment, reversalsDuring } from '../../domain/reversal.ts'
import { standingOf } from '../../domain/standing.ts'
import { endedAt } from '../../domain/subscription.ts'
import { accessEnded } from '../../store/billing/provider-subscriptions.ts'
import { usedOf } from '../../store/subscriptions/subscribers.ts'
import { type SubscriptionRow, subscriptionsOfUser } from '../../store/subscriptions/subscriptions.ts'
import { findUser } from '../../store/users/users.ts'
import { foundApp } from '../apps/apps.ts'
import type { Call } from '../call/call.ts'
import { catalogueOf } from '../catalogue/catalogue.ts'
import { type ExplainedStep, type ExplainedSubscription, stepsOf } from './explanation-steps.ts'

export interface Explanation extends Access {
  now: number
  resetPeriod: ResetPeriod | null
  periodStart: number | null
  periodEnd: number | null
  steps: ExplainedStep[]
  subscriptions: ExplainedSubscription[]
}

/** Explains an answer of `canUseFeature`: the same rules, each with what it found. */
export async function explain(
  call: Call,
  userId: string,
  featureId: string,
  delta: number,
): Promise<Explanation> {
  const { appId } = call
  const { pool } = call.service
  const { now } = await foundApp(pool, appId)
  checkDelta(delta)
  const user = isIdentifier(userId) ? await findUser(pool, appId, userId) : null
  const held = user ? await subscriptionsOfUser(pool, appId, user.uid, now) : []
  const catalogue = await catalogueOf(call)
  const live = held.filter((s) => endedAt(s, now) === null)
  const standing = standingOf(catalogue, featureId, user && { live, overrides: user.overrides }, now)
  const metered = standing.kind === 'metered' ? standing : null
  const [used = 0] =
    user && metered
      ? await usedOf(pool, appId, [
          {
            uid: user.uid,
            featureId,
            resetPeriod: metered.allowance.resetPeriod,
            periodStart: metered.period.start,
          },
        ])
      : []
  const access = decideAccess(standing, used, delta)
  const withheld = user ? await accessEnded(pool, appId, user.uid) : new Map<string, Payment[]>()
  const subscriptions = held
    .map((row) => ({
      ...explained(row, catalogue, featureId, now),
      takenBack: takenBackOf(row, withheld, now),
    }))
    .sort((a, b) => Number(b.live) - Number(a.live))
  return {
    ...access,
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
      override: overrideAt(user?.overrides ?? null, featureId, now),
      subscriptions,
      standing,
      used,
      delta,
      access,
    }),
  }
}

/** Why a refund or a dispute ended it; null: neither did. Of what it paid for, the newest is ended by it. */
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
): Omit<ExplainedSubscription, 'takenBack'> {
  const ended = endedAt(row, now)
  const version = versionOf(catalogue, row, now)
  const nameOf = (packageId: string) => catalogue.packages.get(packageId)?.name ?? packageId
  return {
    id: row.id,
    packageId: row.packageId,
    packageName: nameOf(row.packageId),
    isAddon: row.isAddon,
    live: ended === null,
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
