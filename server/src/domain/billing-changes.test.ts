import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { after, billed, EXTRA, heldAs, PLAN, PRO, by as paidBy } from '../../test/harness/bills.ts'
import type { Billed, HeldSubscription } from './bill.ts'
import { billingChanges } from './billing-changes.ts'
import { endedAt } from './subscription.ts'

const NOW = 1_000

const held = (id: string, sold: { id: string; isAddon: boolean }, more: Partial<HeldSubscription> = {}) =>
  heldAs(id, sold, { anchor: 50, ...more })

const by = (ref: string, paidAt: number) => ({ ...paidBy(ref, paidAt), anchor: 100 })

/** Paid for on the same bill. */
const planned = (sold: { id: string }) => ({
  packageId: sold.id,
  quantity: 1,
  at: 4_000,
  provider: 'p',
  endsAt: null,
})

const once = (ref: string, paidAt: number) => ({ ...by(ref, paidAt), forGood: true })

interface Row {
  what: string
  said: Billed
  held: HeldSubscription[]
  grace?: number
  insert?: object[]
  update?: object[]
  end?: object[]
  unplan?: string[]
  plan?: object | null
  cancelAtProvider?: string[]
  askAgain?: string[]
  lacksBasePlan?: boolean
  heldAlready?: string[]
  triedBefore?: boolean
}

const ROWS: Row[] = [
  {
    what: 'the first word of it makes it',
    said: billed(),
    held: [],
    insert: [{ packageId: 'plan', startedAt: 100, anchor: 100, cancelAt: null, cancelledAt: null }],
  },
  { what: 'the second changes nothing', said: billed(), held: [held('s', PLAN, by('r1', 100))] },
  {
    what: 'another plan takes the place of one that was about to end',
    said: billed({ packages: [PRO], cancelAt: 2_000 }),
    held: [held('s', PLAN, { ...by('r1', 100), cancelAt: 2_000 })],
    insert: [{ packageId: 'pro', startedAt: NOW, anchor: 100, cancelAt: 2_000, cancelledAt: null }],
    end: [{ id: 's', at: NOW }],
  },
  {
    what: 'its end is the provider’s',
    said: billed({ cancelAt: 5_000 }),
    held: [held('s', PLAN, by('r1', 100))],
    update: [{ id: 's', anchor: 100, cancelAt: 5_000 }],
  },
  {
    what: 'an end that was taken back is taken back',
    said: billed(),
    held: [held('s', PLAN, { ...by('r1', 100), cancelAt: 5_000 })],
    update: [{ id: 's', anchor: 100, cancelAt: null }],
  },
  {
    what: 'add-ons that were to end with it no longer do, and their own provider is asked',
    said: billed(),
    held: [
      held('s', PLAN, { ...by('r1', 100), cancelAt: 5_000 }),
      held('by hand', EXTRA, { anchor: 100, cancelAt: 5_000 }),
      held('paid', { id: 'more', isAddon: true }, { ...by('r2', 120), cancelAt: 5_000 }),
      held('ends sooner', { id: 'most', isAddon: true }, { ...by('r3', 130), cancelAt: 4_000 }),
    ],
    update: [
      { id: 's', anchor: 100, cancelAt: null },
      { id: 'by hand', anchor: 100, cancelAt: null },
      { id: 'paid', anchor: 100, cancelAt: null },
    ],
    askAgain: ['r2'],
  },
  {
    what: 'past due, it lasts for the grace time',
    said: billed({ billingStatus: 'past due', cancelAt: 5_000 }),
    grace: 2_000,
    held: [held('s', PLAN, by('r1', 100))],
    update: [{ id: 's', anchor: 100, cancelAt: 2_000 }],
  },
  {
    what: 'past due beyond the grace time, it has ended with that',
    said: billed({ billingStatus: 'past due' }),
    grace: 900,
    held: [held('s', PLAN, by('r1', 100))],
    end: [{ id: 's', at: 900 }],
  },
  {
    what: 'ended, it ends when it did, and takes add-ons with it',
    said: billed({ billingStatus: 'ended', endedAt: 700 }),
    held: [
      held('s', PLAN, by('r1', 100)),
      held('a', EXTRA),
      held('b', { id: 'b', isAddon: true }, by('r2', 90)),
    ],
    end: [
      { id: 's', at: 700 },
      { id: 'a', at: NOW },
      { id: 'b', at: NOW },
    ],
    cancelAtProvider: ['r2'],
  },
  {
    what: 'ended before it was heard of, it is written down as what it was',
    said: billed({ billingStatus: 'ended', endedAt: 700 }),
    held: [held('other', PRO)],
    insert: [{ packageId: 'plan', startedAt: 100, cancelledAt: 700 }],
  },
  { what: 'never paid for, it gives nothing', said: billed({ billingStatus: 'never' }), held: [] },
  {
    what: 'paused, it ends now',
    said: billed({ billingStatus: 'paused' }),
    held: [held('s', PLAN, by('r1', 100))],
    end: [{ id: 's', at: NOW }],
  },
  {
    what: 'back from a pause, it is a new one from now on',
    said: billed(),
    held: [held('s', PLAN, { ...by('r1', 100), cancelledAt: 800 })],
    insert: [{ packageId: 'plan', startedAt: NOW }],
  },
  {
    what: 'another plan on the same bill takes its place',
    said: billed({ packages: [PRO, EXTRA] }),
    held: [held('s', PLAN, by('r1', 100)), held('a', EXTRA, by('r1', 100))],
    insert: [{ packageId: 'pro', startedAt: NOW }],
    end: [{ id: 's', at: NOW }],
  },
  {
    what: 'an add-on that is off the bill lasts until its end',
    said: billed(),
    held: [held('s', PLAN, by('r1', 100)), held('a', EXTRA, { ...by('r1', 100), cancelAt: 3_000 })],
  },
  {
    what: 'it takes the place of a plan given by hand, whenever that was',
    said: billed(),
    held: [held('hand', PRO, { startedAt: 900 })],
    insert: [{ packageId: 'plan', startedAt: 100 }],
    end: [{ id: 'hand', at: NOW }],
  },
  {
    what: 'it takes the place of an earlier bill, all of it',
    said: billed(),
    held: [held('old', PRO, by('r0', 99)), held('a', EXTRA, by('r0', 99))],
    insert: [{ packageId: 'plan', startedAt: 100 }],
    end: [
      { id: 'old', at: NOW },
      { id: 'a', at: NOW },
    ],
    cancelAtProvider: ['r0'],
  },
  {
    what: 'it gives way to a later payment, and is written down as what it was until then',
    said: billed(),
    held: [held('new', PRO, { ...by('r2', 101), startedAt: 600 })],
    insert: [{ packageId: 'plan', startedAt: 100, cancelledAt: 600 }],
    cancelAtProvider: ['r1'],
  },
  {
    what: 'it gives way again, and is written down once',
    said: billed(),
    held: [held('mine', PLAN, { ...by('r1', 100), cancelledAt: 600 }), held('new', PRO, by('r2', 101))],
    cancelAtProvider: ['r1'],
  },
  {
    what: 'paid in the same second, the greater id is the later one',
    said: billed(),
    held: [held('new', PRO, { ...by('r2', 100), startedAt: 600 })],
    insert: [{ packageId: 'plan', cancelledAt: 600 }],
    cancelAtProvider: ['r1'],
  },
  {
    what: 'when it was paid counts, not when it was made',
    said: billed({ madeAt: 100, paidAt: 300 }),
    held: [held('old', PRO, { ...by('r2', 200), startedAt: 200 })],
    insert: [{ packageId: 'plan', startedAt: 100 }],
    end: [{ id: 'old', at: NOW }],
    cancelAtProvider: ['r2'],
  },
  {
    what: 'paid once, it takes the place of an earlier payment, which its provider has nothing to end of',
    said: billed({ forGood: true, paidAt: 300 }),
    held: [held('old', PRO, once('r2', 200))],
    insert: [{ packageId: 'plan' }],
    end: [{ id: 'old', at: NOW }],
  },
  {
    what: 'paid once and later replaced, it has nothing to be ended at its provider',
    said: billed({ forGood: true }),
    held: [held('new', PRO, { ...by('r2', 101), startedAt: 600 })],
    insert: [{ packageId: 'plan', cancelledAt: 600 }],
  },
  {
    what: 'paid once more, it gives nothing to who holds it for good',
    said: billed({ forGood: true, paidAt: 300 }),
    held: [held('same', PLAN, once('r2', 200))],
    heldAlready: ['same'],
  },
  {
    what: 'paid once more, and heard of first, all the same',
    said: billed({ forGood: true, paidAt: 100 }),
    held: [held('same', PLAN, once('r2', 200))],
    heldAlready: ['same'],
  },
  {
    what: 'paid once, it is for good to who pays for it every month',
    said: billed({ forGood: true, paidAt: 300 }),
    held: [held('monthly', PLAN, by('r2', 200))],
    insert: [{ packageId: 'plan' }],
    end: [{ id: 'monthly', at: NOW }],
    cancelAtProvider: ['r2'],
  },
  {
    what: 'paid once, with something that is not held yet, it takes the place of all of the first',
    said: billed({ forGood: true, paidAt: 300, packages: [PLAN, EXTRA] }),
    held: [held('same', PLAN, once('r2', 200))],
    insert: [{ packageId: 'plan' }, { packageId: 'extra' }],
    end: [{ id: 'same', at: NOW }],
  },
  {
    what: 'over before it was heard of, for want of money, it is written down as what it was',
    said: billed({ billingStatus: 'past due' }),
    grace: 900,
    held: [],
    insert: [{ packageId: 'plan', startedAt: 100, cancelledAt: 900 }],
  },
  {
    what: 'add-ons taken by themselves count from the new plan, and end with it',
    said: billed({ cancelAt: 4_000 }),
    held: [held('a', EXTRA)],
    insert: [{ packageId: 'plan', cancelAt: 4_000 }],
    update: [{ id: 'a', anchor: 100, cancelAt: 4_000 }],
  },
  {
    what: 'add-ons join the plan that is there, and end with it',
    said: billed({ packages: [EXTRA], cancelAt: 9_000 }),
    held: [held('s', PLAN, { cancelAt: 4_000 })],
    insert: [{ packageId: 'extra', anchor: 50, cancelAt: 4_000 }],
  },
  {
    what: 'another quantity is the same subscription',
    said: billed({ packages: [{ ...PLAN, quantity: 5 }] }),
    held: [held('s', PLAN, by('r1', 100))],
    update: [{ id: 's', quantity: 5, cancelAt: null }],
  },
  {
    what: 'a trial is told, until it is over',
    said: billed({ trialEndsAt: 3_000 }),
    held: [held('s', PLAN, by('r1', 100))],
    update: [{ id: 's', trialEndsAt: 3_000, cancelAt: null }],
  },
  {
    what: 'a trial that was ended early ended now',
    said: billed(),
    held: [held('s', PLAN, { ...by('r1', 100), trialEndsAt: 3_000 })],
    update: [{ id: 's', trialEndsAt: NOW }],
  },
  {
    what: 'a trial that is over stays on record',
    said: billed(),
    held: [held('s', PLAN, { ...by('r1', 100), trialEndsAt: 900 })],
  },
  {
    what: 'a trial that was over before we heard of it is remembered',
    said: billed({ triedUntil: 900 }),
    held: [],
    insert: [{ packageId: 'plan', startedAt: 100, cancelledAt: null, trialEndsAt: 900 }],
  },
  {
    what: 'but not as one of the plan that comes later on the same bill',
    said: billed({ packages: [PRO], triedUntil: 900 }),
    held: [held('s', PLAN, { ...by('r1', 100), trialEndsAt: 900 })],
    insert: [{ packageId: 'pro', startedAt: NOW, trialEndsAt: null }],
    end: [{ id: 's', at: NOW }],
  },
  {
    what: 'a second trial by a link has ended before it began, and the first goes on',
    said: billed({ trialEndsAt: 3_000, byTrialLink: true, packages: [PLAN, EXTRA] }),
    held: [held('tried', PLAN, { ...by('r2', 90), trialEndsAt: 2_000 })],
    insert: [
      { packageId: 'plan', startedAt: 100, cancelledAt: 100, trialEndsAt: null },
      { packageId: 'extra', startedAt: 100, cancelledAt: 100, trialEndsAt: null },
    ],
    cancelAtProvider: ['r1'],
    triedBefore: true,
  },
  {
    what: 'and so it stays until its provider has ended it',
    said: billed({ trialEndsAt: 3_000, byTrialLink: true }),
    held: [
      held('tried', PLAN, { trialEndsAt: 500, cancelledAt: 500 }),
      held('again', PLAN, { ...by('r1', 100), cancelledAt: 100 }),
    ],
    cancelAtProvider: ['r1'],
    triedBefore: true,
  },
  {
    what: 'a trial that came first goes on when somebody tries the same by hand',
    said: billed({ trialEndsAt: 3_000, byTrialLink: true }),
    held: [
      held('s', PLAN, { ...by('r1', 100), trialEndsAt: 3_000 }),
      held('by hand', PLAN, { trialEndsAt: 500, cancelledAt: 500 }),
    ],
  },
  {
    what: 'a trial that the shop gives at the provider is given, whatever was tried before',
    said: billed({ trialEndsAt: 3_000 }),
    held: [held('tried', PLAN, { trialEndsAt: 500, cancelledAt: 500 })],
    insert: [{ packageId: 'plan', trialEndsAt: 3_000, cancelledAt: null }],
  },
  {
    what: 'and also to who has bought it by a link',
    said: billed({ trialEndsAt: 3_000, byTrialLink: true }),
    held: [held('tried', PLAN, { trialEndsAt: 500, cancelledAt: 500 }), held('s', PLAN, by('r1', 100))],
    update: [{ id: 's', trialEndsAt: 3_000 }],
  },
  {
    what: 'a plan exchanged for one of another interval counts on as before',
    said: billed({ packages: [PRO], anchor: 950, keepsAnchor: true }),
    held: [held('s', PLAN, by('r1', 100))],
    insert: [{ packageId: 'pro', startedAt: NOW, anchor: 100 }],
    end: [{ id: 's', at: NOW }],
  },
  {
    what: 'and so does one that only its interval has changed of',
    said: billed({ anchor: 950, keepsAnchor: true }),
    held: [held('s', PLAN, by('r1', 100))],
  },
  {
    what: 'a billing cycle that starts again is followed',
    said: billed({ anchor: 950 }),
    held: [held('s', PLAN, by('r1', 100))],
    update: [{ id: 's', anchor: 950 }],
  },
  {
    what: 'a scheduled change is planned, and the plan ends where its successor begins',
    said: billed({ scheduled: { at: 4_000, packages: [PRO] } }),
    held: [held('s', PLAN, by('r1', 100))],
    update: [{ id: 's', cancelAt: 4_000, quantity: 1 }],
    plan: {
      follows: 's',
      successor: {
        packageId: 'pro',
        isAddon: false,
        startedAt: 4_000,
        anchor: 100,
        cancelAt: null,
        cancelledAt: null,
        quantity: 1,
        trialEndsAt: null,
      },
    },
  },
  {
    what: 'a scheduled change that is planned already changes nothing',
    said: billed({ scheduled: { at: 4_000, packages: [PRO] } }),
    held: [held('s', PLAN, { ...by('r1', 100), cancelAt: 4_000, next: planned(PRO) })],
  },
  {
    what: 'another scheduled change takes the place of the first',
    said: billed({ scheduled: { at: 4_000, packages: [{ ...PRO, quantity: 3 }] } }),
    held: [held('s', PLAN, { ...by('r1', 100), cancelAt: 4_000, next: planned(PRO) })],
    unplan: ['s'],
    plan: { follows: 's', successor: expect.objectContaining({ packageId: 'pro', quantity: 3 }) },
  },
  {
    what: 'a scheduled change that was taken back is planned no more',
    said: billed(),
    held: [held('s', PLAN, { ...by('r1', 100), cancelAt: 4_000, next: planned(PRO) })],
    update: [{ id: 's', cancelAt: null }],
    unplan: ['s'],
  },
  {
    what: 'nor is one whose place an end has taken, at the same moment',
    said: billed({ cancelAt: 4_000 }),
    held: [held('s', PLAN, { ...by('r1', 100), cancelAt: 4_000, next: planned(PRO) })],
    unplan: ['s'],
  },
  {
    what: 'a plan that costs nothing may follow one that ends',
    said: billed({ cancelAt: 4_000 }),
    held: [held('s', PLAN, { ...by('r1', 100), cancelAt: 4_000, next: { ...planned(PRO), provider: null } })],
  },
  {
    what: 'a scheduled change of what ends before it is none',
    said: billed({ billingStatus: 'past due', scheduled: { at: 4_000, packages: [PRO] } }),
    grace: 3_000,
    held: [held('s', PLAN, { ...by('r1', 100), cancelAt: 4_000, next: planned(PRO) })],
    update: [{ id: 's', cancelAt: 3_000 }],
    unplan: ['s'],
  },
  {
    what: 'a scheduled change whose time has come is made, at that time',
    said: billed({ scheduled: { at: 800, packages: [PRO] } }),
    held: [held('s', PLAN, by('r1', 100))],
    insert: [{ packageId: 'pro', startedAt: 800, anchor: 100 }],
    end: [{ id: 's', at: 800 }],
  },
  {
    what: 'an add-on that a scheduled change leaves out ends with it, one that it has goes on',
    said: billed({
      packages: [PLAN, EXTRA, { id: 'more', isAddon: true, quantity: 1 }],
      scheduled: { at: 4_000, packages: [PRO, { ...EXTRA, quantity: 2 }] },
    }),
    held: [
      held('s', PLAN, { ...by('r1', 100), cancelAt: 4_000, next: planned(PRO) }),
      held('a', EXTRA, by('r1', 100)),
      held('b', { id: 'more', isAddon: true }, by('r1', 100)),
    ],
    update: [{ id: 'b', cancelAt: 4_000 }],
  },
  {
    what: 'heard of for the first time, it is planned all the same',
    said: billed({ scheduled: { at: 4_000, packages: [PRO] } }),
    held: [],
    insert: [{ packageId: 'plan', cancelAt: 4_000 }],
    plan: { follows: null, successor: expect.objectContaining({ packageId: 'pro', startedAt: 4_000 }) },
  },
  {
    what: 'an add-on by hand that ends with the period still does when the plan changes there',
    said: billed(),
    held: [
      held('s', PLAN, { ...by('r1', 100), cancelAt: 4_000, next: planned(PRO) }),
      held('a', EXTRA, { anchor: 100, cancelAt: 4_000 }),
    ],
    update: [{ id: 's', cancelAt: null }],
    unplan: ['s'],
  },
  {
    what: 'an add-on that ended with its plan is ended there too, and nobody is told that it lacks one',
    said: billed({ packages: [EXTRA] }),
    held: [held('a', EXTRA, { ...by('r1', 100), cancelledAt: 500 })],
    cancelAtProvider: ['r1'],
  },
  {
    what: 'add-ons without a plan are told of',
    said: billed({ packages: [EXTRA] }),
    held: [],
    lacksBasePlan: true,
  },
]

describe('gap: billing, the provider’s state is applied', () => {
  it.each(ROWS)('$what', ({ said, held, grace, ...expected }) => {
    const { insert, update, end, unplan, plan, cancelAtProvider, askAgain, lacksBasePlan, heldAlready } =
      expected
    const changes = billingChanges(said, held, grace ?? null, NOW)
    expect(changes.insert).toEqual((insert ?? []).map((row) => expect.objectContaining(row)))
    expect(changes.update).toEqual((update ?? []).map((row) => expect.objectContaining(row)))
    expect(changes.unplan).toEqual(unplan ?? [])
    expect(changes.plan).toEqual(plan ?? null)
    expect(changes.end).toEqual(end ?? [])
    expect(changes.cancelAtProvider.map(({ ref }) => ref)).toEqual(cancelAtProvider ?? [])
    expect(changes.askAgain.map(({ ref }) => ref)).toEqual(askAgain ?? [])
    expect(changes.lacksBasePlan).toBe(lacksBasePlan ?? false)
    expect(changes.heldAlready.map(({ id }) => id)).toEqual(heldAlready ?? [])
    expect(changes.triedBefore).toBe(expected.triedBefore ?? false)
  })
})

const words: fc.Arbitrary<Billed> = fc
  .record({
    ref: fc.constantFrom('r1', 'r2', 'r3'),
    billingStatus: fc.constantFrom('live' as const, 'past due' as const, 'paused' as const, 'ended' as const),
    cancelAt: fc.constantFrom(null, 500, 5_000),
    packages: fc.constantFrom([PLAN], [PRO], [PLAN, EXTRA], [PRO, EXTRA]),
  })
  .map((word) =>
    billed({
      ...word,
      paidAt: 100 + Number(word.ref.slice(1)),
      endedAt: word.billingStatus === 'ended' ? 800 : null,
    }),
  )

const live = (all: readonly HeldSubscription[]) => all.filter((s) => endedAt(s, NOW) === null)

const told = (all: readonly Billed[], begin: HeldSubscription[] = []) =>
  all.reduce((now, said) => after(now, said, billingChanges(said, now, null, NOW)), begin)

describe('gap: billing, whatever is said', () => {
  it('said twice it is the same as once', () => {
    fc.assert(
      fc.property(fc.array(words, { maxLength: 6 }), words, (before, said) => {
        const once = told([said], told(before))
        const { insert, update, end } = billingChanges(said, once, null, NOW)
        expect({ insert, update, end }).toEqual({ insert: [], update: [], end: [] })
      }),
    )
  })

  it('there is one live base plan at most, and each package once', () => {
    fc.assert(
      fc.property(fc.array(words, { maxLength: 10 }), (all) => {
        const alive = live(told(all))
        expect(alive.filter((s) => !s.isAddon).length).toBeLessThanOrEqual(1)
        expect(new Set(alive.map((s) => s.packageId)).size).toBe(alive.length)
      }),
    )
  })

  it('what has ended stays ended', () => {
    fc.assert(
      fc.property(fc.array(words, { maxLength: 8 }), words, (before, said) => {
        const was = told(before)
        const ended = was.filter((s) => endedAt(s, NOW) !== null).map((s) => s.id)
        const now = new Map(told([said], was).map((s) => [s.id, s]))
        for (const id of ended) expect(endedAt(now.get(id) ?? held('', PLAN), NOW)).not.toBeNull()
      }),
    )
  })

  it('of two live plans the later one lives, in whatever order they are heard of', () => {
    const plan = (ref: string) =>
      fc
        .constantFrom([PLAN], [PRO], [PLAN, EXTRA])
        .map((packages) => billed({ ref, packages, paidAt: 100 + Number(ref.slice(1)) }))
    fc.assert(
      fc.property(plan('r1'), plan('r2'), (first, second) => {
        const packagesOf = (all: Billed[]) => live(told(all)).map((s) => `${s.providerRef} ${s.packageId}`)
        const late = second.packages.map((p) => `r2 ${p.id}`)
        expect(packagesOf([first, second])).toEqual(late)
        expect(packagesOf([second, first])).toEqual(late)
      }),
    )
  })
})
