import { describe, expect, it } from 'vitest'
import { StartError } from '../../domain/errors.ts'
import { startProblem } from './start-problems.ts'

const failed = (message: string, code?: string) => Object.assign(new Error(message), code && { code })

describe('what keeps the database from being used', () => {
  it.each([
    [
      'a certificate nobody vouches for',
      failed('self-signed certificate', 'DEPTH_ZERO_SELF_SIGNED_CERT'),
      'The database is unreachable over TLS (self-signed certificate). Check sslmode and the certificates in DATABASE_URL.',
    ],
    [
      'a server without TLS',
      failed('The server does not support SSL connections'),
      'The database is unreachable over TLS (The server does not support SSL connections). Check sslmode and the certificates in DATABASE_URL.',
    ],
    [
      'all addresses of a host refuse',
      new AggregateError([failed('one'), failed('two')]),
      'The database is unreachable: AggregateError. Check DATABASE_URL.',
    ],
    [
      'nobody listens',
      failed('connect ECONNREFUSED 127.0.0.1:1', 'ECONNREFUSED'),
      'The database is unreachable: connect ECONNREFUSED 127.0.0.1:1. Check DATABASE_URL.',
    ],
    [
      'no answer in time',
      failed('timeout expired'),
      'The database is unreachable: timeout expired. Check DATABASE_URL.',
    ],
    [
      'a wrong password',
      failed('password authentication failed for user "shop"', '28P01'),
      'The database rejected the password (password authentication failed for user "shop"). Check it in DATABASE_URL.',
    ],
  ])('is said in one line: %s', (_, error, line) => {
    const problem = startProblem(error, 'DATABASE_URL')
    expect(problem).toBeInstanceOf(StartError)
    expect(problem).toMatchObject({ message: line, cause: error })
  })

  it.each([
    ['one that is said already', new StartError('Said.')],
    ['a mistake of ours', new TypeError('x is not a function')],
    ['something that is no error', 'timeout'],
  ])('is not guessed: %s', (_, error) => {
    expect(startProblem(error, 'DATABASE_URL')).toBeNull()
  })
})
