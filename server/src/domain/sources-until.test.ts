/**
 * Invariant: until the moment that `sourcesUntil` names, time alone changes neither what sources have left nor what caps
 * have counted.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { expectSame } from '../../test/harness/same.ts'
import { RESET_PERIODS } from './period.ts'
import { type HeldCredit, type Purse, purseOf } from './purse.ts'
import { sourcesOf, sourcesUntil } from './sources.ts'
import { take } from './spending.ts'

const NOW = Date.UTC(2024, 4, 20, 12, 30)
const DAY = 24 * 3_600_000

describe('sourcesUntil', () => {
  const moment = fc.integer({ min: NOW - 3 * DAY, max: NOW + 3 * DAY })
  const credits = fc.array(
    fc.record({
      amount: fc.integer({ min: 1, max: 9 }),
      effectiveAt: moment,
      expiresAt: fc.option(moment, { nil: null }),
      priority: fc.integer({ min: 49, max: 51 }),
    }),
    { maxLength: 4 },
  )
  const caps = fc.array(
    fc.record({ period: fc.constantFrom(...RESET_PERIODS), used: fc.nat(9), windowStart: moment }),
    { maxLength: 2 },
  )
  const listed = (
    given: { amount: number; effectiveAt: number; expiresAt: number | null; priority: number }[],
  ) =>
    given.map((one, seq): HeldCredit & { reserved: 0 } => ({
      ...one,
      ...{ id: `credit-${seq}`, kind: 'PAID', voidedAt: null, seq, used: 0, reserved: 0 },
      ...{ period: null, periodUsed: 0, reason: null },
    }))

  it('names a moment until which the sources and the caps are the same', () => {
    fc.assert(
      fc.property(
        fc.record({ credits, caps }),
        fc.option(fc.record({ credits, caps }), { nil: null }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (own, ofPool, share) => {
          const sources = (given: typeof own, now: number, pool: Purse['pool']): Purse => {
            const counted = given.caps.map((cap) => ({ ...cap, entity: null, limit: 10 }))
            const spending = {
              owed: null,
              drawn: null,
              held: [],
              credits: listed(given.credits),
              caps: counted,
            }
            const plan = { allowance: { budget: 5, overageEnabled: false, resetPeriod: 'NEVER' as const } }
            return purseOf({ ...plan, period: { start: 0, end: null } }, 2, spending, now, pool)
          }
          const at = (now: number): Purse =>
            sources(
              own,
              now,
              ofPool && { featureId: 'pool', cost: 2, open: true, purse: sources(ofPool, now, null) },
            )
          const until = sourcesUntil(at(NOW), NOW)
          expect(until).toBeGreaterThan(NOW)
          const later = NOW + Math.floor((Math.min(until, NOW + 400 * DAY) - 1 - NOW) * share)
          expectSame(at(later), at(NOW))
          expectSame(sourcesOf(at(later), later), sourcesOf(at(NOW), NOW))
          expectSame(take(at(later), 7, later, 'RECORD'), take(at(NOW), 7, NOW, 'RECORD'))
        },
      ),
      { numRuns: 2_000 },
    )
  })
})
