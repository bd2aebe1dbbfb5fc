/**
 * Invariants
 * - Whatever is accepted leaves at most one live base plan, no add-on without one, and no package twice.
 * - Every such call is accepted, provided every package is known and published.
 * - All or nothing; the first check that fails, in a fixed order, is the one that callers see.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TollgateError } from './errors.ts'
import type { PackageStatus } from './package.ts'
import { checkSubscribe } from './subscribe-rules.ts'

const packageOf = (id: string, status: PackageStatus = 'PUBLISHED', archived = false) => ({
  id,
  status,
  archived,
  isAddon: id.startsWith('addon'),
})
const PACKAGES = new Map(
  [
    packageOf('basic'),
    packageOf('pro'),
    packageOf('draft', 'DRAFT'),
    packageOf('addon-1'),
    packageOf('addon-2'),
    packageOf('addon-draft', 'DRAFT'),
    packageOf('archived', 'PUBLISHED', true),
    packageOf('archived-draft', 'DRAFT', true),
  ].map((p) => [p.id, p]),
)

const requested = (ids: readonly string[]) => ids.map((id) => PACKAGES.get(id))
const live = (ids: readonly string[]) => ids.map((id) => ({ packageId: id, isAddon: id.startsWith('addon') }))

/** The message of the refusal, or null for a call that is accepted. */
function refusal(ids: readonly string[], held: readonly string[]): string | null {
  try {
    checkSubscribe(requested(ids), live(held))
    return null
  } catch (error) {
    if (error instanceof TollgateError) return error.message
    throw error
  }
}

const UNKNOWN = 'Package Id not found for app'
const DRAFT = 'Package is not published'
const SEVERAL = 'Cannot subscribe to multiple tiers'
const MISSING = 'Cannot subscribe to addon. Missing live tier subscription.'
const ARCHIVED = 'Package is archived. Restore it in the dashboard or choose another package.'
const TWICE = 'User is already subscribed to package'

describe('spec §4 mutations rule 3: subscribe', () => {
  it.each([
    // asked for, held, refusal
    [['archived'], [], ARCHIVED],
    [['archived-draft'], [], DRAFT],
    [['basic', 'archived'], [], ARCHIVED],
    [['basic'], [], null],
    [['basic', 'addon-1'], [], null],
    [['addon-1', 'basic'], [], null],
    [['addon-2', 'basic', 'addon-1'], [], null],
    [['addon-1'], ['basic'], null],
    [['addon-1', 'addon-2'], ['basic'], null],
    [['addon-2'], ['basic', 'addon-1'], null],

    [['nope'], [], UNKNOWN],
    [['basic', 'nope'], [], UNKNOWN],
    [['draft'], [], DRAFT],
    [['basic', 'addon-draft'], [], DRAFT],
    [['addon-draft'], ['basic'], DRAFT],
    [['basic', 'pro'], [], SEVERAL],
    [['basic', 'addon-1', 'pro'], [], SEVERAL],
    [['basic', 'basic'], [], SEVERAL],
    [['pro'], ['basic'], SEVERAL],
    [['basic'], ['basic'], SEVERAL],
    [['pro', 'addon-1'], ['basic'], SEVERAL],
    [['addon-1'], [], MISSING],
    [['addon-1', 'addon-2'], [], MISSING],
    [['addon-1', 'addon-1'], ['basic'], TWICE],
    [['addon-1', 'basic', 'addon-1'], [], TWICE],
    [['addon-1'], ['basic', 'addon-1'], TWICE],
    [['addon-2', 'addon-1'], ['basic', 'addon-1'], TWICE],
  ])('%j for one who holds %j: %s', (ids, held, message) => {
    expect(refusal(ids, held)).toBe(message)
  })

  it.each([
    ['unknown before draft', ['draft', 'nope'], [], UNKNOWN],
    ['unknown before several tiers', ['basic', 'pro', 'nope'], [], UNKNOWN],
    ['unknown before a missing tier', ['addon-1', 'nope'], [], UNKNOWN],
    ['draft before several tiers', ['draft', 'basic'], ['pro'], DRAFT],
    ['draft before a missing tier', ['addon-draft'], [], DRAFT],
    ['several tiers before an add-on held already', ['pro', 'addon-1'], ['basic', 'addon-1'], SEVERAL],
    ['several tiers before an add-on named twice', ['pro', 'basic', 'addon-1', 'addon-1'], [], SEVERAL],
    ['a missing tier before an add-on named twice', ['addon-1', 'addon-1'], [], MISSING],
  ])('gap: order of the checks, %s', (_, ids, held, message) => {
    expect(refusal(ids, held)).toBe(message)
  })
})

describe('spec §7: every refusal is BAD_USER_INPUT, and a SubscriptionError to the SDK', () => {
  const many = (count: number) =>
    Array.from({ length: count }, (_, i) => packageOf(i === 0 ? 'basic' : `addon-${i}`))

  it.each([
    ['unknown', requested(['nope']), []],
    ['draft', requested(['draft']), []],
    ['several tiers', requested(['basic']), ['pro']],
    ['missing tier', requested(['addon-1']), []],
    ['twice', requested(['addon-1']), ['basic', 'addon-1']],
    ['none at all', [], []],
    ['101 packages', many(101), []],
  ])('%s', (_, packages, held) => {
    expect(() => checkSubscribe(packages, live(held))).toThrow(
      expect.objectContaining({ code: 'BAD_USER_INPUT', type: 'SubscriptionError', status: 400 }),
    )
  })

  it('gap: 100 packages are not too many, and come back in the order of packageIds', () => {
    const packages = many(100).reverse()
    expect(checkSubscribe(packages, [])).toEqual(packages)
  })
})

describe('spec §4 mutations rule 3: whatever is accepted leaves a lawful state', () => {
  const isBase = (id: string) => !id.startsWith('addon')

  function lawful(held: readonly string[]): boolean {
    const bases = held.filter(isBase).length
    return bases <= 1 && (bases === 1 || held.length === 0) && new Set(held).size === held.length
  }
  const available = (id: string) => PACKAGES.get(id)?.status === 'PUBLISHED'

  const good = fc.constantFrom('basic', 'pro', 'addon-1', 'addon-2')
  const any = fc.constantFrom('basic', 'pro', 'addon-1', 'addon-2', 'draft', 'addon-draft', 'nope')
  const id = fc.oneof({ weight: 9, arbitrary: good }, { weight: 1, arbitrary: any })

  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ subscribe: fc.array(id, { minLength: 1, maxLength: 3 }) }) },
    // cancelling a base plan cancels its add-ons with it
    { weight: 1, arbitrary: fc.record({ cancel: fc.constantFrom('base', 'addon-1', 'addon-2') }) },
  )

  it('any sequence of subscribe and cancel: accepted exactly where the outcome is lawful', () => {
    const seen = { accepted: 0, refused: 0 }
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 20 }), (steps) => {
        let held: string[] = []
        for (const step of steps) {
          if ('cancel' in step) {
            held = step.cancel === 'base' ? [] : held.filter((id) => id !== step.cancel)
            continue
          }
          const wanted = [...held, ...step.subscribe]
          const accepted = refusal(step.subscribe, held) === null
          expect(accepted).toBe(step.subscribe.every(available) && lawful(wanted))
          if (accepted) held = wanted
          expect(lawful(held)).toBe(true)
          seen[accepted ? 'accepted' : 'refused']++
        }
      }),
      { numRuns: 500 },
    )
    expect(seen.accepted).toBeGreaterThan(100)
    expect(seen.refused).toBeGreaterThan(100)
  })

  it('gap: the order of packageIds decides nothing', () => {
    const pair = fc
      .array(id, { minLength: 1, maxLength: 4 })
      .chain((ids) => fc.tuple(fc.constant(ids), fc.shuffledSubarray(ids, { minLength: ids.length })))
    const held = fc.constantFrom([], ['basic'], ['pro', 'addon-1'])
    fc.assert(
      fc.property(pair, held, ([ids, shuffled], held) => {
        expect(refusal(shuffled, held)).toBe(refusal(ids, held))
      }),
    )
  })
})

describe('gap: subscribe, add-ons that were left without a base plan', () => {
  it('are no base plan for others, nor in the way of one', () => {
    expect(() => checkSubscribe(requested(['addon-1']), live(['addon-2']))).toThrow(/Missing live tier/)
    expect(checkSubscribe(requested(['basic']), live(['addon-2']))).toEqual(requested(['basic']))
  })
})
