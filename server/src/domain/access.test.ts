/**
 * Invariants
 * - Room is `used + delta <= budget`; unlimited and overage need no room; a binary feature has none to ask for.
 * - A user who may take d may also take less, and may still take d with a larger budget.
 * - A check changes nothing and never throws: a denial is an answer with a reason.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { metered } from '../../test/harness/contents.ts'
import { checkDelta, decideAccess, deniedReason, REASON_CODES } from './access.ts'
import type { UserEntitlement } from './user-entitlement.ts'

const MAX = 2 ** 53 - 1

describe('spec §4 queries rule 1: access', () => {
  it.each([
    // budget, overage, used, delta, access, reasonCode
    [100, false, 0, 1, true, 'WITHIN_BUDGET'],
    [100, false, 99, 1, true, 'WITHIN_BUDGET'],
    [100, false, 0, 100, true, 'WITHIN_BUDGET'],
    [100, false, 100, 0, true, 'WITHIN_BUDGET'],
    [100, false, 100, 1, false, 'LIMIT_EXCEEDED'],
    [100, false, 99, 2, false, 'LIMIT_EXCEEDED'],
    [100, false, 0, 101, false, 'LIMIT_EXCEEDED'],
    // SET may have taken the counter past the budget
    [100, false, 101, 0, false, 'LIMIT_EXCEEDED'],
    [0, false, 0, 0, true, 'WITHIN_BUDGET'],
    [0, false, 0, 1, false, 'LIMIT_EXCEEDED'],
    [100, true, 99, 1, true, 'WITHIN_BUDGET'],
    [100, true, 100, 1, true, 'OVERAGE'],
    [0, true, 500, 1, true, 'OVERAGE'],
    [null, false, 0, 1, true, 'UNLIMITED'],
    [null, true, MAX, MAX, true, 'UNLIMITED'],
    [MAX, false, MAX - 1, 1, true, 'WITHIN_BUDGET'],
    [MAX, false, MAX, 1, false, 'LIMIT_EXCEEDED'],
    [MAX, false, MAX, MAX, false, 'LIMIT_EXCEEDED'],
  ] as const)('budget %s, overage %s, used %i, delta %i: %s, %s', (budget, overage, used, delta, access, reasonCode) => {
    expect(decideAccess(metered(budget, overage), used, delta)).toMatchObject({
      access,
      reasonCode,
      consumption: { budget, used, overageEnabled: overage },
    })
  })

  it('a binary feature is granted whole, without consumption', () => {
    expect(decideAccess({ kind: 'binary', byOverride: false }, 0, 1_000)).toMatchObject({
      access: true,
      reasonCode: 'GRANTED',
      consumption: null,
    })
  })
})

const byOverride = (entitlement: UserEntitlement): UserEntitlement =>
  ({ ...entitlement, byOverride: true }) as UserEntitlement

describe('spec §4 queries rule 2: the reason', () => {
  it.each([
    'USER_NOT_FOUND',
    'FEATURE_NOT_FOUND',
    'NO_SUBSCRIPTION',
    'NOT_IN_PACKAGE',
    'DENIED',
  ] as const)('%s: no access, the reason in words, no consumption', (code) => {
    const answer = decideAccess({ kind: 'none', code }, 0, 1)
    expect(answer).toEqual({
      access: false,
      reason: deniedReason(code),
      reasonCode: code,
      consumption: null,
    })
    expect(answer.reason).toMatch(/^[A-Z].*\.$/)
  })

  it.each([
    [metered(100), 40, 1, 'Within budget: 40 of 100 used.'],
    [metered(100), 99, 2, 'Limit reached: 99 of 100 used; 2 more requested.'],
    [metered(100, true), 99, 2, '99 of 100 used, 2 requested; overage is enabled.'],
    [metered(null), 7, 1, 'The feature is unlimited.'],
    [byOverride(metered(100)), 40, 1, 'Within budget: 40 of 100 used (override).'],
    [byOverride(metered(100)), 99, 2, 'Limit reached: 99 of 100 used (override); 2 more requested.'],
    [byOverride(metered(null)), 7, 1, 'The feature is unlimited (override).'],
    [{ kind: 'binary', byOverride: false } as const, 0, 1, "The user's package includes this feature."],
    [{ kind: 'binary', byOverride: true } as const, 0, 1, 'An override grants this feature to the user.'],
  ])('%# names the figures', (entitlement, used, delta, reason) => {
    expect(decideAccess(entitlement, used, delta).reason).toBe(reason)
  })

  it('gap: the ten reason codes; each is reached by some answer, each answer has a text of its own', () => {
    const denials = [
      'USER_NOT_FOUND',
      'FEATURE_NOT_FOUND',
      'NO_SUBSCRIPTION',
      'NOT_IN_PACKAGE',
      'DENIED',
    ] as const
    const answers = [
      ...denials.map((code) => decideAccess({ kind: 'none', code }, 0, 1)),
      decideAccess({ kind: 'binary', byOverride: false }, 0, 1),
      decideAccess(metered(1), 0, 1),
      decideAccess(metered(1), 1, 1),
      decideAccess(metered(1, true), 1, 1),
      decideAccess(metered(null), 0, 1),
    ]
    expect(answers.map((a) => a.reasonCode).sort()).toEqual([...REASON_CODES].sort())
    expect(new Set(answers.map((a) => a.reason)).size).toBe(answers.length)
  })
})

describe('gap: a negative delta asks for nothing', () => {
  it.each([-1, -MAX])('%i is bad input', (delta) => {
    expect(() => checkDelta(delta)).toThrow(
      expect.objectContaining({ code: 'BAD_USER_INPUT', type: 'Error' }),
    )
  })
  it.each([0, 1, MAX])('%i is fine', (delta) => {
    expect(checkDelta(delta)).toBeUndefined()
  })
})

describe('spec §4 queries rule 1: access is monotone', () => {
  const count = fc.oneof(fc.nat(50), fc.maxSafeNat())
  const budget = fc.oneof(count, fc.constant(null))

  it('in delta: a user who may take d may take less', () => {
    fc.assert(
      fc.property(budget, fc.boolean(), count, count, count, (budget, overage, used, a, b) => {
        const may = (delta: number) => decideAccess(metered(budget, overage), used, delta).access
        fc.pre(may(Math.max(a, b)))
        expect(may(Math.min(a, b))).toBe(true)
      }),
    )
  })

  it('in budget: what fits fits in any larger one, and in none at all', () => {
    fc.assert(
      fc.property(count, count, fc.boolean(), count, count, (a, b, overage, used, delta) => {
        const may = (budget: number | null) => decideAccess(metered(budget, overage), used, delta).access
        fc.pre(may(Math.min(a, b)))
        expect(may(Math.max(a, b))).toBe(true)
        expect(may(null)).toBe(true)
      }),
    )
  })

  it('in usage: more used never opens the gate', () => {
    fc.assert(
      fc.property(budget, fc.boolean(), count, count, count, (budget, overage, a, b, delta) => {
        const may = (used: number) => decideAccess(metered(budget, overage), used, delta).access
        fc.pre(may(Math.max(a, b)))
        expect(may(Math.min(a, b))).toBe(true)
      }),
    )
  })

  it('exactly where the whole sum fits, however large the numbers', () => {
    fc.assert(
      fc.property(count, count, count, (budget, used, delta) => {
        const room = BigInt(used) + BigInt(delta) <= BigInt(budget)
        expect(decideAccess(metered(budget), used, delta).access).toBe(room)
        expect(decideAccess(metered(budget, true), used, delta).access).toBe(true)
      }),
    )
  })
})
