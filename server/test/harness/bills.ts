import type { Billed, HeldSubscription } from '../../src/domain/bill.ts'
import type { BillingChanges } from '../../src/domain/billing-changes.ts'

// What a provider says of a bill, and what a user holds, in tests of `billingChanges`.

export const PLAN = { id: 'plan', isAddon: false, quantity: 1 }
export const PRO = { id: 'pro', isAddon: false, quantity: 1 }
export const EXTRA = { id: 'extra', isAddon: true, quantity: 1 }
export const MORE = { id: 'more', isAddon: true, quantity: 1 }

export const billed = (more: Partial<Billed> = {}): Billed => ({
  provider: 'p',
  ref: 'r1',
  billingStatus: 'live',
  paidAt: 100,
  madeAt: 100,
  anchor: 100,
  keepsAnchor: false,
  trialEndsAt: null,
  triedUntil: null,
  byTrialLink: false,
  scheduled: null,
  forGood: false,
  cancelAt: null,
  endedAt: null,
  packages: [PLAN],
  ...more,
})

export const heldAs = (
  id: string,
  sold: { id: string; isAddon: boolean },
  more: Partial<HeldSubscription> = {},
): HeldSubscription => ({
  id,
  packageId: sold.id,
  isAddon: sold.isAddon,
  startedAt: 50,
  anchor: 100,
  cancelAt: null,
  cancelledAt: null,
  metadata: {},
  provider: null,
  providerRef: null,
  paidAt: null,
  forGood: false,
  quantity: 1,
  trialEndsAt: null,
  next: null,
  ...more,
})

export const by = (providerRef: string, paidAt = 100, provider = 'p') => ({ provider, providerRef, paidAt })

/** What a user holds after a change. */
export function after(
  before: readonly HeldSubscription[],
  said: Billed,
  { insert, update, end, unplan, plan }: BillingChanges,
): HeldSubscription[] {
  const next = plan && {
    packageId: plan.successor.packageId,
    quantity: plan.successor.quantity,
    at: plan.successor.startedAt,
    provider: said.provider,
    endsAt: plan.successor.cancelAt,
  }
  const kept = before.map((s) => {
    const ended = end.find(({ id }) => id === s.id)
    return {
      ...s,
      ...update.find(({ id }) => id === s.id),
      ...(ended && { cancelledAt: ended.at }),
      ...(unplan.includes(s.id) && { next: null }),
      ...(plan?.follows === s.id && { next }),
    }
  })
  const made = insert.map((s, i) =>
    heldAs(
      `${said.ref}-${before.length + i}`,
      { id: s.packageId, isAddon: s.isAddon },
      {
        ...s,
        ...by(said.ref, said.paidAt),
        forGood: said.forGood,
        next: plan?.follows === null && !s.isAddon ? next : null,
      },
    ),
  )
  return [...kept, ...made]
}
