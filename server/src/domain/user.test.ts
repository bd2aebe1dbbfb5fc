/** Invariant: every field that a caller may set is checked, both when creating and when updating. */
import { describe, expect, it } from 'vitest'
import { checkNewUser, checkUserChange, type User } from './user.ts'

const USER: User = { id: 'u1', billingId: 'cus_1', name: 'Ada', email: 'ada@example.com', metadata: {} }

describe('spec §2 User', () => {
  it('gap: only the id is needed', () => {
    expect(checkNewUser({ ...USER, billingId: null, name: null, email: null })).toBeUndefined()
    expect(checkUserChange({})).toBeUndefined()
  })

  it.each([
    ['id', ''],
    ['billingId', 'x'.repeat(256)],
    ['name', '\u0000'],
    ['email', 'x'.repeat(1_025)],
    ['metadata', { n: 2 ** 60 }],
  ])('gap: %s is checked', (field, value) => {
    const badInput = expect.objectContaining({
      code: 'BAD_USER_INPUT',
      message: expect.stringMatching(new RegExp(`^${field} `)),
    })
    expect(() => checkNewUser({ ...USER, [field]: value })).toThrow(badInput)
    const changeable = ['id', 'name', 'metadata'].includes(field)
    if (changeable) expect(() => checkUserChange({ [field]: value })).toThrow(badInput)
  })
})
