import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { entitlement, featureContent, packageContent } from '../../test/harness/contents.ts'
import { buildCatalogue, type Catalogue, catalogueWith, grantsOf, versionOf } from './catalogue.ts'
import { type HistoryEntry, periodEnd, versionAt } from './package-version.ts'
import type { Reach } from './publication.ts'

const DAY = 86_400_000
const START = Date.UTC(2024, 0, 31)

const published = (position: number, reach: Reach, at: number): HistoryEntry => ({
  position,
  kind: 'PUBLISHED',
  from: position - 1,
  to: position,
  reach,
  at,
})
const migrated = (position: number, from: number, to: number, reach: Reach, at: number): HistoryEntry => ({
  position,
  kind: 'MIGRATED',
  from,
  to,
  reach,
  at,
})
const at = (entries: HistoryEntry[], now: number, bought = { version: 1, versionAsOf: 1 }) =>
  versionAt({ entries, versions: new Map() }, { ...bought, anchor: START }, () => ['MONTH'], now)

describe('gap: the version of a package that a subscription has', () => {
  const PUBLISHED_AT = Date.UTC(2024, 1, 10)

  it('moves on at once when a version is published for all', () => {
    expect(at([published(2, 'ALL', PUBLISHED_AT)], PUBLISHED_AT)).toBe(2)
  })

  it('stays when one is published for new customers only, who have it', () => {
    const entries = [published(2, 'NEW_ONLY', PUBLISHED_AT)]
    expect(at(entries, PUBLISHED_AT + 900 * DAY)).toBe(1)
    expect(at(entries, PUBLISHED_AT, { version: 2, versionAsOf: 2 })).toBe(2)
  })

  it('moves on when the period ends that it was published in, not a millisecond before', () => {
    const entries = [published(2, 'AT_PERIOD_END', PUBLISHED_AT)]
    const end = Date.UTC(2024, 1, 29)
    expect([at(entries, end - 1), at(entries, end)]).toEqual([1, 2])
  })

  it('is moved by a migration from that very version, and by no other', () => {
    const entries = [
      published(2, 'NEW_ONLY', PUBLISHED_AT),
      published(3, 'NEW_ONLY', PUBLISHED_AT),
      migrated(4, 2, 3, 'ALL', PUBLISHED_AT),
    ]
    expect(at(entries, PUBLISHED_AT)).toBe(1)
    expect(at(entries, PUBLISHED_AT, { version: 2, versionAsOf: 2 })).toBe(3)
  })

  it('is left alone by a migration that came before it was bought', () => {
    const entries = [published(2, 'NEW_ONLY', PUBLISHED_AT), migrated(3, 2, 1, 'ALL', PUBLISHED_AT)]
    expect(at(entries, PUBLISHED_AT, { version: 2, versionAsOf: 3 })).toBe(2)
  })

  it('is moved back by a migration to an earlier version, and on by the next publication for all', () => {
    const entries = [published(2, 'ALL', PUBLISHED_AT), migrated(3, 2, 1, 'ALL', PUBLISHED_AT)]
    expect(at(entries, PUBLISHED_AT)).toBe(1)
    expect(at([...entries, { ...published(4, 'ALL', PUBLISHED_AT), from: 2, to: 3 }], PUBLISHED_AT)).toBe(3)
  })

  it('keeps the version of a later decision: a move that was still to come is dropped', () => {
    const toCome = published(2, 'AT_PERIOD_END', PUBLISHED_AT)
    const others = [published(3, 'NEW_ONLY', PUBLISHED_AT), migrated(4, 1, 3, 'ALL', PUBLISHED_AT)]
    const end = Date.UTC(2024, 1, 29)
    expect([PUBLISHED_AT, end].map((now) => at([toCome, ...others], now))).toEqual([3, 3])
    const atEnd = [
      toCome,
      published(3, 'NEW_ONLY', PUBLISHED_AT),
      migrated(4, 1, 3, 'AT_PERIOD_END', end - 1),
    ]
    expect([end - 1, end].map((now) => at(atEnd, now))).toEqual([1, 3])
  })

  const entry = fc.record({
    kind: fc.constantFrom('PUBLISHED' as const, 'MIGRATED' as const),
    reach: fc.constantFrom<Reach>('ALL', 'NEW_ONLY', 'AT_PERIOD_END'),
    from: fc.integer({ min: 1, max: 4 }),
    to: fc.nat(9),
    days: fc.integer({ min: 0, max: 20 }),
  })
  const histories = fc.array(entry, { maxLength: 8 }).map((made) => {
    let [version, time] = [1, START]
    return made.map(({ kind, reach, from, to, days }, i): HistoryEntry => {
      time += days * DAY
      const base = { position: i + 2, reach, at: time }
      if (kind === 'PUBLISHED') return { ...base, kind, from: version, to: ++version }
      return { ...base, kind, reach: reach === 'NEW_ONLY' ? 'ALL' : reach, from, to: 1 + (to % version) }
    })
  })

  it('property: follows one who lives through it day by day', () => {
    fc.assert(
      fc.property(histories, fc.integer({ min: 0, max: 200 }), (entries, days) => {
        const now = START + days * DAY
        const known = entries.filter((e) => e.at <= now)
        let version = 1
        let planned = null as { to: number; on: number } | null
        for (let today = START; today <= now; today += DAY) {
          if (planned?.on === today) {
            version = planned.to
            planned = null
          }
          for (const e of known.filter(({ at, reach }) => at === today && reach !== 'NEW_ONLY')) {
            if (e.kind === 'MIGRATED' && version !== e.from) continue
            planned = e.reach === 'ALL' ? null : { to: e.to, on: periodEnd(START, ['MONTH'], today) }
            if (e.reach === 'ALL') version = e.to
          }
        }
        expect(at(known, now)).toBe(version)
      }),
      { numRuns: 2_000 },
    )
  })

  it('property: taking a migration out of the history restores everybody whom it moved', () => {
    fc.assert(
      fc.property(histories, fc.integer({ min: 1, max: 4 }), (entries, from) => {
        const end = (entries.at(-1)?.at ?? START) + 1
        const before = at(entries, end)
        const moved = [...entries, migrated(entries.length + 2, from, 9, 'ALL', end)]
        expect(at(moved, end)).toBe(before === from ? 9 : before)
        expect(at(entries, end)).toBe(before)
      }),
    )
  })
})

describe('gap: what a version grants', () => {
  const plan = (limit: number) => entitlement('calls', { limit })
  const catalogue: Catalogue = buildCatalogue(
    [featureContent('calls')],
    [packageContent('plan', { features: [plan(10)] })],
  )
  const held = (version: number) => ({ packageId: 'plan', version, versionAsOf: version, anchor: START })
  const limits = (of: Catalogue, now: number) =>
    [1, 2].map((version) => grantsOf(of, held(version), now)?.get('calls')?.limit)

  it.each([
    ['ALL', [20, 20], [20, 20]],
    ['NEW_ONLY', [10, 20], [10, 20]],
    ['AT_PERIOD_END', [10, 20], [20, 20]],
  ] as const)('%s: who bought the first and the second version, now and a month later', (reach, now, later) => {
    const after = catalogueWith(catalogue, 'plan', { name: 'Plan', features: [plan(20)] }, reach, START)
    expect(limits(after, START)).toEqual(now)
    expect(limits(after, START + 31 * DAY)).toEqual(later)
    expect(versionOf(after, held(2), START)).toBe(2)
  })

  it('a third version keeps what the first two granted', () => {
    const second = catalogueWith(catalogue, 'plan', { name: 'Plan', features: [plan(20)] }, 'NEW_ONLY', START)
    const third = catalogueWith(second, 'plan', { name: 'Plan', features: [plan(30)] }, 'NEW_ONLY', START)
    expect([1, 2, 3].map((v) => grantsOf(third, held(v), START)?.get('calls')?.limit)).toEqual([10, 20, 30])
  })

  it('a version for new customers leaves alone who was moved on by earlier ones for all', () => {
    const second = catalogueWith(catalogue, 'plan', { name: 'Plan', features: [plan(20)] }, 'ALL', START)
    const third = catalogueWith(second, 'plan', { name: 'Plan', features: [plan(30)] }, 'NEW_ONLY', START)
    expect([1, 2, 3].map((v) => grantsOf(third, held(v), START)?.get('calls')?.limit)).toEqual([20, 20, 30])
  })
})
