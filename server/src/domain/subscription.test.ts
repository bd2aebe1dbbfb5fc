/**
 * Invariants
 * - A subscription is live until it ends, and never again; one past its `cancelAt` ends by the clock alone.
 * - Cancelling and subscribing again while the longest period of the earlier base plan runs keeps its anchor, and
 *   with it every period: usage is neither refilled nor lost. Afterwards the new plan counts from its own start.
 * - What was used in the very millisecond of a cancellation counts as used before it; at its `cancelAt` a plan is over.
 * - NEVER has no anchor to keep: its one period is the same across subscriptions.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { longestEnding, periodAt, RESET_PERIODS, type ResetPeriod } from './period.ts'
import {
  anchorFor,
  cancellationTime,
  type EarlierBase,
  endedAt,
  endOfPlan,
  lastLiveAt,
  statusAt,
  termsOf,
} from './subscription.ts'

const utc = (iso: string) => Date.parse(`${iso}T00:00:00Z`)
const iso = (time: number) => new Date(time).toISOString().slice(0, 10)

describe('spec §3 subscription status', () => {
  it.each([
    // cancelAt, cancelledAt, now, status, ended at, last live at
    [null, null, 100, 'ACTIVE', null, null],
    [200, null, 100, 'ACTIVE', null, null],
    [200, null, 199, 'ACTIVE', null, null],
    [200, null, 200, 'CANCELLED', 200, 199],
    [200, null, 300, 'CANCELLED', 200, 199],
    [200, 200, 300, 'CANCELLED', 200, 199],
    // cancelled immediately: that millisecond may have seen usage
    [null, 50, 100, 'CANCELLED', 50, 50],
    // cancelled immediately while a later end was set
    [200, 50, 100, 'CANCELLED', 50, 50],
    [200, 50, 300, 'CANCELLED', 50, 50],
    // a time of 0 is a time
    [0, null, 100, 'CANCELLED', 0, -1],
    [null, 0, 100, 'CANCELLED', 0, 0],
  ])('cancelAt %s, cancelledAt %s, at %i: %s', (cancelAt, cancelledAt, now, status, ended, last) => {
    expect(statusAt({ cancelAt, cancelledAt }, now)).toBe(status)
    expect(endedAt({ cancelAt, cancelledAt }, now)).toBe(ended)
    expect(lastLiveAt({ cancelAt, cancelledAt }, now)).toBe(last)
  })

  it('gap: what is cancelled is never revived', () => {
    const time = fc.nat(1_000)
    const timeOrNull = fc.option(time)
    fc.assert(
      fc.property(timeOrNull, timeOrNull, time, time, (cancelAt, cancelledAt, now, later) => {
        fc.pre(statusAt({ cancelAt, cancelledAt }, now) === 'CANCELLED')
        expect(statusAt({ cancelAt, cancelledAt }, now + later)).toBe('CANCELLED')
        expect(endedAt({ cancelAt, cancelledAt }, now + later)).toBe(endedAt({ cancelAt, cancelledAt }, now))
      }),
    )
  })
})

describe('gap: periods, the anchor of a new base plan', () => {
  const base = (anchor: string, cancelled: string, ...resetPeriods: ResetPeriod[]): EarlierBase => ({
    anchor: utc(anchor),
    lastLiveAt: utc(cancelled),
    resetPeriods,
  })
  const lapsed = (anchor: string, cancelAt: string, ...resetPeriods: ResetPeriod[]): EarlierBase => ({
    anchor: utc(anchor),
    lastLiveAt: utc(cancelAt) - 1,
    resetPeriods,
  })

  it.each<[string, EarlierBase[], string, string]>([
    ['the first plan', [], '2024-05-10', '2024-05-10'],
    ['within the month', [base('2024-01-31', '2024-03-05', 'MONTH')], '2024-03-30', '2024-01-31'],
    ['at the end of the month', [base('2024-01-31', '2024-03-05', 'MONTH')], '2024-03-31', '2024-03-31'],
    ['after the month', [base('2024-01-31', '2024-03-05', 'MONTH')], '2024-04-15', '2024-04-15'],
    ['at once', [base('2024-01-31', '2024-03-05', 'MONTH')], '2024-03-05', '2024-01-31'],
    ['cancelled as it began', [base('2024-01-31', '2024-01-31', 'MONTH')], '2024-02-10', '2024-01-31'],
    ['ended with its period', [lapsed('2024-01-31', '2024-02-29', 'MONTH')], '2024-03-05', '2024-03-05'],
    [
      'ended with its period, at once',
      [lapsed('2024-01-31', '2024-02-29', 'MONTH')],
      '2024-02-29',
      '2024-02-29',
    ],
    ['cancelled as a period began', [base('2024-01-31', '2024-02-29', 'MONTH')], '2024-03-05', '2024-01-31'],
    [
      'cancelled as a period began, after it',
      [base('2024-01-31', '2024-02-29', 'MONTH')],
      '2024-03-31',
      '2024-03-31',
    ],
    // a trial: the billing anchor lies ahead
    [
      'an anchor ahead, within its period',
      [base('2024-03-15', '2024-03-05', 'MONTH')],
      '2024-03-14',
      '2024-03-15',
    ],
    [
      'an anchor ahead, after its period',
      [base('2024-03-15', '2024-03-05', 'MONTH')],
      '2024-03-20',
      '2024-03-20',
    ],
    // a clock that was set back
    ['cancelled later than now', [base('2024-01-31', '2024-03-05', 'MONTH')], '2024-02-10', '2024-01-31'],
    [
      'the longest decides',
      [base('2024-01-31', '2024-03-05', 'DAY', 'YEAR', 'MONTH')],
      '2025-01-30',
      '2024-01-31',
    ],
    ['the longest is over', [base('2024-01-31', '2024-03-05', 'DAY', 'WEEK')], '2024-03-06', '2024-03-06'],
    ['the longest runs', [base('2024-01-31', '2024-03-05', 'DAY', 'WEEK')], '2024-03-05', '2024-01-31'],
    ['NEVER keeps none', [base('2024-01-31', '2024-03-05', 'NEVER')], '2024-03-06', '2024-03-06'],
    [
      'NEVER decides nothing',
      [base('2024-01-31', '2024-03-05', 'NEVER', 'MONTH')],
      '2024-04-15',
      '2024-04-15',
    ],
    ['a plan without features', [base('2024-01-31', '2024-03-05')], '2024-03-06', '2024-03-06'],
    [
      'two that run: the one that ended last',
      [base('2024-01-10', '2024-03-01', 'YEAR'), base('2024-02-20', '2024-05-01', 'YEAR')],
      '2024-06-01',
      '2024-02-20',
    ],
    [
      'two that run, read the other way round',
      [base('2024-02-20', '2024-05-01', 'YEAR'), base('2024-01-10', '2024-03-01', 'YEAR')],
      '2024-06-01',
      '2024-02-20',
    ],
    [
      'the last is over, one before it still runs',
      [base('2024-01-10', '2024-03-01', 'YEAR'), base('2024-03-05', '2024-03-06', 'DAY')],
      '2024-06-01',
      '2024-01-10',
    ],
    [
      'the last has none to keep, one before it still runs',
      [base('2024-01-10', '2024-03-01', 'YEAR'), base('2024-01-10', '2024-04-01', 'NEVER')],
      '2024-06-01',
      '2024-01-10',
    ],
    [
      'all are over',
      [base('2024-01-10', '2024-03-01', 'MONTH'), base('2024-03-20', '2024-03-25', 'WEEK')],
      '2024-06-01',
      '2024-06-01',
    ],
  ])('%s', (_, earlier, now, anchor) => {
    expect(iso(anchorFor(earlier, utc(now)))).toBe(anchor)
  })

  const DAY = 24 * 3_600_000
  const anchors = fc.integer({ min: utc('2024-01-01'), max: utc('2032-12-31') })
  const ending = fc.constantFrom('HOUR', 'DAY', 'WEEK', 'MONTH', 'YEAR')
  const resets = fc
    .tuple(fc.array(fc.constantFrom(...RESET_PERIODS), { maxLength: 4 }), ending)
    .map(([others, one]): ResetPeriod[] => [...others, one])

  /** A plan cancelled while it lived, and the end of the period that it was cancelled in. */
  const cancelled = fc
    .record({ anchor: anchors, lived: fc.integer({ min: -800 * DAY, max: 800 * DAY }), resetPeriods: resets })
    .map(({ anchor, lived, resetPeriods }) => {
      const longest = longestEnding(resetPeriods) ?? 'NEVER'
      const period = periodAt(longest, anchor, anchor + lived)
      return { base: { anchor, lastLiveAt: anchor + lived, resetPeriods }, end: period.end ?? Number.NaN }
    })

  it('again while the longest period runs: the same anchor, so the same periods', () => {
    fc.assert(
      fc.property(
        cancelled,
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        ({ base, end }, part) => {
          const now = base.lastLiveAt + Math.floor((end - base.lastLiveAt) * part)
          expect(anchorFor([base], now)).toBe(base.anchor)
          expect(anchorFor([base], end - 1)).toBe(base.anchor)
        },
      ),
      { numRuns: 500 },
    )
  })

  it('again after it: its own start', () => {
    fc.assert(
      fc.property(cancelled, fc.nat(800 * DAY), ({ base, end }, later) => {
        expect(anchorFor([base], end)).toBe(end)
        expect(anchorFor([base], end + later)).toBe(end + later)
      }),
      { numRuns: 500 },
    )
  })

  it('cancelled at its period’s end: nothing runs on, so the next plan counts from its own start', () => {
    fc.assert(
      fc.property(
        anchors,
        resets,
        fc.nat(800 * DAY),
        fc.nat(800 * DAY),
        (anchor, resetPeriods, lived, later) => {
          const cancelAt = cancellationTime(anchor, resetPeriods, anchor + lived)
          const now = cancelAt + later
          const last = lastLiveAt({ cancelAt, cancelledAt: null }, now) ?? Number.NaN
          expect(anchorFor([{ anchor, lastLiveAt: last, resetPeriods }], now)).toBe(now)
        },
      ),
    )
  })

  it('a period never starts later than the moment of subscribing, wherever the earlier plans stand', () => {
    const moved = fc.record({ anchor: anchors, lastLiveAt: anchors, resetPeriods: resets })
    fc.assert(
      fc.property(fc.array(moved, { maxLength: 4 }), anchors, ending, (earlier, now, reset) => {
        const { start, end } = periodAt(reset, anchorFor(earlier, now), now)
        expect(start).toBeLessThanOrEqual(now)
        expect(end).toBeGreaterThan(now)
      }),
      { numRuns: 1_000 },
    )
  })

  it('NEVER alone keeps no anchor, and needs none', () => {
    fc.assert(
      fc.property(anchors, fc.nat(800 * DAY), fc.nat(800 * DAY), (anchor, lived, later) => {
        const now = anchor + lived + later
        const fresh = anchorFor([{ anchor, lastLiveAt: anchor + lived, resetPeriods: ['NEVER'] }], now)
        expect(fresh).toBe(now)
        expect(periodAt('NEVER', fresh, now)).toEqual(periodAt('NEVER', anchor, now))
      }),
    )
  })

  it('cancelled and taken again any number of times within the period: the anchor is kept', () => {
    const gaps = fc.array(fc.nat(5 * DAY), { minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(anchors, gaps, (start, gaps) => {
        const earlier: EarlierBase[] = []
        let anchor = start
        let now = start
        // 80 days at most: within the year that the first plan counts in, beyond many of its days
        for (const [i, gap] of gaps.entries()) {
          now += gap
          earlier.push({ anchor, lastLiveAt: now, resetPeriods: i === 0 ? ['YEAR'] : ['DAY'] })
          now += gap
          anchor = anchorFor(earlier, now)
          expect(anchor).toBe(start)
        }
      }),
    )
  })

  it('the list of earlier plans is read, not sorted in place', () => {
    const earlier = [base('2024-01-10', '2024-03-01', 'MONTH'), base('2024-03-20', '2024-03-25', 'WEEK')]
    const asGiven = [...earlier]
    anchorFor(earlier, utc('2024-06-01'))
    expect(earlier).toEqual(asGiven)
  })
})

describe('gap: cancelling at the period’s end', () => {
  it.each<[ResetPeriod[], string, string, string]>([
    [['MONTH'], '2024-01-31', '2024-02-10', '2024-02-29'],
    [['MONTH'], '2024-01-31', '2024-02-29', '2024-03-31'],
    [['YEAR', 'DAY'], '2024-02-29', '2024-06-01', '2025-02-28'],
    [['DAY', 'WEEK'], '2024-05-01', '2024-05-09', '2024-05-15'],
    [['NEVER', 'DAY'], '2024-05-01', '2024-05-09', '2024-05-10'],
    // a package that counts nothing, or only NEVER, ends by the month
    [['NEVER'], '2024-01-31', '2024-02-10', '2024-02-29'],
    [[], '2024-01-31', '2024-02-10', '2024-02-29'],
  ])('%j from %s, at %s: %s', (resets, anchor, now, end) => {
    expect(iso(cancellationTime(utc(anchor), resets, utc(now)))).toBe(end)
  })
})

it('a package is bought once, in its newest version, without a trial', () => {
  expect(termsOf({ version: 3, history: 7 })).toEqual({
    trialEndsAt: null,
    quantity: 1,
    version: 3,
    versionAsOf: 7,
  })
})

it.each([
  ['it goes on', { cancelAt: null, next: null }, null],
  ['it ends', { cancelAt: 200, next: null }, 200],
  ['another follows', { cancelAt: 200, next: { endsAt: null } }, null],
  ['another follows and ends', { cancelAt: 200, next: { endsAt: 900 } }, 900],
])('a plan and what follows it are over when the last of it is: %s', (_, plan, end) => {
  expect(endOfPlan(plan)).toBe(end)
})
