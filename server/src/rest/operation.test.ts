import { parse, validate } from 'graphql'
import { describe, expect, it } from 'vitest'
import { operationNamed } from '../../test/harness/rest.ts'
import { adminSchema } from '../graphql/admin/schema.ts'
import { isCompilable } from '../graphql/engine/compilable.ts'
import { restOperations } from './operations.ts'

describe('the document of every route', () => {
  it.each(
    restOperations().map(({ name, document }) => ({ name, document })),
  )('gap: REST: $name is valid, and compiled as it is', ({ document }) => {
    const parsed = parse(document)
    expect(validate(adminSchema(), parsed)).toEqual([])
    expect(isCompilable(adminSchema(), parsed)).toBe(true)
  })
})

describe('the values of a request', () => {
  const NONE = { path: {}, query: null, body: null }

  it('gap: REST: a page is read with one item more, which says whether another follows', () => {
    const users = operationNamed('users')
    const values = users.values({ ...NONE, query: new URLSearchParams('first=2&after=a') })
    expect(values).toEqual({ first: 3, after: 'a' })
    const rows = [{ id: 'b' }, { id: 'c' }, { id: 'd' }]
    expect(users.answer({ users: rows }, values)).toEqual({ data: rows.slice(0, 2), next: 'c' })
    expect(users.answer({ users: rows.slice(0, 2) }, values)).toEqual({ data: rows.slice(0, 2), next: null })
    expect(users.values(NONE)).toEqual({ first: 101 })
  })

  it('gap: REST: an id in the path is an argument, or a field of the input', () => {
    const path = { id: 'ann', featureId: 'calls' }
    expect(operationNamed('removeOverride').values({ ...NONE, path })).toEqual({
      userId: 'ann',
      featureId: 'calls',
    })
    expect(operationNamed('setOverride').values({ ...NONE, path, body: { mode: 'DENY' } })).toEqual({
      input: { mode: 'DENY', userId: 'ann', featureId: 'calls' },
    })
    const renamed = operationNamed('updateUser').values({ ...NONE, path: { id: 'ann' }, body: { id: 'eve' } })
    expect(renamed).toEqual({ id: 'ann', input: { id: 'eve' } })
  })

  it('gap: REST: only what is created has the status 201', () => {
    expect(operationNamed('createUser').status({})).toBe(201)
    expect(operationNamed('recordUsage').status({})).toBe(200)
    const migrate = operationNamed('migrateSubscriptions')
    expect([migrate.status({ dryRun: true }), migrate.status({ dryRun: false })]).toEqual([200, 201])
  })
})
