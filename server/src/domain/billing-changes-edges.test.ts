import { describe, expect, it } from 'vitest'
import { billed, by, EXTRA, heldAs as held, PLAN, PRO } from '../../test/harness/bills.ts'
import type { Billed, HeldSubscription } from './bill.ts'
import { billingChanges } from './billing-changes.ts'

// Cases that differ from those of billing-changes.test.ts in one thing, which decides.

const NOW = 1_000
interface Outcome {
  insert: {
    packageId: string
    startedAt: number
    anchor: number
    cancelAt: number | null
    cancelledAt: number | null
  }[]
  update: { id: string; anchor: number; cancelAt: number | null }[]
  end: { id: string; at: number }[]
  cancelAtProvider: { provider: string; ref: string }[]
  askAgain: { provider: string; ref: string }[]
  lacksBasePlan: boolean
}

const inserted = (packageId: string, more: Partial<Outcome['insert'][number]> = {}) => ({
  packageId,
  startedAt: 100,
  anchor: 100,
  cancelAt: null,
  cancelledAt: null,
  ...more,
})

const ROWS: [
  what: string,
  said: Billed,
  held: HeldSubscription[],
  comesTo: Partial<Outcome>,
  grace?: number,
][] = [
  [
    'paid in the same moment, the smaller id is the earlier one',
    billed({ ref: 'r2' }),
    [held('old', PRO, by('r1', 100))],
    {
      insert: [inserted('plan')],
      end: [{ id: 'old', at: NOW }],
      cancelAtProvider: [{ provider: 'p', ref: 'r1' }],
    },
  ],
  [
    'paid in the same moment under the same id at another provider, the one that is heard of counts',
    billed(),
    [held('old', PRO, by('r1', 100, 'q'))],
    {
      insert: [inserted('plan')],
      end: [{ id: 'old', at: NOW }],
      cancelAtProvider: [{ provider: 'q', ref: 'r1' }],
    },
  ],
  [
    'add-ons of another anchor take that of the plan, whether or not their end changes',
    billed(),
    [held('a', EXTRA, { anchor: 50 })],
    { insert: [inserted('plan')], update: [{ id: 'a', anchor: 100, cancelAt: null }] },
  ],
  [
    'add-ons of the same anchor and end stay as they are',
    billed({ cancelAt: 5_000 }),
    [held('a', EXTRA, { cancelAt: 5_000 })],
    { insert: [inserted('plan', { cancelAt: 5_000 })] },
  ],
  [
    'add-ons that have lost their plan end now, there too',
    billed({ packages: [EXTRA] }),
    [held('a', EXTRA, by('r1', 100))],
    { end: [{ id: 'a', at: NOW }], cancelAtProvider: [{ provider: 'p', ref: 'r1' }] },
  ],
  [
    'what another provider knows by the same id is not on the same bill',
    billed(),
    [held('old', PRO, by('r0', 90)), held('a', EXTRA, by('r0', 90, 'q'))],
    {
      insert: [inserted('plan')],
      end: [{ id: 'old', at: NOW }],
      cancelAtProvider: [{ provider: 'p', ref: 'r0' }],
    },
  ],
  [
    'what was given by hand is on no bill together',
    billed(),
    [held('hand', PRO), held('a', EXTRA)],
    { insert: [inserted('plan')], end: [{ id: 'hand', at: NOW }] },
  ],
  [
    'paid every month from now on, it takes the place of what was paid once',
    billed({ paidAt: 300 }),
    [held('life', PLAN, { ...by('r2', 200), forGood: true })],
    { insert: [inserted('plan')], end: [{ id: 'life', at: NOW }] },
  ],
  [
    'an add-on that is off the bill and has no end goes now',
    billed(),
    [held('s', PLAN, by('r1', 100)), held('a', EXTRA, by('r1', 100))],
    { end: [{ id: 'a', at: NOW }] },
  ],
  [
    'what is left of a bill that gives way to a later payment ends now',
    billed({ packages: [PLAN, EXTRA] }),
    [
      held('s', PLAN, { ...by('r1', 100), cancelledAt: 600 }),
      held('a', EXTRA, by('r1', 100)),
      held('new', PRO, { ...by('r2', 101), startedAt: 600 }),
    ],
    { end: [{ id: 'a', at: NOW }], cancelAtProvider: [{ provider: 'p', ref: 'r1' }] },
  ],
  [
    'replaced before it began, it lasted no time',
    billed({ madeAt: 700 }),
    [held('new', PRO, { ...by('r2', 101), startedAt: 600 })],
    {
      insert: [inserted('plan', { startedAt: 700, cancelledAt: 700 })],
      cancelAtProvider: [{ provider: 'p', ref: 'r1' }],
    },
  ],
  [
    'made ahead of our clock, it begins now',
    billed({ madeAt: 2_000, anchor: 2_000 }),
    [],
    { insert: [inserted('plan', { startedAt: NOW, anchor: 2_000 })] },
  ],
  [
    'ended ahead of our clock, it ends now',
    billed({ billingStatus: 'ended', endedAt: 2_000 }),
    [held('s', PLAN, by('r1', 100))],
    { end: [{ id: 's', at: NOW }] },
  ],
  [
    'ended before it began here, it ends when it began',
    billed({ billingStatus: 'ended', endedAt: 20 }),
    [held('s', PLAN, by('r1', 100))],
    { end: [{ id: 's', at: 50 }] },
  ],
  [
    'ended before it is said to have been made, it is written down as of its end',
    billed({ billingStatus: 'ended', endedAt: 20 }),
    [],
    { insert: [inserted('plan', { startedAt: 20, cancelledAt: 20 })] },
  ],
  [
    'at the very moment of its end it has ended',
    billed({ cancelAt: NOW }),
    [held('s', PLAN, { ...by('r1', 100), cancelAt: 2_000 })],
    { end: [{ id: 's', at: NOW }] },
  ],
  [
    'a moment before its end it has not',
    billed({ cancelAt: NOW + 1 }),
    [held('s', PLAN, { ...by('r1', 100), cancelAt: NOW + 1 })],
    {},
  ],
  [
    'an add-on of its own that ends takes nothing else with it',
    billed({ billingStatus: 'ended', packages: [EXTRA] }),
    [held('s', PLAN), held('a', EXTRA, by('r1', 100)), held('b', { id: 'b', isAddon: true })],
    { end: [{ id: 'a', at: NOW }] },
  ],
  [
    'a bill of plan and add-on that ends takes the other add-ons with it',
    billed({ billingStatus: 'ended', packages: [PLAN, EXTRA] }),
    [held('s', PLAN, by('r1', 100)), held('a', EXTRA, by('r1', 100)), held('b', { id: 'b', isAddon: true })],
    { end: ['s', 'a', 'b'].map((id) => ({ id, at: NOW })) },
  ],
  [
    'nothing is asked about add-ons when no end was taken back',
    billed(),
    [held('s', PLAN, by('r1', 100)), held('a', EXTRA, by('r2', 90))],
    {},
  ],
  [
    'nothing is asked about add-ons when the end stays',
    billed({ cancelAt: 5_000 }),
    [
      held('s', PLAN, { ...by('r1', 100), cancelAt: 5_000 }),
      held('a', EXTRA, { ...by('r2', 90), cancelAt: 5_000 }),
    ],
    {},
  ],
  [
    'two add-ons on one other bill have it ended once',
    billed({ billingStatus: 'ended' }),
    [
      held('s', PLAN, by('r1', 100)),
      held('a', EXTRA, by('r2', 90)),
      held('b', { id: 'b', isAddon: true }, by('r2', 90)),
      held('c', { id: 'c', isAddon: true }, by('r2', 90, 'q')),
    ],
    {
      end: ['s', 'a', 'b', 'c'].map((id) => ({ id, at: NOW })),
      cancelAtProvider: [
        { provider: 'p', ref: 'r2' },
        { provider: 'q', ref: 'r2' },
      ],
    },
  ],
  [
    'never paid for, what was given ends all the same',
    billed({ billingStatus: 'never' }),
    [held('s', PLAN, by('r1', 100))],
    { end: [{ id: 's', at: NOW }] },
  ],
  [
    'the grace time is over before the end that was set',
    billed({ billingStatus: 'past due', cancelAt: 950 }),
    [held('s', PLAN, by('r1', 100))],
    { end: [{ id: 's', at: 900 }] },
    900,
  ],
  [
    'the plan of add-ons that are paid by themselves moves their end, and theirs alone',
    billed({ cancelAt: 6_000 }),
    [
      held('s', PLAN, { ...by('r1', 100), cancelAt: 5_000 }),
      held('with it', EXTRA, { ...by('r2', 90), cancelAt: 5_000 }),
      held('sooner', { id: 'b', isAddon: true }, { ...by('r3', 90), cancelAt: 4_000 }),
      held('open', { id: 'c', isAddon: true }, by('r4', 90)),
    ],
    {
      update: [
        { id: 's', anchor: 100, cancelAt: 6_000 },
        { id: 'with it', anchor: 100, cancelAt: 6_000 },
        { id: 'open', anchor: 100, cancelAt: 6_000 },
      ],
      askAgain: [{ provider: 'p', ref: 'r2' }],
    },
  ],
  [
    'add-ons take the anchor of the plan that is there',
    billed({ packages: [EXTRA] }),
    [held('s', PLAN, { anchor: 70 }), held('a', EXTRA, by('r1', 100))],
    { update: [{ id: 'a', anchor: 70, cancelAt: null }] },
  ],
]

describe('gap: billing, the provider’s state is applied, at the edges', () => {
  it.each(ROWS)('%s', (_, said, all, comesTo, grace = undefined) => {
    const { heldAlready, ...changes } = billingChanges(said, all, grace ?? null, NOW)
    expect(changes).toMatchObject({
      insert: [],
      update: [],
      end: [],
      cancelAtProvider: [],
      askAgain: [],
      lacksBasePlan: false,
      ...comesTo,
    })
    expect(heldAlready).toEqual([])
  })

  it('paid once more for several things, it gives nothing only to who holds all of them for good', () => {
    const life = { ...by('r2', 200), forGood: true }
    const said = billed({ forGood: true, paidAt: 300, packages: [PLAN, EXTRA] })
    const of = (extra: Partial<HeldSubscription>) =>
      billingChanges(said, [held('s', PLAN, life), held('a', EXTRA, extra)], null, NOW).heldAlready.map(
        ({ id }) => id,
      )
    expect(of(life)).toEqual(['s', 'a'])
    expect(of({ ...life, cancelAt: 5_000 })).toEqual([])
    expect(of({ ...life, forGood: false })).toEqual([])
  })
})
