import { endedAt, type Span } from './subscription.ts'

/**
 * How a provider's report about one of its subscriptions changes a user's subscriptions.
 *
 * Invariants (billing-changes.test.ts):
 * - applying a report twice changes nothing the second time;
 * - whichever report arrives first, of two base plans the one paid later is the one that stays live;
 * - every payment results in a subscription, even if already ended, or is reported as granting nothing;
 * - a user has at most one live base plan and each package at most once;
 * - a subscription that has ended is never revived: a new one is created instead.
 */

/**
 * The state of a provider's subscription: `live`; `past due`, live for a grace time; `paused`, which may resume;
 * `ended`; `never`, which was not paid for and has granted nothing.
 */
export type BillingStanding = 'live' | 'past due' | 'paused' | 'ended' | 'never'

export interface Billed {
  provider: string
  ref: string
  standing: BillingStanding
  /** when it was paid, in real time: of two payments the later one counts */
  paidAt: number
  /** when it began, by the app's clock */
  madeAt: number
  /** where its periods are counted from */
  anchor: number
  /** a one-off payment that does not renew */
  forGood: boolean
  /** set: it ends then */
  cancelAt: number | null
  endedAt: number | null
  packages: readonly { id: string; isAddon: boolean }[]
}

/** A subscription of the user, with the provider's subscription behind it, if any. */
export interface HeldSubscription extends Span {
  provider: string | null
  providerRef: string | null
  /** when the provider's subscription was paid, in real time */
  paidAt: number | null
  /** the provider's subscription was a one-off payment */
  forGood: boolean
}

export interface BillingChanges {
  insert: Omit<Span, 'id' | 'metadata'>[]
  update: { id: string; anchor: number; cancelAt: number | null }[]
  end: { id: string; at: number }[]
  /** to be ended at the provider: replaced by another, or its base plan is gone */
  cancelAtProvider: { provider: string; ref: string }[]
  /** to be asked about again at the provider: the end of its base plan has changed */
  askAgain: { provider: string; ref: string }[]
  /** add-ons without a base plan */
  lacksBasePlan: boolean
  /** everything in it is already held for good, by these one-off payments */
  heldAlready: HeldSubscription[]
}

/** `graceEnd` is when access ends unless a failed payment is paid; null when none has failed. */
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
    cancelAtProvider: [],
    askAgain: [],
    lacksBasePlan: false,
    heldAlready: [],
  }
  const isMine = (s: HeldSubscription) => s.provider === billed.provider && s.providerRef === billed.ref
  const live = held.filter((s) => endedAt(s, now) === null)
  const mine = live.filter(isMine)
  const others = live.filter((s) => !isMine(s))

  const end = earliest(billed.cancelAt, graceEnd)
  const over = billed.standing === 'ended' || (end !== null && end <= now)
  if (over || billed.standing === 'paused' || billed.standing === 'never') {
    const at = Math.min(billed.endedAt ?? (over && end !== null ? end : now), now)
    for (const s of mine) changes.end.push({ id: s.id, at: Math.max(at, s.startedAt) })
    // It started and ended before we heard of it: record it as it was.
    if (billed.standing !== 'never' && !held.some(isMine)) {
      changes.insert = billed.packages.map((p) => ({
        ...started(p, billed, Math.min(billed.madeAt, at)),
        cancelAt: null,
        cancelledAt: at,
      }))
    }
    if (mine.some((s) => !s.isAddon)) endAddons(changes, others, now)
    return changes
  }

  if (billed.forGood && mine.length === 0) {
    const same = others.filter(
      (s) => s.forGood && s.cancelAt === null && billed.packages.some((p) => p.id === s.packageId),
    )
    if (same.length === billed.packages.length) {
      changes.heldAlready = same
      return changes
    }
  }
  const rivals = others.filter((s) => billed.packages.some((p) => p.id === s.packageId || bothBase(p, s)))
  const later = rivals.filter((s) => isLater(s, billed))
  if (later.length > 0) {
    for (const s of mine) changes.end.push({ id: s.id, at: now })
    // It was replaced before we heard of it: record it as it was.
    if (!held.some(isMine)) {
      const startedAt = Math.min(billed.madeAt, now)
      const cancelledAt = Math.max(startedAt, Math.min(...later.map((s) => s.startedAt)))
      changes.insert = billed.packages.map((p) => ({ ...started(p, billed, startedAt), cancelledAt }))
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
  const base = remaining.find((s) => !s.isAddon)
  const bringsBase = billed.packages.some((p) => !p.isAddon)
  if (!bringsBase && !base) {
    for (const s of mine) changes.end.push({ id: s.id, at: now })
    changes.lacksBasePlan = true
    return changes
  }
  const anchor = bringsBase ? billed.anchor : (base?.anchor ?? billed.anchor)
  // An add-on ends with its base plan at the latest.
  const cancelAt = bringsBase ? end : earliest(end, base?.cancelAt ?? null)
  const first = !held.some(isMine)
  for (const p of billed.packages) {
    const kept = mine.find((s) => s.packageId === p.id)
    if (!kept) {
      const startedAt = first ? Math.min(billed.madeAt, now) : now
      changes.insert.push({ ...started(p, billed, startedAt), anchor, cancelAt })
    } else if (kept.anchor !== anchor || kept.cancelAt !== cancelAt) {
      changes.update.push({ id: kept.id, anchor, cancelAt })
    }
  }
  for (const s of mine) {
    const dropped = !billed.packages.some((p) => p.id === s.packageId)
    // An add-on that is paid until its end, and already off the bill, lasts until then.
    if (dropped && (s.cancelAt === null || !s.isAddon)) changes.end.push({ id: s.id, at: now })
  }
  if (bringsBase) {
    const was = mine.find((s) => !s.isAddon)?.cancelAt ?? null
    for (const s of remaining) {
      // An add-on that was to end with its base plan still does, whenever that is.
      const followed = was !== null && was !== billed.cancelAt && s.cancelAt === was
      const ends = earliest(followed ? null : s.cancelAt, billed.cancelAt)
      if (s.anchor !== anchor || s.cancelAt !== ends)
        changes.update.push({ id: s.id, anchor, cancelAt: ends })
      // Only its provider knows whether its own payments end then as well.
      if (followed) addBehind(changes.askAgain, s)
    }
  }
  return changes
}

function started(
  { id, isAddon }: { id: string; isAddon: boolean },
  { anchor }: Billed,
  startedAt: number,
): Omit<Span, 'id' | 'metadata'> {
  return { packageId: id, isAddon, startedAt, anchor, cancelAt: null, cancelledAt: null }
}

/** Whether a subscription was paid for later. One created by hand never was. */
function isLater(s: HeldSubscription, billed: Billed): boolean {
  if (s.paidAt === null || s.providerRef === null) return false
  return s.paidAt > billed.paidAt || (s.paidAt === billed.paidAt && s.providerRef > billed.ref)
}

const bothBase = (a: { isAddon: boolean }, b: { isAddon: boolean }) => !a.isAddon && !b.isAddon

function sameProviderSubscription(a: HeldSubscription, b: HeldSubscription): boolean {
  return a.providerRef !== null && a.provider === b.provider && a.providerRef === b.providerRef
}

/** The base plan is gone, and the add-ons with it, also at the provider. */
function endAddons(changes: BillingChanges, others: readonly HeldSubscription[], now: number): void {
  for (const s of others.filter((other) => other.isAddon)) {
    changes.end.push({ id: s.id, at: now })
    cancelBehind(changes, s)
  }
}

const cancelBehind = (changes: BillingChanges, s: HeldSubscription) => addBehind(changes.cancelAtProvider, s)

/** The provider's subscription behind one of the user's, once each. */
function addBehind(
  refs: { provider: string; ref: string }[],
  { provider, providerRef, forGood }: HeldSubscription,
): void {
  // A one-off payment is not charged again: the provider has nothing to end.
  if (provider === null || providerRef === null || forGood) return
  if (refs.some((known) => known.provider === provider && known.ref === providerRef)) return
  refs.push({ provider, ref: providerRef })
}

function earliest(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b
  return Math.min(a, b)
}
