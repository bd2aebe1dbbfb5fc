import { beforeAll, describe, expect, it } from 'vitest'
import { publishPackage } from '../harness/catalogue.ts'
import type { Client, Variables } from '../harness/client.ts'
import { seedUsers } from '../harness/seed.ts'
import { createApp, startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

// `users` and `subscriptions` are complete, in chunks of 100 rows. The sizes are around that.

const SIZES = [0, 1, 99, 100, 101, 200, 201]

const server = shared(startTestServer)
const apps = new Map<number, Client>()
beforeAll(async () => {
  for (const size of SIZES) {
    const id = `of ${size}`
    const admin = await createApp(server, id)
    await publishPackage({ id, admin, dashboard: server.dashboard.of(id) }, 'plan', {})
    await seedUsers(server.databaseUrl, id, size)
    apps.set(size, admin)
  }
})

const range = (from: number, to: number) =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i)
const ids = (letter: string, from: number, to: number) =>
  range(from, to).map((i) => ({ id: `${letter}${i}` }))
const allSubscriptions = (size: number) => [...ids('s', 1, size), ...ids('old', 1, size)]

function app(size: number): Client {
  const admin = apps.get(size)
  if (!admin) throw new Error(`there is no app of ${size}`)
  return admin
}

describe('long lists', () => {
  it.each(SIZES)('spec §4 queries: all of %i users and their subscriptions, oldest first', async (size) => {
    const data = await app(size).data('{ users { id } subscriptions { id } }')
    expect(data.users).toEqual(ids('u', 1, size))
    expect(data.subscriptions).toEqual(allSubscriptions(size))
  })

  it.each(
    SIZES.filter((size) => size > 0),
  )('spec §4 queries: all subscriptions of one user, %i of them ended', async (size) => {
    const { subscriptions } = await app(size).data('{ subscriptions(userId: "u1") { id userId } }')
    const own = [...ids('s', 1, 1), ...ids('old', 1, size)]
    expect(subscriptions).toEqual(own.map((one) => ({ ...one, userId: 'u1' })))
  })

  const PAGES = [
    { first: 0, after: null },
    { first: 1, after: null },
    { first: 99, after: null },
    { first: 100, after: null },
    { first: 101, after: null },
    { first: 200, after: null },
    { first: 1000, after: null },
    { first: null, after: 1 },
    { first: null, after: 100 },
    { first: null, after: 101 },
    { first: null, after: 200 },
    { first: null, after: 201 },
    { first: 100, after: 50 },
    { first: 101, after: 99 },
    { first: 101, after: 100 },
    { first: 140, after: 180 },
  ]
  it.each(PAGES)('spec §4 queries: first $first after $after of 201', async ({ first, after }) => {
    const variables = { first, user: after && `u${after}`, subscription: after && `s${after}` }
    const data = await app(201).data(
      `query ($first: Int, $user: String, $subscription: String) {
        users(first: $first, after: $user) { id }
        subscriptions(first: $first, after: $subscription) { id }
      }`,
      variables,
    )
    const page = (all: unknown[]) => all.slice(after ?? 0, (after ?? 0) + (first ?? Number.POSITIVE_INFINITY))
    expect(data.users).toEqual(page(ids('u', 1, 201)))
    expect(data.subscriptions).toEqual(page(allSubscriptions(201)))
  })

  it('spec §4 queries: the subscriptions of one user in pages, and no other user’s as a cursor', async () => {
    const OWN = `query ($after: String) { subscriptions(userId: "u1", first: 2, after: $after) { id } }`
    expect((await app(201).data(OWN, { after: 's1' })).subscriptions).toEqual(ids('old', 1, 2))
    expect((await app(201).data(OWN, { after: 'old200' })).subscriptions).toEqual(ids('old', 201, 201))
    const { extensions } = await app(201).error(OWN, { after: 's2' })
    expect(extensions).toMatchObject({ code: 'BAD_USER_INPUT', field: 'after' })
  })

  it.each(['', 's0', '\u0000', 'x'.repeat(10_000)])('gap: lists: %j is no cursor', async (after) => {
    for (const list of ['users', 'subscriptions']) {
      const query = `query ($after: String) { ${list}(first: 2, after: $after) { id } }`
      const { extensions } = await app(201).error(query, { after })
      expect(extensions).toMatchObject({ code: 'BAD_USER_INPUT', field: 'after' })
    }
  })

  const u = ids('u', 1, 201)
  const FORMS: { what: string; query: string; variables?: Variables; data: object; codes?: string[] }[] = [
    {
      what: 'aliases',
      query: '{ a: users { id } b: users(first: 101) { id } }',
      data: { a: u, b: u.slice(0, 101) },
    },
    {
      what: 'an alias that looks like a path',
      query: 'query ($id: String!) { updatedAt_package: users { id } package(id: $id) { updatedAt } }',
      variables: { id: 'plan' },
      data: { updatedAt_package: u, package: { updatedAt: expect.any(String) } },
    },
    {
      what: 'the alias __proto__',
      query: '{ __proto__: users { id } }',
      data: JSON.parse(`{"__proto__":${JSON.stringify(u)}}`),
    },
    {
      what: 'a fragment',
      query: '{ users { ...f } } fragment f on User { ...g } fragment g on User { id }',
      data: { users: u },
    },
    {
      what: 'an inline fragment',
      query: '{ ... on Query { users { ... on User { id } } } }',
      data: { users: u },
    },
    {
      what: 'a field selected twice',
      query: '{ users { id } users { email } }',
      data: { users: u.map((one) => ({ ...one, email: null })) },
    },
    {
      what: 'a variable',
      query: 'query ($n: Int) { users(first: $n) { id } }',
      variables: { n: 102 },
      data: { users: u.slice(0, 102) },
    },
    {
      what: 'a default',
      query: 'query ($n: Int = 102) { users(first: $n) { id } }',
      data: { users: u.slice(0, 102) },
    },
    {
      what: 'a skipped sibling',
      query:
        'query ($no: Boolean!) { x: users(first: 1) @include(if: $no) { id } users { id @include(if: $no) __typename } }',
      variables: { no: false },
      data: { users: u.map(() => ({ __typename: 'User' })) },
    },
    {
      what: 'a short list after it',
      query: '{ users { id } packages { id } }',
      data: { users: u, packages: [{ id: 'plan' }] },
    },
    {
      what: 'a sibling that fails',
      query: 'query ($id: String!) { user(id: $id) { id } users { id } }',
      variables: { id: 'none' },
      data: { user: null, users: u },
      codes: ['USER_NOT_FOUND'],
    },
    { what: 'a name', query: 'query List { users { id } }', data: { users: u } },
  ]
  it.each(FORMS)('spec §4: a long list with $what, time and again', async ({
    query,
    variables,
    data,
    codes,
  }) => {
    for (let use = 1; use <= 4; use++) {
      const answer = await app(201).ask(query, variables ?? {})
      expect(answer.data).toEqual(data)
      expect(answer.errors?.map((error) => error.extensions.code)).toEqual(codes)
    }
  })

  it('spec §4: the packages of a long list come whole', async () => {
    const subscriptions = await app(101).call('subscriptions { status package { id name features { id } } }')
    expect(subscriptions).toHaveLength(202)
    expect(new Set(subscriptions.map((s: object) => JSON.stringify(s)))).toEqual(
      new Set(
        ['ACTIVE', 'CANCELLED'].map((status) =>
          JSON.stringify({ status, package: { id: 'plan', name: 'plan', features: [] } }),
        ),
      ),
    )
  })

  it('spec §4: a list that fails at once is an error like any other', async () => {
    const error = await app(201).error('{ users(after: "none") { id } }')
    expect(error.extensions.code).toBe('BAD_USER_INPUT')
  })
})
