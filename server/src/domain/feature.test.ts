/** Invariant: every field that a caller may set is checked, both when creating and when updating. */
import { describe, expect, it } from 'vitest'
import { checkFeatureChange, checkNewFeature, type Feature } from './feature.ts'

const FEATURE: Feature = {
  id: 'calls',
  name: 'API calls',
  type: 'CONSUMABLE',
  unitLabel: 'call',
  unitLabelPlural: 'calls',
  metadata: {},
}

describe('spec §2 Feature', () => {
  it('gap: what is left out is not checked, labels may be null', () => {
    expect(checkNewFeature({ ...FEATURE, unitLabel: null, unitLabelPlural: null })).toBeUndefined()
    expect(checkFeatureChange({})).toBeUndefined()
  })

  it.each([
    ['id', ''],
    ['name', '\u0000'],
    ['unitLabel', '\u0000'],
    ['unitLabelPlural', '\u0000'],
    ['metadata', { n: 2 ** 60 }],
  ])('gap: %s is checked', (field, value) => {
    const badInput = expect.objectContaining({
      code: 'BAD_USER_INPUT',
      message: expect.stringMatching(new RegExp(`^${field} `)),
    })
    expect(() => checkNewFeature({ ...FEATURE, [field]: value })).toThrow(badInput)
    if (field !== 'id') expect(() => checkFeatureChange({ [field]: value })).toThrow(badInput)
  })
})
