import { describe, expect, it } from 'vitest'
import {
  API_KEY_SCOPES,
  type ApiKeyScope,
  outOfScope,
  type RequiredScope,
  scopeIncludes,
} from './api-key-scope.ts'

// Invariants: ALL includes everything, every scope includes ANY and itself, and only ALL includes ALL.

const INCLUDES: Record<ApiKeyScope, Record<RequiredScope, boolean>> = {
  READ: { ANY: true, READ: true, USAGE: false, CATALOGUE: false, ALL: false },
  USAGE: { ANY: true, READ: false, USAGE: true, CATALOGUE: false, ALL: false },
  CATALOGUE: { ANY: true, READ: true, USAGE: false, CATALOGUE: true, ALL: false },
  ALL: { ANY: true, READ: true, USAGE: true, CATALOGUE: true, ALL: true },
}

describe('the scope of an API key', () => {
  it.each(API_KEY_SCOPES)('%s includes what the table says', (scope) => {
    const row = Object.keys(INCLUDES[scope]).map((required) => [
      required,
      scopeIncludes(scope, required as RequiredScope),
    ])
    expect(Object.fromEntries(row)).toEqual(INCLUDES[scope])
  })

  it('that does not suffice is an error that names both scopes', () => {
    const { code, status, message } = outOfScope('READ', 'CATALOGUE')
    expect([code, status]).toEqual(['FORBIDDEN', 403])
    expect(message).toBe(
      'This operation requires an API key with the scope CATALOGUE; this key has the scope READ',
    )
  })
})
