import type { BulkAction } from '../../domain/bulk-change.ts'
import { TollgateError } from '../../domain/errors.ts'
import { type Override, overrideAt } from '../../domain/override.ts'
import { endedAt } from '../../domain/subscription.ts'
import { type BulkRow, keepUndo } from '../../store/bulk/bulk-changes.ts'
import type { Member } from '../../store/members/members.ts'
import { livePlans } from '../../store/subscriptions/subscription-list.ts'
import { findSubscription, type SubscriptionRow } from '../../store/subscriptions/subscriptions.ts'
import { findUserByUid, type UserRow } from '../../store/users/users.ts'
import { requireApp } from '../apps/apps.ts'
import type { Call } from '../call/call.ts'
import type { Service } from '../call/service.ts'
import { removeOverride } from '../overrides/remove-override.ts'
import { setOverride } from '../overrides/set-override.ts'
import type { MutationName } from '../registry/registry.ts'
import { cancelScheduledChange } from '../subscriptions/cancel-scheduled-change.ts'
import { cancelSubscription } from '../subscriptions/cancel-subscription.ts'
import { changeSubscription } from '../subscriptions/change-subscription.ts'
import { keepSubscription } from '../subscriptions/keep-subscription.ts'
import { startTrial } from '../subscriptions/start-trial.ts'

/** One row of a bulk change. */
interface One {
  service: Service
  appId: string
  member: Member
  bulkId: string
  action: BulkAction
  row: BulkRow
}

/** The state of the user before the change. */
interface Current {
  user: UserRow
  plan: SubscriptionRow | null
  now: number
}

const CHANGED_SINCE = 'Changed since'

/** Changes one user. Null: done; otherwise the reason why not. */
export async function changeOne(one: One): Promise<string | null> {
  const { service, appId, action, row } = one
  const current = await currentOf(one)
  if (!current) return 'The user was deleted'
  const { user, plan, now } = current
  const userId = user.id
  return refusalOf(async () => {
    switch (action.kind) {
      case 'CHANGE_PLAN': {
        const { packageId, when } = action
        // The check may be hours old.
        if (plan?.provider != null) return 'Charged by a billing provider'
        if (plan) await keepUndo(service.pool, appId, one.bulkId, row.number, plan)
        const args = { userId, packageId, when }
        await changeSubscription(callFor(one, 'changeSubscription', args), {
          ...args,
          quantity: null,
          priceId: null,
        })
        return null
      }
      case 'START_TRIAL': {
        // A trial of this plan is the one of an interrupted step.
        if (plan && plan.packageId !== action.packageId) return 'Has a plan'
        const args = { userId, packageId: action.packageId, days: action.days }
        await startTrial(callFor(one, 'startTrial', args), { ...args, until: null, next: null, again: false })
        return null
      }
      case 'CANCEL': {
        const id = row.subscriptionId ?? ''
        const { atPeriodEnd } = action
        await cancelSubscription(callFor(one, 'cancelSubscription', { id, atPeriodEnd }), id, atPeriodEnd)
        return null
      }
      case 'SET_OVERRIDE': {
        const set = overrideAt(user.overrides, action.override.featureId, now)
        if (set && !isSame(set, action.override)) return 'Has an override of this feature'
        const input = { ...action.override, userId }
        await setOverride(callFor(one, 'setOverride', { input }), input)
        return null
      }
    }
  })
}

/** Takes one user's change back. Null: done; otherwise the reason why not. */
export async function changeBack(one: One): Promise<string | null> {
  const { service, appId, action, row } = one
  const current = await currentOf(one)
  if (!current) return 'The user was deleted'
  const { user, plan, now } = current
  const userId = user.id
  return refusalOf(async () => {
    switch (action.kind) {
      case 'CHANGE_PLAN': {
        const before = row.undo
        if (!before) return CHANGED_SINCE
        if (plan?.next?.packageId === action.packageId && plan.packageId === before.packageId) {
          await cancelScheduledChange(callFor(one, 'cancelScheduledChange', { userId }), userId)
          return null
        }
        if (plan?.packageId !== action.packageId || plan.provider !== null) return CHANGED_SINCE
        const args = { userId, ...before, when: 'NOW' as const }
        await changeSubscription(callFor(one, 'changeSubscription', args), { ...args, priceId: null })
        return null
      }
      case 'START_TRIAL': {
        if (plan?.packageId !== action.packageId || plan.trialEndsAt === null) return CHANGED_SINCE
        const args = { id: plan.id, atPeriodEnd: false }
        await cancelSubscription(callFor(one, 'cancelSubscription', args), plan.id, false)
        return null
      }
      case 'CANCEL': {
        const id = row.subscriptionId ?? ''
        const found = await findSubscription(service.pool, appId, id, now)
        if (!found || endedAt(found, now) !== null || found.cancelAt === null) return CHANGED_SINCE
        await keepSubscription(callFor(one, 'keepSubscription', { id }), id)
        return null
      }
      case 'SET_OVERRIDE': {
        const { featureId } = action.override
        const set = overrideAt(user.overrides, featureId, now)
        if (!set || !isSame(set, action.override)) return CHANGED_SINCE
        await removeOverride(callFor(one, 'removeOverride', { userId, featureId }), userId, featureId)
        return null
      }
    }
  })
}

const isSame = (
  a: Override,
  b: Pick<Override, 'mode' | 'limit' | 'overageEnabled' | 'expiresAt' | 'reason'>,
) =>
  (['mode', 'limit', 'overageEnabled', 'expiresAt', 'reason'] as const).every(
    (field) => a[field] === b[field],
  )

async function currentOf({ service: { pool }, appId, row }: One): Promise<Current | null> {
  const user = await findUserByUid(pool, appId, row.userUid)
  if (!user) return null
  const { now } = await requireApp(pool, appId)
  const [plan = null] = await livePlans(pool, appId, [user.uid], now)
  return { user, plan, now }
}

/** A refusal is the outcome of the row. Anything transient fails the step, which is run again. */
async function refusalOf(change: () => Promise<string | null>): Promise<string | null> {
  try {
    return await change()
  } catch (error) {
    if (!(error instanceof TollgateError) || error.retryAfter !== null) throw error
    return error.code === 'USER_NOT_FOUND' ? 'The user was deleted' : error.message
  }
}

/**
 * The operation for one user, as if the member had called it: with the member's role, an audit entry, and a key that
 * makes a repeated step take effect once.
 */
function callFor(
  { service, appId, member, bulkId, row }: One,
  name: MutationName,
  args: Record<string, unknown>,
): Call {
  return {
    service,
    appId,
    actor: { kind: 'member', member, mutation: { name, args: { appId, ...args } } },
    idempotency: { key: `${bulkId} ${row.number} ${row.outcome}`, request: Buffer.from(name), field: name },
    deadline: null,
  }
}
