import { randomUUID } from 'node:crypto'
import { countedPeriodsOf } from '../../domain/catalogue.ts'
import { badUserInput, quote, SUBSCRIBE_REFUSALS, subscriptionNotFound } from '../../domain/errors.ts'
import { MAX_TRIAL_DAYS } from '../../domain/limits.ts'
import { countedPeriods, type Package } from '../../domain/package.ts'
import { anchorAfter } from '../../domain/plan-change.ts'
import { providerName } from '../../domain/provider-name.ts'
import {
  anchorFor,
  type EarlierBase,
  endedAt,
  endOfPlan,
  type Subscription,
  termsOf,
} from '../../domain/subscription.ts'
import { timeOf } from '../../domain/time.ts'
import type { UserDb } from '../../store/connection/places.ts'
import {
  cancelNow,
  insertSubscriptions,
  insertSuccessor,
  type SubscriptionRow,
} from '../../store/subscriptions/subscriptions.ts'
import { deleteSuccessors, endAddonsWithPlan, moveTrialEnd } from '../../store/subscriptions/successors.ts'
import { trialLinksToClose } from '../billing/close-trial-links.ts'
import type { Call } from '../call/call.ts'
import { mutateUser } from '../call/mutate.ts'
import { requirePackage, requireSubscription } from '../call/require.ts'
import { keepAddonsWithPlan } from './addons.ts'
import { lockedSituation } from './change-subscription.ts'
import { earlierBases } from './earlier-bases.ts'
import { mutateSubscription } from './locked-subscriber.ts'
import type { Situation } from './plan-change.ts'
import { type PackageSubscription, packageSubscription } from './subscriptions.ts'

const DAY_MS = 86_400_000

export interface TrialInput {
  userId: string
  packageId: string
  days: number | null
  until: string | null
  /** the package that follows; null: none */
  next: string | null
  again: boolean
}

/**
 * Starts a trial of a package, which ends by the clock and is followed by `then`, if given. A trial of a base plan
 * replaces the user's current one, unless that is paid for.
 */
export function startTrial(call: Call, input: TrialInput): Promise<PackageSubscription> {
  const { appId } = call
  return mutateUser(call, input.userId, async (tx, user, moment) => {
    const situation = await lockedSituation(tx, appId, user.uid, moment)
    const { catalogue, held, now } = situation
    const tried = published(catalogue, input.packageId, 'packageId')
    const then = input.next === null ? null : published(catalogue, input.next, 'then')
    const ends = endOf(input, now)
    const base = checkTrial(situation, tried, then, input.again)

    const kept = tried.isAddon ? base : null
    const replaced = base && !kept ? [lastOf(situation, base)] : []
    const counted = [...earlierBases(held, catalogue, now), ...replaced]
    const anchor = kept?.anchor ?? anchorOf(situation, base, tried)
    const trial: Subscription = {
      ...startsAt(tried, now, anchor),
      cancelAt: ends,
      trialEndsAt: ends,
    }
    if (base && !tried.isAddon) {
      await deleteSuccessors(tx, appId, [base.id], now)
      await cancelNow(tx, appId, [base.id], now)
    }
    await insertSubscriptions(tx, appId, user.uid, [trial])
    await trialLinksToClose(tx, appId, user.uid)
    if (then) {
      const ending = { anchor, resetPeriods: countedPeriods(tried) }
      const next = tried.isAddon ? anchor : anchorAfter(ending, countedPeriods(then), counted, ends)
      await insertSuccessor(tx, appId, user.uid, trial.id, startsAt(then, ends, next))
    }
    if (kept) await endWithPlan(tx, appId, user.uid, kept)
    else await keepAddonsWithPlan(tx, appId, user.uid, situation, then ? null : ends)
    return packageSubscription(await requireSubscription(tx, appId, trial.id, now), catalogue, now)
  })
}

/** A trial of an add-on ends with its base plan at the latest. */
async function endWithPlan(
  db: UserDb,
  appId: string,
  userUid: number,
  base: SubscriptionRow | undefined,
): Promise<void> {
  const ends = base ? endOfPlan(base) : null
  if (ends !== null) await endAddonsWithPlan(db, appId, userUid, { was: null, ends })
}

function startsAt(bought: Package, at: number, anchor: number): Subscription {
  return {
    id: `sub_${randomUUID()}`,
    packageId: bought.id,
    isAddon: bought.isAddon,
    startedAt: at,
    anchor,
    cancelAt: null,
    cancelledAt: null,
    metadata: {},
    ...termsOf(bought),
  }
}

/** The plan that a trial replaces. Its periods may still be running when the trial ends. */
const lastOf = ({ catalogue, now }: Situation, base: SubscriptionRow): EarlierBase => ({
  anchor: base.anchor,
  lastLiveAt: now,
  resetPeriods: countedPeriodsOf(catalogue, base, now),
})

/** A trial that replaces a base plan keeps its anchor if they share a reset period. */
function anchorOf(
  { catalogue, held, now }: Situation,
  base: SubscriptionRow | undefined,
  tried: Package,
): number {
  const counted = earlierBases(held, catalogue, now)
  if (!base) return anchorFor(counted, now)
  const resetPeriods = countedPeriodsOf(catalogue, base, now)
  return anchorAfter({ anchor: base.anchor, resetPeriods }, countedPeriods(tried), counted, now)
}

function published(catalogue: Situation['catalogue'], id: string, field: string): Package {
  const found = requirePackage(catalogue, id)
  if (found.status !== 'PUBLISHED') throw badUserInput('Package is not published', field)
  if (found.archived) throw badUserInput(SUBSCRIBE_REFUSALS.archived, field)
  return found
}

function endOf({ days, until }: TrialInput, now: number): number {
  if ((days === null) === (until === null))
    throw badUserInput('Exactly one of days and until is required', 'days')
  if (days !== null) {
    if (!Number.isInteger(days) || days < 1 || days > MAX_TRIAL_DAYS) {
      throw badUserInput(`days must be an integer from 1 to ${MAX_TRIAL_DAYS}`, 'days')
    }
    return now + days * DAY_MS
  }
  return checkEnd(until ?? '', now)
}

function checkEnd(until: string, now: number): number {
  const ends = timeOf('until', until)
  if (ends <= now) throw badUserInput('until must be in the future', 'until')
  if (ends > now + MAX_TRIAL_DAYS * DAY_MS) {
    throw badUserInput(`A trial can last at most ${MAX_TRIAL_DAYS} days`, 'until')
  }
  return ends
}

/** The user's base plan, if they may try the package. */
function checkTrial(
  { held, now }: Situation,
  tried: Package,
  then: Package | null,
  again: boolean,
): SubscriptionRow | undefined {
  const live = held.filter((s) => endedAt(s, now) === null)
  const base = live.find((s) => !s.isAddon)
  if (then && then.isAddon !== tried.isAddon) {
    throw badUserInput(`A base plan can only be followed by a base plan, and an add-on by an add-on`, 'then')
  }
  if (live.some((s) => s.packageId === tried.id)) {
    throw badUserInput('User is already subscribed to package', 'packageId')
  }
  // A user never has an add-on twice.
  for (const [field, addon] of Object.entries({ packageId: tried, then })) {
    const isTaken = (s: SubscriptionRow) => s.isAddon && [s.packageId, s.next?.packageId].includes(addon?.id)
    if (addon?.isAddon && live.some(isTaken)) {
      throw badUserInput(
        `The user already has the add-on ${quote(addon.id)}, or will have it after a trial`,
        field,
      )
    }
  }
  if (!again && held.some((s) => s.packageId === tried.id && s.trialEndsAt !== null)) {
    throw badUserInput(
      `The user has already had a trial of ${quote(tried.id)}. Pass again: true to allow another one.`,
      'again',
    )
  }
  if (tried.isAddon && !base) throw badUserInput('The user has no base plan for this add-on', 'packageId')
  if (!tried.isAddon && base && base.provider !== null) {
    throw badUserInput(
      `The user has a paid subscription to ${quote(base.packageId)}. Change that subscription instead.`,
      'packageId',
    )
  }
  return base
}

/** Extends a trial and postpones its successor. */
export async function extendTrial(call: Call, id: string, until: string): Promise<PackageSubscription> {
  const { appId } = call
  return mutateSubscription(call, id, async (tx, userUid, moment) => {
    const { catalogue, held, now } = await lockedSituation(tx, appId, userUid, moment)
    const trial = held.find((s) => s.id === id)
    if (!trial) throw subscriptionNotFound(id)
    if (trial.trialEndsAt === null) throw badUserInput('This subscription is not a trial', 'id')
    if (endedAt(trial, now) !== null) throw badUserInput('The trial has ended. Start another one.', 'id')
    if (trial.provider !== null) {
      throw badUserInput(`The trial is managed by ${providerName(trial.provider)}. Extend it there.`, 'id')
    }
    const ends = checkEnd(until, now)
    if (ends <= trial.trialEndsAt) {
      const current = new Date(trial.trialEndsAt).toISOString()
      throw badUserInput(`until must be later than the current end of the trial, ${current}`, 'until')
    }
    const then = trial.next && requirePackage(catalogue, trial.next.packageId)
    const ending = {
      anchor: trial.anchor,
      resetPeriods: countedPeriodsOf(catalogue, trial, now),
    }
    const nextAnchor =
      then && !trial.isAddon
        ? anchorAfter(ending, countedPeriods(then), earlierBases(held, catalogue, now), ends)
        : trial.anchor
    await moveTrialEnd(tx, appId, id, { at: ends, nextAnchor })
    const base = held.find((s) => !s.isAddon && endedAt(s, now) === null)
    if (trial.isAddon) await endWithPlan(tx, appId, userUid, base)
    else await keepAddonsWithPlan(tx, appId, userUid, { held, now }, trial.next ? trial.next.endsAt : ends)
    return packageSubscription(await requireSubscription(tx, appId, id, now), catalogue, now)
  })
}
