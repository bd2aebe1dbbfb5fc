/**
 * Invariant: until the moment that `validUntil` names, time alone changes no entitlement.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { entitlement, featureContent, packageContent } from '../../test/harness/contents.ts'
import { buildCatalogue } from './catalogue.ts'
import type { Override } from './override.ts'
import type { ResetPeriod } from './period.ts'
import { type Holder, type LiveSubscription, userEntitlement, validUntil } from './user-entitlement.ts'

const NOW = Date.UTC(2024, 4, 20)
const BASE_ANCHOR = Date.UTC(2024, 0, 31)
const HOUR = 3_600_000
const DAY = 24 * HOUR

describe('validUntil', () => {
  const plan = (over: Partial<LiveSubscription> = {}): LiveSubscription => ({
    packageId: 'plan',
    isAddon: false,
    startedAt: BASE_ANCHOR,
    anchor: BASE_ANCHOR,
    quantity: 1,
    version: 1,
    versionAsOf: 1,
    ...over,
  })
  const override = (over: Partial<Override> = {}): Override => ({
    featureId: 'calls',
    mode: 'ADD',
    limit: 5,
    overageEnabled: null,
    resetPeriod: 'WEEK',
    startedAt: BASE_ANCHOR,
    expiresAt: null,
    reason: null,
    ...over,
  })
  const catalogueOf = (resetPeriod: ResetPeriod) =>
    buildCatalogue(
      [featureContent('calls', { type: 'CONSUMABLE' })],
      [
        packageContent('plan', {
          features: [entitlement('calls', { limit: 10, resetPeriod, overageEnabled: false })],
        }),
      ],
    )

  it('is the end of the period, of a subscription or of an override, whichever comes first', () => {
    const until = (holder: Partial<Holder> & { liveUntil?: number }, resetPeriod: ResetPeriod = 'MONTH') => {
      const whole = { live: [plan()], overrides: null, liveUntil: Number.POSITIVE_INFINITY, ...holder }
      const of = catalogueOf(resetPeriod)
      const found = userEntitlement(of, 'calls', whole, NOW)
      return found.kind === 'metered' ? validUntil(of, whole, found, NOW) : 'not metered'
    }
    expect(until({})).toBe(Date.UTC(2024, 4, 31))
    expect(until({ liveUntil: NOW + DAY })).toBe(NOW + DAY)
    expect(until({ overrides: [override({ expiresAt: NOW + HOUR })] })).toBe(NOW + HOUR)
    expect(until({ overrides: [override({ expiresAt: NOW - HOUR })] })).toBe(Date.UTC(2024, 4, 31))
    expect(until({}, 'NEVER')).toBeGreaterThan(Date.UTC(9000, 0))
  })

  it('is not known while a subscription waits for the end of its period to get another version', () => {
    const of = catalogueOf('MONTH')
    const entry = {
      position: 2,
      kind: 'PUBLISHED',
      from: 1,
      to: 2,
      reach: 'AT_PERIOD_END',
      at: NOW - DAY,
    } as const
    const waiting = { ...of, histories: new Map([['plan', { entries: [entry], versions: new Map() }]]) }
    const holder = { live: [plan()], overrides: null, liveUntil: Number.POSITIVE_INFINITY }
    const found = userEntitlement(waiting, 'calls', holder, NOW)
    if (found.kind !== 'metered') throw new Error('not metered')
    expect(validUntil(waiting, holder, found, NOW)).toBe(null)
  })

  it('is never too late', () => {
    const moment = fc.integer({ min: -40 * 24, max: 40 * 24 }).map((hours) => NOW + hours * HOUR)
    const overrides = fc.option(
      fc.array(
        fc.record({
          mode: fc.constantFrom('ADD', 'REPLACE', 'UNLIMITED', 'DENY'),
          expiresAt: fc.option(moment, { nil: null }),
        }),
        { maxLength: 1 },
      ),
      { nil: null },
    )
    const resets = fc.constantFrom<ResetPeriod>('HOUR', 'DAY', 'WEEK', 'MONTH', 'YEAR', 'NEVER')
    fc.assert(
      fc.property(
        resets,
        moment,
        overrides,
        fc.double({ min: 0, max: 1, noNaN: true }),
        (reset, anchor, given, share) => {
          const of = catalogueOf(reset)
          const holder = {
            live: [plan({ anchor })],
            overrides: given?.map((one) => override(one as Partial<Override>)) ?? null,
            liveUntil: Number.POSITIVE_INFINITY,
          }
          const found = userEntitlement(of, 'calls', holder, NOW)
          if (found.kind !== 'metered') return
          const until = validUntil(of, holder, found, NOW) ?? NOW + 1
          const later = NOW + Math.floor((Math.min(until, NOW + 400 * DAY) - 1 - NOW) * share)
          expect(userEntitlement(of, 'calls', holder, later)).toEqual(found)
        },
      ),
    )
  })
})
