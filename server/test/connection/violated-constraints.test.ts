import pg from 'pg'
import { expect, it } from 'vitest'
import { violates } from '../../src/store/connection/refusals.ts'

// Which unique constraint was violated. Citus adds a number to the names of another server.

const error = (message: string, constraint?: string, code = '23505') =>
  Object.assign(new pg.DatabaseError(message, 0, 'error'), { code, constraint })
const said = (name: string) => `duplicate key value violates unique constraint "${name}"`

it.each([
  ['on this server', error(said('users_pkey'), 'users_pkey'), true],
  ['on another, by name', error(said('users_pkey_102012'), 'users_pkey_102012'), true],
  ['on another, in the message alone', error(said('users_pkey_102012')), true],
  ['on another, of copied rows', error(said('users_pkey_102012'), undefined, 'XX000'), true],
  ['no error of that kind', error('something else', undefined, 'XX000'), false],
  ['another one there', error(said('users_app_id_id_key_102012')), false],
  ['another one here', error(said('users_billing_id'), 'users_billing_id'), false],
  ['no such error', new Error(said('users_pkey')), false],
])('gap: errors: a constraint %s', (_, thrown, is) => {
  expect(violates(thrown, 'users_pkey')).toBe(is)
})
