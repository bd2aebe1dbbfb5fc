/**
 * Invariants
 * - A refused call changes nothing, and says why; a recorded one has no reason.
 * - The counter stays within 0 and 2^53-1.
 * - Without overage an ADD never takes it past the budget. A SET may: it states a fact.
 * - The adjustments of all recorded calls add up to the counter, so the ledger proves it.
 * - What `canUseFeature` grants, `recordUsage` records.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { metered } from '../../test/harness/contents.ts'
import { decideAccess } from './access.ts'
import { applyUsage, checkUsageCall, USAGE_ACTIONS, type UsageCall } from './usage.ts'
import type { UserEntitlement } from './user-entitlement.ts'

const MAX = 2 ** 53 - 1

describe('spec §4 mutations rules 4 and 5: recordUsage', () => {
  it.each([
    // budget, overage, used, action, delta, recorded, used after
    [100, false, 0, 'ADD', 1, true, 1],
    [100, false, 99, 'ADD', 1, true, 100],
    [100, false, 0, 'ADD', 100, true, 100],
    [100, false, 100, 'ADD', 1, false, 100],
    [100, false, 99, 'ADD', 2, false, 99],
    [100, false, 5, 'ADD', 0, true, 5],
    [100, true, 100, 'ADD', 1, true, 101],
    [0, false, 0, 'ADD', 1, false, 0],
    [null, false, 0, 'ADD', 1_000_000, true, 1_000_000],
    // reverts
    [100, false, 5, 'ADD', -5, true, 0],
    [100, false, 5, 'ADD', -6, false, 5],
    [100, true, 0, 'ADD', -1, false, 0],
    [100, false, 150, 'ADD', -10, true, 140],
    [100, false, 150, 'ADD', 0, false, 150],
    [null, false, 3, 'ADD', -4, false, 3],
    // facts
    [100, false, 5, 'SET', 40, true, 40],
    [100, false, 40, 'SET', 5, true, 5],
    [100, false, 5, 'SET', 0, true, 0],
    [100, false, 5, 'SET', 101, true, 101],
    [100, false, 500, 'SET', 500, true, 500],
    [100, false, 5, 'SET', -1, false, 5],
    [100, true, 5, 'SET', -1, false, 5],
    // the bound of all counters
    [null, false, MAX - 1, 'ADD', 1, true, MAX],
    [null, false, MAX, 'ADD', 1, false, MAX],
    [100, true, MAX, 'ADD', MAX, false, MAX],
    [100, false, 0, 'SET', MAX, true, MAX],
  ] as const)('budget %s, overage %s, used %i, %s %i: recorded %s, then %i', (...row) => {
    const [budget, overageEnabled, used, action, delta, recorded, after] = row
    expect(applyUsage(metered(budget, overageEnabled), used, { action, delta })).toEqual({
      recorded,
      reason: recorded ? null : expect.stringMatching(/^[A-Z].*\.$/),
      used: after,
      consumption: { budget, used: after, overageEnabled },
    })
  })

  it.each([
    [metered(100), 99, 'ADD', 2, 'Limit reached: 99 of 100 used; 2 more requested.'],
    [metered(100), 5, 'ADD', -6, 'Cannot revert 6: only 5 used in this period.'],
    [metered(100), 5, 'SET', -1, 'Usage cannot be set below zero.'],
    [metered(null), MAX, 'ADD', 1, 'Usage cannot exceed 9007199254740991.'],
  ] as const)('%# a refusal names the figures', (entitlement, used, action, delta, reason) => {
    expect(applyUsage(entitlement, used, { action, delta }).reason).toBe(reason)
  })

  it.each([
    [{ kind: 'none', code: 'USER_NOT_FOUND' }, /user/],
    [{ kind: 'none', code: 'FEATURE_NOT_FOUND' }, /feature/],
    [{ kind: 'none', code: 'NO_SUBSCRIPTION' }, /subscription/],
    [{ kind: 'none', code: 'NOT_IN_PACKAGE' }, /packages/],
    [{ kind: 'binary', byOverride: false }, /binary/],
  ] as const)('gap: %j has no usage to record, whatever the action', (entitlement, reason) => {
    for (const action of USAGE_ACTIONS) {
      expect(applyUsage(entitlement, 0, { action, delta: 1 })).toEqual({
        recorded: false,
        reason: expect.stringMatching(reason),
        used: 0,
        consumption: null,
      })
    }
  })
})

describe('gap: the values of recordUsage', () => {
  const call = (action: string, delta: number): UsageCall => ({
    action: action as UsageCall['action'],
    delta,
  })

  it.each([
    ['ADD', 1],
    ['ADD', -1],
    ['ADD', MAX],
    ['ADD', -MAX],
    ['SET', 0],
    // depends on the counter, so it is answered rather than thrown
    ['SET', -1],
  ])('%s %d is taken', (action, delta) => {
    expect(checkUsageCall(call(action, delta))).toBeUndefined()
  })

  it.each([
    ['ADD', MAX + 1, /delta/],
    ['ADD', -MAX - 1, /delta/],
    ['SET', 1.5, /delta/],
    ['SET', Number.NaN, /delta/],
    ['ADD', Number.POSITIVE_INFINITY, /delta/],
    ['set', 1, /action must be one of ADD, SET/],
    ['', 1, /action/],
    ['SUBTRACT', 1, /action/],
  ])('%s %d is bad input', (action, delta, message) => {
    expect(() => checkUsageCall(call(action, delta))).toThrow(
      expect.objectContaining({ code: 'BAD_USER_INPUT', message: expect.stringMatching(message) }),
    )
  })
})

describe('gap: the counter and its ledger', () => {
  const small = fc.integer({ min: -30, max: 60 })
  const delta = fc.oneof({ weight: 5, arbitrary: small }, { weight: 1, arbitrary: fc.maxSafeInteger() })
  const call: fc.Arbitrary<UsageCall> = fc.record({ action: fc.constantFrom(...USAGE_ACTIONS), delta })
  const calls = fc.array(call, { minLength: 1, maxLength: 40 })
  const budget = fc.oneof(fc.nat(100), fc.constant(null), fc.maxSafeNat())

  it('any sequence of ADD, SET and revert: the ledger adds up to the counter', () => {
    fc.assert(
      fc.property(budget, fc.boolean(), calls, (budget, overage, calls) => {
        let used = 0
        let sum = 0n
        for (const call of calls) {
          const result = applyUsage(metered(budget, overage), used, call)
          if (result.recorded) {
            const adjustment = call.action === 'SET' ? BigInt(call.delta) - BigInt(used) : BigInt(call.delta)
            sum += adjustment
          }
          used = result.used
          expect(BigInt(used)).toBe(sum)
          expect(result.consumption?.used).toBe(used)
        }
      }),
      { numRuns: 300 },
    )
  })

  it('a refused call changes nothing and has a reason; a recorded one has none', () => {
    fc.assert(
      fc.property(budget, fc.boolean(), fc.maxSafeNat(), call, (budget, overage, used, call) => {
        const result = applyUsage(metered(budget, overage), used, call)
        expect(result.reason === null).toBe(result.recorded)
        if (!result.recorded) expect(result.used).toBe(used)
      }),
    )
  })

  it('the counter stays within 0 and 2^53-1', () => {
    fc.assert(
      fc.property(budget, fc.boolean(), fc.maxSafeNat(), calls, (budget, overage, start, calls) => {
        let used = start
        for (const call of calls) {
          used = applyUsage(metered(budget, overage), used, call).used
          expect(Number.isSafeInteger(used) && used >= 0).toBe(true)
        }
      }),
      { numRuns: 300 },
    )
  })

  it('without overage no ADD goes past the budget, nor further past it than a SET has put it', () => {
    fc.assert(
      fc.property(fc.nat(100), fc.nat(150), calls, (budget, start, calls) => {
        let used = start
        for (const call of calls) {
          const after = applyUsage(metered(budget), used, call).used
          if (call.action === 'ADD') expect(after).toBeLessThanOrEqual(Math.max(budget, used))
          used = after
        }
      }),
      { numRuns: 300 },
    )
  })

  it('a SET of a count is always taken, and is the usage from then on', () => {
    fc.assert(
      fc.property(budget, fc.boolean(), fc.maxSafeNat(), fc.maxSafeNat(), (budget, overage, used, delta) => {
        const result = applyUsage(metered(budget, overage), used, { action: 'SET', delta })
        expect(result).toMatchObject({ recorded: true, used: delta })
      }),
    )
  })

  it('what was added can be reverted, and no more than that', () => {
    fc.assert(
      fc.property(fc.nat(1_000), fc.integer({ min: 1, max: 2_000 }), (used, revert) => {
        const result = applyUsage(metered(10), used, { action: 'ADD', delta: -revert })
        expect(result).toMatchObject(
          revert <= used ? { recorded: true, used: used - revert } : { recorded: false, used },
        )
      }),
    )
  })
})

describe('spec §4: canUseFeature and recordUsage agree', () => {
  const entitlement: fc.Arbitrary<UserEntitlement> = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.tuple(fc.oneof(fc.nat(60), fc.maxSafeNat()), fc.boolean()).map((m) => metered(...m)),
    },
    { weight: 1, arbitrary: fc.constant(metered(null)) },
    { weight: 1, arbitrary: fc.constant<UserEntitlement>({ kind: 'none', code: 'NOT_IN_PACKAGE' }) },
  )
  const count = fc.oneof({ weight: 3, arbitrary: fc.nat(60) }, { weight: 1, arbitrary: fc.maxSafeNat() })

  it('an ADD is recorded exactly where the check grants it, up to the bound of all counters', () => {
    fc.assert(
      fc.property(entitlement, count, count, (entitlement, used, delta) => {
        const { access } = decideAccess(entitlement, used, delta)
        const { recorded } = applyUsage(entitlement, used, { action: 'ADD', delta })
        expect(recorded).toBe(access && BigInt(used) + BigInt(delta) <= BigInt(MAX))
      }),
      { numRuns: 500 },
    )
  })
})
