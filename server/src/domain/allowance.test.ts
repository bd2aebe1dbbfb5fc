/**
 * Invariants
 * - Budgets add up; one unlimited grant makes the allowance unlimited; one grant with overage enables it.
 * - The order of the grants decides only the reset period, which is the first grant's.
 * - A budget is a whole number from 0 to 2^53-1, or null for no limit.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { allowanceOf } from './allowance.ts'
import { RESET_PERIODS, type ResetPeriod } from './period.ts'

const MAX = 2 ** 53 - 1

const grantOf = (limit: number | null, resetPeriod: ResetPeriod = 'MONTH', overageEnabled = false) => ({
  limit,
  resetPeriod,
  overageEnabled,
})

const grant = fc.record({
  limit: fc.oneof(fc.constant(null), fc.nat(1_000), fc.maxSafeNat()),
  resetPeriod: fc.constantFrom(...RESET_PERIODS),
  overageEnabled: fc.boolean(),
})

describe('gap: several live packages that grant one feature', () => {
  it('no grant, no allowance', () => {
    expect(allowanceOf([])).toBeNull()
  })

  it.each([
    // limits                budget
    [[100], 100],
    [[0], 0],
    [[100, 50], 150],
    [[100, 0, 7], 107],
    [[null], null],
    [[100, null], null],
    [[null, 100], null],
    [[0, null, 0], null],
    [[MAX], MAX],
    [[MAX - 1, 1], MAX],
    [[MAX, 1], MAX],
    [[MAX, MAX, MAX], MAX],
  ])('limits %j make a budget of %s', (limits, budget) => {
    expect(allowanceOf(limits.map((limit) => grantOf(limit)))?.budget).toBe(budget)
  })

  it.each([
    [[false], false],
    [[true], true],
    [[false, false], false],
    [[false, true], true],
    [[true, false], true],
  ])('overage %j makes %s', (overages, overage) => {
    expect(allowanceOf(overages.map((o) => grantOf(1, 'MONTH', o)))?.overageEnabled).toBe(overage)
  })

  it.each([
    [['DAY'], 'DAY'],
    [['MONTH', 'DAY'], 'MONTH'],
    [['DAY', 'MONTH'], 'DAY'],
    [['NEVER', 'YEAR', 'HOUR'], 'NEVER'],
  ] as const)('reset periods %j make %s: the first decides', (resets, reset) => {
    expect(allowanceOf(resets.map((r) => grantOf(1, r)))?.resetPeriod).toBe(reset)
  })

  it('the order of the grants changes neither budget nor overage', () => {
    const shuffled = fc
      .array(grant, { minLength: 1, maxLength: 6 })
      .chain((grants) =>
        fc.tuple(fc.constant(grants), fc.shuffledSubarray(grants, { minLength: grants.length })),
      )
    fc.assert(
      fc.property(shuffled, ([grants, others]) => {
        const [one, other] = [allowanceOf(grants), allowanceOf(others)]
        expect(other?.budget).toBe(one?.budget)
        expect(other?.overageEnabled).toBe(one?.overageEnabled)
        expect(other?.resetPeriod).toBe(others[0]?.resetPeriod)
      }),
    )
  })

  it('the budget is the sum, held at 2^53-1', () => {
    fc.assert(
      fc.property(fc.array(grant, { minLength: 1, maxLength: 6 }), (grants) => {
        const limits = grants.map((g) => g.limit)
        const known = limits.filter((limit) => limit !== null)
        const sum = known.reduce((total, limit) => total + BigInt(limit), 0n)
        const budget = known.length < limits.length ? null : Number(sum > BigInt(MAX) ? BigInt(MAX) : sum)
        expect(allowanceOf(grants)?.budget).toBe(budget)
      }),
    )
  })

  it('one more grant never takes anything away', () => {
    const room = (budget: number | null | undefined) => (budget === null ? Infinity : (budget ?? -1))
    fc.assert(
      fc.property(fc.array(grant, { minLength: 1, maxLength: 5 }), grant, (grants, more) => {
        const [before, after] = [allowanceOf(grants), allowanceOf([...grants, more])]
        expect(room(after?.budget)).toBeGreaterThanOrEqual(room(before?.budget))
        expect(after?.overageEnabled).toBe(before?.overageEnabled || more.overageEnabled)
      }),
    )
  })
})
