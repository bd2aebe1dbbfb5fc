import { describe, expect, it } from 'vitest'
import { billed, by, EXTRA, heldAs, MORE, PLAN, PRO } from '../../test/harness/bills.ts'
import type { Billed, HeldSubscription } from './bill.ts'
import { billingChanges } from './billing-changes.ts'

const NOW = 1_000
const MAX = { id: 'max', isAddon: false, quantity: 1 }

const held = (sold: { id: string; isAddon: boolean }, more: Partial<HeldSubscription> = {}) =>
  heldAs(`my ${sold.id}`, sold, more)

const changesOf = (said: Billed, ...all: HeldSubscription[]) => billingChanges(said, all, null, NOW)

describe('a scheduled change of plan', () => {
  const toPro = { at: 4_000, packages: [PRO] }
  const proNext = { packageId: 'pro', quantity: 1, at: 4_000, provider: 'p', endsAt: null }

  it('is made in the very millisecond for which it was scheduled', () => {
    const { insert, end, plan } = changesOf(
      billed({ scheduled: { at: NOW, packages: [PRO] } }),
      held(PLAN, by('r1')),
    )
    expect(insert).toMatchObject([{ packageId: 'pro', startedAt: NOW }])
    expect(end).toEqual([{ id: 'my plan', at: NOW }])
    expect(plan).toBeNull()
  })

  it('is planned when the payments end later, and its successor ends with them', () => {
    const { update, plan } = changesOf(
      billed({ cancelAt: 6_000, scheduled: toPro }),
      held(PLAN, { ...by('r1'), cancelAt: 6_000 }),
    )
    expect(update).toMatchObject([{ id: 'my plan', cancelAt: 4_000 }])
    expect(plan).toMatchObject({
      follows: 'my plan',
      successor: { packageId: 'pro', startedAt: 4_000, cancelAt: 6_000 },
    })
  })

  it('is not planned when the payments end at that moment', () => {
    const { update, plan } = changesOf(
      billed({ cancelAt: 4_000, scheduled: toPro }),
      held(PLAN, { ...by('r1'), cancelAt: 4_000 }),
    )
    expect(update).toEqual([])
    expect(plan).toBeNull()
  })

  it('to another quantity of the same plan is a change of plan', () => {
    const { update, plan } = changesOf(
      billed({ scheduled: { at: 4_000, packages: [{ ...PLAN, quantity: 3 }] } }),
      held(PLAN, by('r1')),
    )
    expect(update).toMatchObject([{ id: 'my plan', cancelAt: 4_000, quantity: 1 }])
    expect(plan).toMatchObject({ follows: 'my plan', successor: { packageId: 'plan', quantity: 3 } })
  })

  it('that only drops an add-on ends the add-on and leaves the plan open', () => {
    const { update, plan } = changesOf(
      billed({ packages: [PLAN, EXTRA], scheduled: { at: 4_000, packages: [PLAN] } }),
      held(PLAN, by('r1')),
      held(EXTRA, by('r1')),
    )
    expect(update).toMatchObject([{ id: 'my extra', cancelAt: 4_000 }])
    expect(plan).toBeNull()
  })

  it('to add-ons alone ends the plan and its add-ons, and nothing succeeds it', () => {
    const { update, plan } = changesOf(
      billed({ packages: [PLAN, EXTRA], scheduled: { at: 4_000, packages: [EXTRA] } }),
      held(PLAN, by('r1')),
      held(EXTRA, by('r1')),
    )
    expect(update).toMatchObject([
      { id: 'my plan', cancelAt: 4_000 },
      { id: 'my extra', cancelAt: 4_000 },
    ])
    expect(plan).toBeNull()
  })

  it.each([
    ['another plan', proNext, { at: 4_000, packages: [MAX] }, { packageId: 'max', startedAt: 4_000 }],
    ['another time', proNext, { at: 5_000, packages: [PRO] }, { packageId: 'pro', startedAt: 5_000 }],
    [
      'the same, which is paid for and no longer ends',
      { ...proNext, endsAt: 6_000 },
      toPro,
      { packageId: 'pro', startedAt: 4_000, cancelAt: null },
    ],
    [
      'a plan that is paid for rather than free',
      { ...proNext, provider: null },
      toPro,
      { packageId: 'pro', startedAt: 4_000 },
    ],
  ])('to %s takes the place of what was planned before', (_, next, scheduled, successor) => {
    const { unplan, plan } = changesOf(
      billed({ scheduled }),
      held(PLAN, { ...by('r1'), cancelAt: 4_000, next }),
    )
    expect(unplan).toEqual(['my plan'])
    expect(plan).toMatchObject({ follows: 'my plan', successor })
  })
})

describe('a plan that replaces another', () => {
  it('takes over neither its anchor nor its end', () => {
    const { insert, update, end } = changesOf(billed(), held(PRO, { anchor: 50, cancelAt: 4_000 }))
    expect(insert).toMatchObject([{ packageId: 'plan', anchor: 100, cancelAt: null }])
    expect(update).toEqual([])
    expect(end).toEqual([{ id: 'my pro', at: NOW }])
  })

  it('counts from its own anchor once the one it could have continued has ended', () => {
    const { insert } = changesOf(
      billed({ anchor: 950, keepsAnchor: true }),
      held(PLAN, { ...by('r1'), cancelledAt: 800 }),
    )
    expect(insert).toMatchObject([{ packageId: 'plan', anchor: 950 }])
  })

  it('that was itself replaced by several later payments ended with the first of them', () => {
    const { insert } = changesOf(
      billed({ packages: [PLAN, EXTRA] }),
      held(PRO, { ...by('r2', 200), startedAt: 600 }),
      held(EXTRA, { ...by('r3', 300), startedAt: 800 }),
    )
    expect(insert).toMatchObject([
      { packageId: 'plan', startedAt: 100, cancelledAt: 600 },
      { packageId: 'extra', startedAt: 100, cancelledAt: 600 },
    ])
  })
})

describe('add-ons', () => {
  it('that are paid for replace the same add-on given by hand', () => {
    const { insert, end } = changesOf(billed({ packages: [EXTRA] }), held(PLAN), held(EXTRA))
    expect(insert).toMatchObject([{ packageId: 'extra' }])
    expect(end).toEqual([{ id: 'my extra', at: NOW }])
  })

  it('that end leave the plan and the other add-ons open', () => {
    const { insert, update } = changesOf(
      billed({ packages: [EXTRA], cancelAt: 3_000 }),
      held(PLAN),
      held(MORE),
    )
    expect(insert).toMatchObject([{ packageId: 'extra', cancelAt: 3_000 }])
    expect(update).toEqual([])
  })

  it('on a bill of their own stay when another plan takes the place of theirs', () => {
    const { end, cancelAtProvider } = changesOf(
      billed({ paidAt: 300 }),
      held(PRO, by('r2', 200)),
      held(EXTRA, by('r3', 200)),
    )
    expect(end).toEqual([{ id: 'my pro', at: NOW }])
    expect(cancelAtProvider).toEqual([{ provider: 'p', ref: 'r2' }])
  })

  it('that were paid for once and have lost their plan end, with nothing to cancel at the provider', () => {
    const { end, cancelAtProvider } = changesOf(
      billed({ packages: [EXTRA], forGood: true }),
      held(EXTRA, { ...by('r1'), forGood: true }),
    )
    expect(end).toEqual([{ id: 'my extra', at: NOW }])
    expect(cancelAtProvider).toEqual([])
  })

  it('keep their quantity and trial when they take the anchor and the end of a new plan', () => {
    const { update } = changesOf(
      billed({ cancelAt: 4_000 }),
      held(EXTRA, { anchor: 50, quantity: 3, trialEndsAt: 2_000 }),
    )
    expect(update).toEqual([
      { id: 'my extra', anchor: 100, cancelAt: 4_000, quantity: 3, trialEndsAt: 2_000 },
    ])
  })

  it('that had no end get that of their plan, without asking their own provider', () => {
    const { update, askAgain } = changesOf(
      billed({ cancelAt: 4_000 }),
      held(PLAN, by('r1')),
      held(EXTRA, by('r2')),
    )
    expect(update).toMatchObject([
      { id: 'my plan', cancelAt: 4_000 },
      { id: 'my extra', cancelAt: 4_000 },
    ])
    expect(askAgain).toEqual([])
  })

  it('on bills of their own are each cancelled at the provider when the plan has ended', () => {
    const { cancelAtProvider } = changesOf(
      billed({ billingStatus: 'ended' }),
      held(PLAN, by('r1')),
      held(EXTRA, by('r2')),
      held(MORE, by('r3')),
    )
    expect(cancelAtProvider).toEqual([
      { provider: 'p', ref: 'r2' },
      { provider: 'p', ref: 'r3' },
    ])
  })
})
