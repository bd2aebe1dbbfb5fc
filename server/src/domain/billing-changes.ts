import type { Billed, BilledPackage, HeldSubscription } from './bill.ts'
import { endedAt, endOfPlan, type SubscriptionSpan } from './subscription.ts'
import { triesAgain } from './tries-again.ts'

type Started = Omit<SubscriptionSpan, 'id' | 'metadata'> & Pick<HeldSubscription, 'quantity' | 'trialEndsAt'>

export interface BillingChanges {
  insert: Started[]
  update: ({ id: string } & Pick<HeldSubscription, 'anchor' | 'cancelAt' | 'quantity' | 'trialEndsAt'>)[]
  end: { id: string; at: number }[]
  /** subscriptions whose planned successors are dropped */
  unplan: string[]
  /** planned successor of a subscription, or of the base plan that is inserted if `follows` is null */
  plan: { follows: string | null; successor: Started } | null
  /** to be cancelled at the provider: replaced by another, or without a base plan */
  cancelAtProvider: { provider: string; ref: string }[]
  /** to be fetched from the provider again: the end of the base plan has changed */
  askAgain: { provider: string; ref: string }[]
  /** add-ons without a base plan */
  lacksBasePlan: boolean
  /** one-off payments that already grant everything on this bill */
  heldAlready: HeldSubscription[]
  /** the trial was already used */
  triedBefore: boolean
}

/**
 * Applies a provider's report about one of its subscriptions to a user's subscriptions.
 *
 * Invariants (billing-changes.test.ts):
 * - applying a report twice changes nothing the second time;
 * - in whatever order reports arrive, of two base plans the one paid later stays live;
 * - a second trial of a package ends before anything is charged;
 * - every payment results in a subscription, even if already ended, or is reported as granting nothing;
 * - a user has at most one live base plan and each package at most once;
 * - no add-on outlasts the base plan and its successors;
 * - a subscription that has ended is never revived: a new one is created instead;
 * - a plan that is replaced on the same bill ends in the millisecond in which the other begins, and usage is kept.
 *
 * `graceEnd` is when access ends after a failed payment; null if no payment has failed.
 */
export function billingChanges(
  billed: Billed,
  held: readonly HeldSubscription[],
  graceEnd: number | null,
  now: number,
): BillingChanges {
  const changes: BillingChanges = {
    insert: [],
    update: [],
    end: [],
    unplan: [],
    plan: null,
    cancelAtProvider: [],
    askAgain: [],
    lacksBasePlan: false,
    heldAlready: [],
    triedBefore: false,
  }
  const isMine = (s: HeldSubscription) => s.provider === billed.provider && s.providerRef === billed.ref
  const live = held.filter((s) => endedAt(s, now) === null)
  const mine = live.filter(isMine)
  const others = live.filter((s) => !isMine(s))

  const due = billed.scheduled !== null && billed.scheduled.at <= now ? billed.scheduled : null
  const packages = due?.packages ?? billed.packages
  const switchedAt = due?.at ?? now
  const end = earliest(billed.cancelAt, graceEnd)
  const over = billed.billingStatus === 'ended' || (end !== null && end <= now)
  if (over || billed.billingStatus === 'paused' || billed.billingStatus === 'never') {
    const at = Math.min(billed.endedAt ?? end ?? now, now)
    // Packages removed from the bill before it ended were paid for. A bill that its provider no longer knows has no
    // packages.
    const endedWith = billed.billingStatus === 'ended' && others.some((s) => !s.isAddon) ? packages : []
    for (const s of mine) {
      const isPaid = endedWith.length > 0 && isPaidUntilEnd(s, endedWith)
      if (!isPaid) changes.end.push({ id: s.id, at: Math.max(at, s.startedAt) })
    }
    // It started and ended before the first report: record it as it was.
    if (billed.billingStatus !== 'never' && !held.some(isMine)) {
      changes.insert = packages.map((p) => ({
        ...started(p, billed, Math.min(billed.madeAt, at)),
        cancelAt: null,
        cancelledAt: at,
      }))
    }
    endAddonsWithout(changes, held, isMine, now)
    return changes
  }

  if (triesAgain(billed, packages, held, isMine, now)) {
    changes.triedBefore = true
    const startedAt = Math.min(billed.madeAt, now)
    if (!held.some(isMine))
      changes.insert = packages.map((p) => ({
        ...started(p, billed, startedAt),
        trialEndsAt: null,
        cancelledAt: startedAt,
      }))
    changes.cancelAtProvider.push({ provider: billed.provider, ref: billed.ref })
    return changes
  }
  if (billed.forGood && mine.length === 0) {
    const same = others.filter(
      (s) => s.forGood && s.cancelAt === null && packages.some((p) => p.id === s.packageId),
    )
    if (same.length === packages.length) {
      changes.heldAlready = same
      return changes
    }
  }
  const rivals = others.filter((s) => packages.some((p) => p.id === s.packageId || bothBase(p, s)))
  const laterPaid = rivals.filter((s) => isLater(s, billed))
  if (laterPaid.length > 0) {
    for (const s of mine) changes.end.push({ id: s.id, at: now })
    // It was replaced before the first report: record it as it was.
    if (!held.some(isMine)) {
      const startedAt = Math.min(billed.madeAt, now)
      const cancelledAt = Math.max(startedAt, Math.min(...laterPaid.map((s) => s.startedAt)))
      changes.insert = packages.map((p) => ({ ...started(p, billed, startedAt), cancelledAt }))
    }
    if (!billed.forGood) changes.cancelAtProvider.push({ provider: billed.provider, ref: billed.ref })
    return changes
  }
  const replaced = others.filter((s) => rivals.some((r) => r === s || sameProviderSubscription(r, s)))
  for (const s of replaced) {
    changes.end.push({ id: s.id, at: now })
    cancelBehind(changes, s)
  }

  const remaining = others.filter((s) => !replaced.includes(s))
  // There is none if the bill contains one.
  const base = remaining.find((s) => !s.isAddon)
  const bringsBase = packages.some((p) => !p.isAddon)
  if (!bringsBase && !base) {
    for (const s of mine) changes.end.push({ id: s.id, at: now })
    // If there was a base plan and it is gone, the add-ons are cancelled.
    if (!held.some(isMine)) changes.lacksBasePlan = true
    else if (!billed.forGood) changes.cancelAtProvider.push({ provider: billed.provider, ref: billed.ref })
    return changes
  }
  const mineBase = mine.find((s) => !s.isAddon)
  const ownAnchor = billed.keepsAnchor && mineBase ? mineBase.anchor : billed.anchor
  const anchor = base?.anchor ?? ownAnchor
  const later =
    !due && billed.scheduled && (end === null || billed.scheduled.at < end) ? billed.scheduled : null
  const losesBase = bringsBase && later !== null && !later.packages.some((p) => !p.isAddon)
  const first = !held.some(isMine)
  for (const p of packages) {
    // Packages that the scheduled change replaces end with it. Add-ons end with their base plan at the latest.
    const isReplaced =
      later !== null &&
      (losesBase || !later.packages.some((next) => (p.isAddon ? p.id === next.id : isSame(p, next))))
    const own = earliest(end, isReplaced ? later.at : null)
    const cancelAt = earliest(own, base ? endOfPlan(base) : null)
    const kept = mine.find((s) => s.packageId === p.id)
    // The trial is remembered, so that there is no second one.
    const before = first ? billed.triedUntil : null
    const tried = kept?.trialEndsAt == null ? before : Math.min(kept.trialEndsAt, now)
    const terms = { anchor, cancelAt, quantity: p.quantity, trialEndsAt: billed.trialEndsAt ?? tried }
    if (!kept) {
      const startedAt = first ? Math.min(billed.madeAt, now) : switchedAt
      changes.insert.push({ ...started(p, billed, startedAt), ...terms })
    } else if (!isOn(kept, terms)) changes.update.push({ id: kept.id, ...terms })
    if (!p.isAddon) planNext(changes, later, p, kept, { ...started(p, billed, now), ...terms, cancelAt: end })
  }
  for (const s of mine) {
    const dropped = !packages.some((p) => p.id === s.packageId)
    if (dropped && !isPaidUntilEnd(s, packages))
      changes.end.push({ id: s.id, at: Math.max(switchedAt, s.startedAt) })
  }
  if (bringsBase) {
    const was = mineBase ? endOfPlan(mineBase) : null
    const freePlan = mineBase?.next?.provider === null && changes.plan === null ? mineBase.next : null
    const planEnd = freePlan ? freePlan.endsAt : losesBase ? later.at : end
    for (const s of remaining) {
      // An add-on that ends with its base plan follows it to its new end.
      const followed = was !== null && was !== planEnd && s.cancelAt === was
      // A trial granted by hand has its own end.
      const own = s.provider === null ? s.trialEndsAt : null
      const ends = earliest(followed ? own : s.cancelAt, planEnd)
      if (s.anchor !== anchor || s.cancelAt !== ends)
        changes.update.push({
          id: s.id,
          anchor,
          cancelAt: ends,
          quantity: s.quantity,
          trialEndsAt: s.trialEndsAt,
        })
      // Only its provider knows whether its own payments end then as well.
      if (followed) addBehind(changes.askAgain, s)
    }
  }
  return changes
}

function started(
  { id, isAddon, quantity }: BilledPackage,
  { anchor, trialEndsAt, triedUntil }: Billed,
  startedAt: number,
): Started {
  const open = { cancelAt: null, cancelledAt: null }
  const trial = { trialEndsAt: trialEndsAt ?? triedUntil }
  return { packageId: id, isAddon, startedAt, anchor, ...open, quantity, ...trial }
}

/** Plans the provider's scheduled change as the successor of the base plan, replacing any other paid successor. */
function planNext(
  changes: BillingChanges,
  later: Billed['scheduled'],
  current: BilledPackage,
  kept: HeldSubscription | undefined,
  plan: Started,
): void {
  const next = later?.packages.find((p) => !p.isAddon)
  const wanted = later && next && !isSame(current, next) ? { ...next, at: later.at } : null
  const known = kept?.next ?? null
  const agrees =
    wanted !== null &&
    known !== null &&
    known.provider !== null &&
    known.packageId === wanted.id &&
    known.quantity === wanted.quantity &&
    known.at === wanted.at &&
    known.endsAt === plan.cancelAt
  if (agrees) return
  // A free plan may follow one whose payments end.
  if (kept?.next && (wanted || kept.next.provider !== null)) changes.unplan.push(kept.id)
  if (!wanted) return
  const { id: packageId, quantity, at: startedAt } = wanted
  const successor = { ...plan, packageId, quantity, startedAt, trialEndsAt: null }
  changes.plan = { follows: kept?.id ?? null, successor }
}

/** An add-on that was removed from the bill and is paid until its end. */
const isPaidUntilEnd = (s: HeldSubscription, billed: readonly BilledPackage[]): boolean =>
  s.isAddon && s.cancelAt !== null && !billed.some((p) => p.id === s.packageId)

const isSame = (a: BilledPackage, b: BilledPackage) => a.id === b.id && a.quantity === b.quantity

const isOn = (s: HeldSubscription, terms: Omit<BillingChanges['update'][number], 'id'>) =>
  s.anchor === terms.anchor &&
  s.cancelAt === terms.cancelAt &&
  s.quantity === terms.quantity &&
  s.trialEndsAt === terms.trialEndsAt

/** Whether a subscription was paid for later. One created by hand was not paid for. */
function isLater(s: HeldSubscription, billed: Billed): boolean {
  if (s.paidAt === null || s.providerRef === null) return false
  return s.paidAt > billed.paidAt || (s.paidAt === billed.paidAt && s.providerRef > billed.ref)
}

const bothBase = (a: { isAddon: boolean }, b: { isAddon: boolean }) => !a.isAddon && !b.isAddon

function sameProviderSubscription(a: HeldSubscription, b: HeldSubscription): boolean {
  return a.providerRef !== null && a.provider === b.provider && a.providerRef === b.providerRef
}

/**
 * If the base plan was on this bill and has no replacement, the other add-ons end too, also at their providers. Some
 * may have ended by the clock already.
 */
function endAddonsWithout(
  changes: BillingChanges,
  held: readonly HeldSubscription[],
  isMine: (s: HeldSubscription) => boolean,
  now: number,
): void {
  const open = held.filter((s) => s.cancelledAt === null)
  const plan = open.find((s) => isMine(s) && !s.isAddon)
  const isSucceeded =
    plan?.next?.provider === null || open.some((s) => !s.isAddon && !isMine(s) && endedAt(s, now) === null)
  if (!plan || isSucceeded) return
  for (const s of open.filter((one) => one.isAddon && !isMine(one))) {
    if (endedAt(s, now) === null) changes.end.push({ id: s.id, at: now })
    cancelBehind(changes, s)
  }
}

const cancelBehind = (changes: BillingChanges, s: HeldSubscription) => addBehind(changes.cancelAtProvider, s)

/** Adds the provider's subscription behind one of the user's, once. */
function addBehind(
  refs: { provider: string; ref: string }[],
  { provider, providerRef, forGood }: HeldSubscription,
): void {
  // A one-off payment is not charged again, so there is nothing to cancel.
  if (provider === null || providerRef === null || forGood) return
  if (refs.some((known) => known.provider === provider && known.ref === providerRef)) return
  refs.push({ provider, ref: providerRef })
}

function earliest(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b
  return Math.min(a, b)
}
