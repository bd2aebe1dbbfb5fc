import { endedAt, type Subscription } from './subscription.ts'

/**
 * What a provider's word about one of its subscriptions makes of a user's subscriptions.
 *
 * Invariants (billing-changes.test.ts):
 * - applied twice, the second time changes nothing;
 * - in whatever order the words about two payments come, the base plan that was paid later is the one that lives;
 * - every payment leaves a subscription, if only one that has ended, or is told of as one that gives nothing;
 * - a user has at most one live base plan and each package at most once;
 * - a subscription that has ended is never brought back: what comes back is a new one.
 */

/**
 * How a provider's subscription stands: `live`; `past due`, live for a grace time; `paused`, which may come back;
 * `ended`; `never`, one that was not paid for and has given nothing.
 */
export type BillingStanding = 'live' | 'past due' | 'paused' | 'ended' | 'never'

export interface Billed {
  provider: string
  ref: string
  standing: BillingStanding
  /** when it was paid, in real time: of two the later one counts */
  paidAt: number
  /** when it began, by the app's clock */
  madeAt: number
  /** where its periods are counted from */
  anchor: number
  /** paid once, and nothing to renew */
  forGood: boolean
  /** set: it ends then */
  cancelAt: number | null
  endedAt: number | null
  packages: readonly { id: string; isAddon: boolean }[]
}

/** A subscription of the user, with the provider's that stands behind it, if one does. */
export interface HeldSubscription extends Subscription {
  provider: string | null
  providerRef: string | null
  /** when that one was paid, in real time */
  paidAt: number | null
  /** that one was paid once */
  forGood: boolean
}

export interface BillingChanges {
  insert: Omit<Subscription, 'id' | 'metadata'>[]
  update: { id: string; anchor: number; cancelAt: number | null }[]
  end: { id: string; at: number }[]
  /** what the provider is to end, since another took its place or its base plan is gone */
  cancelAtProvider: { provider: string; ref: string }[]
  /** what its provider is to be asked about again, since its base plan no longer ends when it did */
  askAgain: { provider: string; ref: string }[]
  /** the add-ons have no base plan to be added to */
  lacksBasePlan: boolean
  /** all of it was paid for once already, and is held for good: by these */
  heldAlready: HeldSubscription[]
}

/** `graceEnd` is when access ends unless a failed payment is made good; null when none has failed. */
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
    // It came and went before we heard of it: it is written down as what it was.
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
    // It was replaced before we heard of it: it is written down as what it was.
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
    // An add-on that is paid for until its end, and taken off the bill already, lasts until then.
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
      // Whether its own payments end then as well, only its provider can tell.
      if (followed) addBehind(changes.askAgain, s)
    }
  }
  return changes
}

function started(
  { id, isAddon }: { id: string; isAddon: boolean },
  { anchor }: Billed,
  startedAt: number,
): Omit<Subscription, 'id' | 'metadata'> {
  return { packageId: id, isAddon, startedAt, anchor, cancelAt: null, cancelledAt: null }
}

/** Whether a subscription rests on a later payment. One made by hand never does. */
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

/** The provider's subscription that stands behind one of the user's, once. */
function addBehind(
  refs: { provider: string; ref: string }[],
  { provider, providerRef, forGood }: HeldSubscription,
): void {
  // What was paid once is charged no more: its provider has nothing to end.
  if (provider === null || providerRef === null || forGood) return
  if (refs.some((known) => known.provider === provider && known.ref === providerRef)) return
  refs.push({ provider, ref: providerRef })
}

function earliest(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b
  return Math.min(a, b)
}
