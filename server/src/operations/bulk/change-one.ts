import type { BulkAction } from '../../domain/bulk-change.ts'
import { TollgateError } from '../../domain/errors.ts'
import { type Override, overrideAt } from '../../domain/override.ts'
import { endedAt } from '../../domain/subscription.ts'
import { type BulkRow, keepUndo } from '../../store/bulk/bulk-rows.ts'
import type { Member } from '../../store/members/members.ts'
import { livePlans } from '../../store/subscriptions/subscription-list.ts'
import { findSubscription, type SubscriptionRow } from '../../store/subscriptions/subscriptions.ts'
import { findUserByUid, type UserRow } from '../../store/users/users.ts'
import { requireApp } from '../apps/apps.ts'
import type { Call } from '../call/call.ts'
import { earlierAnswer } from '../call/mutate.ts'
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

/** Outcome of a row. */
interface Moved {
  /** why it was not changed; null: it was */
  problem: string | null
  /** the subscription that the change made; null: none */
  made: string | null
}

/** The state of the user before the change. */
interface Current {
  user: UserRow
  plan: SubscriptionRow | null
  now: number
}

const CHANGED_SINCE = refused('Changed since')

/** Changes one user. */
export function changeOne(one: One): Promise<Moved> {
  const { action } = one
  return moved(one, async (current) => {
    switch (action.kind) {
      case 'CHANGE_PLAN':
        return changePlan(one, action, current)
      case 'START_TRIAL': {
        if (current.plan) return refused('Has a plan')
        const args = { userId: current.user.id, packageId: action.packageId, days: action.days }
        const input = { ...args, until: null, next: null, again: false }
        return done((await startTrial(callFor(one, 'startTrial', args), input)).id)
      }
      case 'CANCEL': {
        const found = await subscriptionOf(one, current.now)
        if (!found) return CHANGED_SINCE
        const args = { id: found.id, atPeriodEnd: action.atPeriodEnd }
        await cancelSubscription(callFor(one, 'cancelSubscription', args), found.id, action.atPeriodEnd)
        return done()
      }
      case 'SET_OVERRIDE': {
        const { user, now } = current
        if (overrideAt(user.overrides, action.override.featureId, now))
          return refused('Has an override of this feature')
        const input = { ...action.override, userId: user.id }
        await setOverride(callFor(one, 'setOverride', { input }), input)
        return done()
      }
    }
  })
}

/** Takes one user's change back. */
export function changeBack(one: One): Promise<Moved> {
  const { action, row } = one
  return moved(one, async ({ user, plan, now }) => {
    const userId = user.id
    switch (action.kind) {
      case 'CHANGE_PLAN': {
        if (!plan || !row.undo) return CHANGED_SINCE
        if (plan.next?.id === row.subscriptionId) {
          await cancelScheduledChange(callFor(one, 'cancelScheduledChange', { userId }), userId)
          return done()
        }
        if (plan.id !== row.subscriptionId || plan.provider !== null) return CHANGED_SINCE
        const args = { userId, ...row.undo, when: 'NOW' as const }
        await changeSubscription(callFor(one, 'changeSubscription', args), { ...args, priceId: null })
        return done()
      }
      case 'START_TRIAL': {
        if (plan?.id !== row.subscriptionId || !plan || plan.trialEndsAt === null) return CHANGED_SINCE
        const args = { id: plan.id, atPeriodEnd: false }
        await cancelSubscription(callFor(one, 'cancelSubscription', args), plan.id, false)
        return done()
      }
      case 'CANCEL': {
        const found = await subscriptionOf(one, now)
        if (!found || found.cancelAt === null) return CHANGED_SINCE
        await keepSubscription(callFor(one, 'keepSubscription', { id: found.id }), found.id)
        return done()
      }
      case 'SET_OVERRIDE': {
        const { featureId } = action.override
        const set = overrideAt(user.overrides, featureId, now)
        if (!set || !isSame(set, action.override)) return CHANGED_SINCE
        await removeOverride(callFor(one, 'removeOverride', { userId, featureId }), userId, featureId)
        return done()
      }
    }
  })
}

async function changePlan(
  one: One,
  { packageId, when }: Extract<BulkAction, { kind: 'CHANGE_PLAN' }>,
  { user, plan }: Current,
): Promise<Moved> {
  const { service, appId, row } = one
  if (!plan || plan.id !== row.subscriptionId || plan.next) return CHANGED_SINCE
  // The check may be hours old.
  if (plan.provider !== null) return refused('Charged by a billing provider')
  // Before the change, in case that the process ends right after it.
  await keepUndo(service.pool, appId, one.bulkId, row.number, plan)
  const args = { userId: user.id, packageId, when }
  await changeSubscription(callFor(one, 'changeSubscription', args), {
    ...args,
    quantity: null,
    priceId: null,
  })
  return done(madeBy(packageId, (await currentOf(one))?.plan ?? null))
}

/** The subscription that a change of plan has made: the current one, or the one that follows it. */
function madeBy(packageId: string, plan: SubscriptionRow | null): string | null {
  if (plan?.next?.packageId === packageId) return plan.next.id
  return plan?.packageId === packageId ? plan.id : null
}

/** The subscription of the row, if it has not ended. */
async function subscriptionOf(
  { service: { pool }, appId, row }: One,
  now: number,
): Promise<SubscriptionRow | null> {
  const found = await findSubscription(pool, appId, row.subscriptionId ?? '', now)
  return found && endedAt(found, now) === null ? found : null
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

const done = (made: string | null = null): Moved => ({ problem: null, made })

function refused(problem: string): Moved {
  return { problem, made: null }
}

/**
 * Runs the change, unless an interrupted step has made it already. A refusal is the outcome of the row. Anything
 * transient fails the step, which is run again; so does a member without the role, which ends the whole change.
 */
async function moved(one: One, change: (current: Current) => Promise<Moved>): Promise<Moved> {
  const { action } = one
  try {
    const current = await currentOf(one)
    if (!current) return refused('The user was deleted')
    if (!(await earlierAnswer(callFor(one, null, {})))) return await change(current)
    return done(action.kind === 'CHANGE_PLAN' ? madeBy(action.packageId, current.plan) : null)
  } catch (error) {
    if (!(error instanceof TollgateError) || error.retryAfter !== null) throw error
    if (error.code === 'FORBIDDEN' || error.code === 'UNAUTHENTICATED') throw error
    return refused(error.code === 'USER_NOT_FOUND' ? 'The user was deleted' : error.message)
  }
}

/**
 * The operation for one user, as if the member had called it: with the member's role, an audit entry, and a key that
 * makes a repeated step take effect once.
 */
function callFor(
  { service, appId, member, bulkId, row }: One,
  name: MutationName | null,
  args: Record<string, unknown>,
): Call {
  return {
    service,
    appId,
    actor: { kind: 'member', member, mutation: name && { name, args: { appId, ...args } } },
    idempotency: { key: `${bulkId} ${row.number} ${row.outcome}`, request: REQUEST, field: 'row' },
    deadline: null,
  }
}

const REQUEST = Buffer.from('bulk change')
