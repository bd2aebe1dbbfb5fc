import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { after, billed, by, EXTRA, heldAs, MORE, PLAN, PRO } from '../../test/harness/bills.ts'
import type { Billed, HeldSubscription } from './bill.ts'
import { billingChanges } from './billing-changes.ts'
import { endedAt } from './subscription.ts'

const NOW = 1_000

const plan = (more: Partial<HeldSubscription> = {}) => heldAs('plan', PLAN, { ...by('r1'), ...more })
const free = { packageId: 'free', quantity: 1, at: 4_000, provider: null, endsAt: null }
const paid = { packageId: 'pro', quantity: 1, at: 4_000, provider: 'p', endsAt: null }
const handed = heldAs('handed', EXTRA)
const bought = heldAs('bought', MORE, by('r2'))

const changesOf = (said: Billed, held: HeldSubscription[], grace: number | null = null, now = NOW) =>
  billingChanges(said, held, grace, now)

const endsIn = ({ update }: { update: { id: string; cancelAt: number | null }[] }, id: string) =>
  update.find((one) => one.id === id)?.cancelAt

describe('an add-on lasts as long as the plan and what follows it', () => {
  it.each([
    ['free', free] as const,
    ['paid', paid] as const,
  ])('on a bill of its own, it goes on where a %s plan follows', (_, next) => {
    const said = billed({ ref: 'r2', packages: [MORE] })
    expect(changesOf(said, [plan({ cancelAt: 4_000, next }), bought]).update).toEqual([])
    expect(changesOf(said, [plan({ cancelAt: 4_000, next })]).insert).toMatchObject([{ cancelAt: null }])
  })

  it('and ends with what follows, where that is to end', () => {
    const next = { ...paid, endsAt: 9_000 }
    const said = billed({ ref: 'r2', packages: [MORE] })
    expect(endsIn(changesOf(said, [plan({ cancelAt: 4_000, next }), bought]), 'bought')).toBe(9_000)
  })

  it('goes on where the payments for the plan end and a free one follows', () => {
    const held = [plan({ cancelAt: 4_000, next: free }), handed, bought]
    const { update, end } = changesOf(billed({ cancelAt: 4_000 }), held)
    expect([update, end]).toEqual([[], []])
  })

  it('and where its provider ends them a moment before our clock does', () => {
    const held = [plan({ cancelAt: 4_000, next: free }), handed, bought]
    const said = billed({ billingStatus: 'ended', endedAt: 3_999, cancelAt: 4_000 })
    const { end, cancelAtProvider } = changesOf(said, held, null, 3_999)
    expect(end).toEqual([{ id: 'plan', at: 3_999 }])
    expect(cancelAtProvider).toEqual([])
  })

  it('ends where a paid change was to follow that is not paid any more', () => {
    const held = [plan({ cancelAt: 4_000, next: paid }), handed]
    const { end } = changesOf(billed({ billingStatus: 'ended', endedAt: 900 }), held)
    expect(end).toEqual([
      { id: 'plan', at: 900 },
      { id: 'handed', at: NOW },
    ])
  })

  it.each([
    ['lasts until then where the rest of its bill ends before', plan(), [MORE], ['more']],
    ['ends with a bill that its provider no longer knows', plan(), [], ['extra', 'more']],
    [
      'ends where there is no plan any more',
      heldAs('gone', PLAN, { cancelledAt: 900 }),
      [MORE],
      ['extra', 'more'],
    ],
  ])('off its bill and paid until its end, it %s', (_, base, packages, ended) => {
    const extra = heldAs('extra', EXTRA, { ...by('r2'), cancelAt: 4_000 })
    const more = heldAs('more', MORE, by('r2'))
    const said = billed({ ref: 'r2', billingStatus: 'ended', endedAt: NOW, packages })
    expect(changesOf(said, [base, extra, more]).end.map(({ id }) => id)).toEqual(ended)
  })

  it('ends with the grace time of the plan, and goes on once that is paid', () => {
    const due = changesOf(billed({ billingStatus: 'past due' }), [plan(), handed, bought], 3_000)
    expect([endsIn(due, 'plan'), endsIn(due, 'handed'), endsIn(due, 'bought')]).toEqual([3_000, 3_000, 3_000])
    const late = [plan(), handed, bought].map((s) => ({ ...s, cancelAt: 3_000 }))
    const paidUp = changesOf(billed(), late)
    expect([endsIn(paidUp, 'plan'), endsIn(paidUp, 'handed'), endsIn(paidUp, 'bought')]).toEqual([
      null,
      null,
      null,
    ])
    expect(paidUp.askAgain).toEqual([{ provider: 'p', ref: 'r2' }])
  })

  it('as a trial given by hand, has its own end again once the plan is paid', () => {
    const tried = { ...handed, cancelAt: 6_000, trialEndsAt: 6_000 }
    const due = changesOf(billed({ billingStatus: 'past due' }), [plan(), tried], 3_000)
    expect(endsIn(due, 'handed')).toBe(3_000)
    const late = [plan(), tried].map((s) => ({ ...s, cancelAt: 3_000 }))
    expect(endsIn(changesOf(billed(), late), 'handed')).toBe(6_000)
  })

  it('ends with a scheduled change after which the bill has add-ons alone', () => {
    const said = billed({
      packages: [PLAN, MORE],
      scheduled: { at: 4_000, packages: [MORE] },
    })
    const mine = heldAs('mine', MORE, by('r1'))
    const changes = changesOf(said, [plan(), mine, handed])
    expect([endsIn(changes, 'plan'), endsIn(changes, 'mine'), endsIn(changes, 'handed')]).toEqual([
      4_000, 4_000, 4_000,
    ])
  })

  it('is ended at its provider also if the clock has ended it already, with the plan', () => {
    const held = [plan(), handed, bought].map((s) => ({ ...s, cancelAt: 900 }))
    const said = billed({ billingStatus: 'ended', endedAt: 900 })
    const { end, cancelAtProvider } = changesOf(said, held)
    expect(end).toEqual([])
    expect(cancelAtProvider).toEqual([{ provider: 'p', ref: 'r2' }])
    const written = held.map((s) => ({ ...s, cancelledAt: 900 }))
    expect(changesOf(said, written).cancelAtProvider).toEqual([])
  })

  it('stays where another plan has taken the place of one that ended', () => {
    const held = [plan({ cancelAt: 900 }), heldAs('new', PRO), handed]
    expect(changesOf(billed({ billingStatus: 'ended', endedAt: 900 }), held).end).toEqual([])
  })

  describe('on a bill of add-ons alone', () => {
    const base = heldAs('base', PLAN)
    const mine = heldAs('mine', MORE, { ...by('r2'), cancelAt: 3_000 })

    it('lasts until its end if it was off the bill before that ended, and not if it was on it', () => {
      const said = (packages: Billed['packages']) =>
        billed({ ref: 'r2', billingStatus: 'ended', endedAt: 900, packages })
      expect(changesOf(said([EXTRA]), [base, mine]).end).toEqual([])
      expect(changesOf(said([MORE, EXTRA]), [base, mine]).end).toEqual([{ id: 'mine', at: 900 }])
    })

    it('ends at once when the payments pause', () => {
      const said = billed({ ref: 'r2', billingStatus: 'paused', packages: [EXTRA] })
      expect(changesOf(said, [base, mine]).end).toEqual([{ id: 'mine', at: NOW }])
    })

    it('goes on where only its quantity is scheduled to change', () => {
      const said = billed({
        ref: 'r2',
        packages: [MORE],
        scheduled: { at: 4_000, packages: [{ ...MORE, quantity: 2 }] },
      })
      expect(changesOf(said, [base, bought]).update).toEqual([])
    })

    it('takes no other add-on along, whatever has become of the plan', () => {
      const over = heldAs('over', PLAN, { ...by('r1'), cancelAt: 900 })
      const { end, cancelAtProvider } = changesOf(
        billed({ ref: 'r2', billingStatus: 'ended', endedAt: 950, packages: [MORE] }),
        [over, bought, handed],
      )
      expect(end).toEqual([{ id: 'bought', at: 950 }])
      expect(cancelAtProvider).toEqual([])
    })
  })

  it('ends with the last plan: one that the clock has ended does not count', () => {
    const over = heldAs('over', PRO, { ...by('r3'), cancelAt: 900 })
    const { end, cancelAtProvider } = changesOf(billed({ billingStatus: 'ended', endedAt: 950 }), [
      plan(),
      over,
      handed,
    ])
    expect(end).toEqual([
      { id: 'plan', at: 950 },
      { id: 'handed', at: NOW },
    ])
    expect(cancelAtProvider).toEqual([])
  })

  it('ends with the bill, not with the free plan whose place a paid change has taken', () => {
    const said = billed({ cancelAt: 9_000, scheduled: { at: 4_000, packages: [PRO] } })
    const changes = changesOf(said, [plan({ cancelAt: 4_000, next: free }), handed])
    expect(endsIn(changes, 'handed')).toBe(9_000)
  })

  it('on a bill of its own, does not end with its trial there', () => {
    const held = [plan({ cancelAt: 3_000 }), { ...bought, cancelAt: 3_000, trialEndsAt: 5_000 }]
    expect(endsIn(changesOf(billed(), held), 'bought')).toBeNull()
  })

  it('property: whatever is said, in whatever order', () => {
    const billingStatus = fc.constantFrom(
      'live' as const,
      'live' as const,
      'past due' as const,
      'ended' as const,
    )
    const moment = fc.constantFrom(null, null, 2_000, 5_000)
    const ofPlan = fc
      .record({ billingStatus, cancelAt: moment, next: fc.constantFrom(null, PRO, MORE) })
      .map((word) =>
        billed({
          billingStatus: word.billingStatus,
          cancelAt: word.cancelAt,
          endedAt: word.billingStatus === 'ended' ? 800 : null,
          packages: [PLAN],
          scheduled: word.next && { at: 3_000, packages: [word.next] },
        }),
      )
    const ofAddon = fc
      .record({ billingStatus, cancelAt: moment })
      .map((word) => billed({ ...word, ref: 'r2', packages: [MORE], endedAt: null }))
    fc.assert(
      fc.property(fc.array(fc.oneof(ofPlan, ofAddon), { maxLength: 8 }), (all) => {
        const begin = [plan(), handed]
        const held = all.reduce(
          (now, said) =>
            after(now, said, changesOf(said, now, said.billingStatus === 'past due' ? 1_500 : null)),
          begin,
        )
        const live = held.filter((s) => endedAt(s, NOW) === null)
        const base = live.find((s) => !s.isAddon)
        for (const addon of live.filter((s) => s.isAddon)) {
          expect(base).toBeDefined()
          const last = (base?.next ? base.next.endsAt : base?.cancelAt) ?? Number.POSITIVE_INFINITY
          expect(addon.cancelAt ?? Number.POSITIVE_INFINITY).toBeLessThanOrEqual(last)
        }
      }),
    )
  })
})
