import { describe, expect, it } from 'vitest'
import { readServers } from './server-addresses.ts'

describe('a URL of the database', () => {
  it.each([
    'postgresql://tollgate:secret@db.example.com:5433/tollgate?sslmode=require',
    'postgres://localhost/tollgate',
    'postgresql://u:p@localhost/tollgate?host=%2Frun%2Fpg&port=5433',
    'postgresql:///tollgate?host=/run/pg',
    'postgresql://[::1]:5432/tollgate',
  ])('with one server is left as it is: %s', (url) => {
    expect(readServers(url)).toEqual({ url, servers: [] })
  })

  it.each([
    [
      'postgresql://u:p%2C@one:5433,two/tollgate?sslmode=require',
      'postgresql://u:p%2C@localhost/tollgate?sslmode=require',
      [
        { host: 'one', port: 5433 },
        { host: 'two', port: 5432 },
      ],
    ],
    [
      'postgres://u@[2001:db8::1]:1,[2001:db8::2]:2/d?target_session_attrs=read-write',
      'postgres://u@localhost/d',
      [
        { host: '2001:db8::1', port: 1 },
        { host: '2001:db8::2', port: 2 },
      ],
    ],
    [
      'postgresql://u@localhost/d?host=/run/a,/run/b&port=5433',
      'postgresql://u@localhost/d',
      [
        { host: '/run/a', port: 5433 },
        { host: '/run/b', port: 5433 },
      ],
    ],
    [
      'postgresql://u@one/d?target_session_attrs=primary',
      'postgresql://u@localhost/d',
      [{ host: 'one', port: 5432 }],
    ],
  ])('with several, or one to check: %s', (text, url, servers) => {
    expect(readServers(text)).toEqual({ url, servers })
  })

  it.each([
    ['mysql://one/d', /^must start with postgres/],
    [
      'postgresql://one,two/d?target_session_attrs=standby',
      /only supports target_session_attrs=read-write; it is standby$/,
    ],
    ['postgresql://one:70000,two/d', /^has an invalid port: 70000$/],
    ['postgresql://one,,two/d', /^must list servers/],
    ['postgresql://one:a,two/d', /^must list servers/],
  ])('is refused: %s', (text, problem) => {
    expect(readServers(text)).toMatch(problem)
  })
})
