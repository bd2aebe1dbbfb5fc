/** Invariant: every field that a caller may set is checked, both when creating and when updating. */
import { describe, expect, it } from 'vitest'
import { checkUser, type User } from './user.ts'

const USER: User = { id: 'u1', billingId: 'cus_1', name: 'Ada', email: 'ada@example.com', metadata: {} }

describe('spec §2 User', () => {
  it('gap: only the id is needed', () => {
    expect(checkUser({ ...USER, billingId: null, name: null, email: null })).toBeUndefined()
    expect(checkUser({})).toBeUndefined()
  })

  it.each([
    ['id', ''],
    ['billingId', ''],
    ['billingId', 'x'.repeat(256)],
    ['name', '\u0000'],
    ['email', 'x'.repeat(1_025)],
    ['metadata', { n: 2 ** 60 }],
  ])('gap: %s is checked', (field, value) => {
    const badInput = expect.objectContaining({
      code: 'BAD_USER_INPUT',
      message: expect.stringMatching(new RegExp(`^${field} `)),
    })
    expect(() => checkUser({ ...USER, [field]: value })).toThrow(badInput)
    expect(() => checkUser({ [field]: value })).toThrow(badInput)
  })
})
