import { pino } from 'pino'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Service } from '../../src/operations/call/service.ts'
import { asThemselves } from '../../src/operations/users/me.ts'
import { openPool } from '../../src/store/connection/database.ts'
import { Client } from '../harness/client.ts'
import { rowsOf } from '../harness/database.ts'
import { furnish } from '../harness/furnished.ts'
import { API_KEY, createApp, startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

const PAGE = 'https://page.example'
const OTHER = 'https://other.example'
const NOBODY = 'https://nobody.example'
const HOUR = 3_600_000

const server = shared(() => startTestServer({ clocks: { wall: () => Date.now() + ahead } }))
let token: string
/** how far the service's clock is ahead */
let ahead = 0
beforeAll(async () => {
  await furnish(server)
  await createApp(server, 'another')
  await server.dashboard.data(
    `mutation ($page: [String!]!, $other: [String!]!) {
      page: setOrigins(appId: "default", origins: $page) { id }
      other: setOrigins(appId: "another", origins: $other) { id }
    }`,
    { page: [PAGE], other: [OTHER] },
  )
  token = await tokenOf('ann')
})

async function tokenOf(userId: string): Promise<string> {
  return (await server.admin.call('generateUserToken { token }', { userId })).token
}

const clientApi = (headers: Record<string, string>) => new Client(`${server.url}/client/graphql`, headers)
const codeOf = async (headers: Record<string, string>) => {
  const { errors } = await clientApi(headers).ask('{ me { id } }')
  return errors?.[0]?.extensions.code ?? 'none'
}

describe('gap: who may use the client API', () => {
  const ROWS: [who: string, headers: () => Record<string, string>, code: string][] = [
    ['a user’s token', () => ({ Authorization: token }), 'none'],
    ['a user’s token after Bearer', () => ({ Authorization: `Bearer ${token}` }), 'none'],
    ['nobody', () => ({}), 'UNAUTHENTICATED'],
    ['an Admin key', () => ({ Authorization: API_KEY }), 'UNAUTHENTICATED'],
    [
      'a token that was tampered with',
      () => ({ Authorization: `${token.slice(0, -4)}AAAA` }),
      'UNAUTHENTICATED',
    ],
    ['a page of the app', () => ({ Authorization: token, Origin: PAGE }), 'none'],
    ['a page of another app', () => ({ Authorization: token, Origin: OTHER }), 'FORBIDDEN'],
    ['a page of nobody’s', () => ({ Authorization: token, Origin: NOBODY }), 'FORBIDDEN'],
    ['a page without an origin', () => ({ Authorization: token, Origin: 'null' }), 'FORBIDDEN'],
    ['a page of the service itself', () => ({ Authorization: token, Origin: server.url }), 'none'],
  ]
  it.each(ROWS)('%s: %s', async (_, headers, code) => {
    expect(await codeOf(headers())).toBe(code)
  })

  it('a token is good for an hour, and no longer', async () => {
    const own = await tokenOf('ann')
    ahead = HOUR - 60_000
    expect(await codeOf({ Authorization: own })).toBe('none')
    ahead = HOUR + 60_000
    expect(await codeOf({ Authorization: own })).toBe('UNAUTHENTICATED')
    ahead = 0
  })

  it('a token survives a change of its user’s id', async () => {
    await server.admin.data('mutation { createUser(input: { id: "eve" }) { id } }')
    const eve = await tokenOf('eve')
    await server.admin.data('mutation { updateUser(id: "eve", input: { id: "eva" }) { id } }')
    expect(await clientApi({ Authorization: eve }).data('{ me { id } }')).toEqual({ me: { id: 'eva' } })
  })

  it('an id that becomes another user’s while it is asked for is asked for again', async () => {
    await server.admin.data('mutation { createUser(input: { id: "first" }) { id } }')
    const pool = openPool({ connectionString: server.databaseUrl }, { max: 1 }, pino({ level: 'silent' }))
    const [user] = await rowsOf<{ uid: number }>(
      { connectionString: server.databaseUrl },
      "select uid::int as uid from users where app_id = 'default' and id = 'first'",
    )
    const call = {
      service: { pool } as Service,
      appId: 'default',
      actor: { kind: 'user' as const, uid: user?.uid ?? 0, userId: 'first', tokenKey: 'any' },
      deadline: null,
      idempotency: null,
    }
    const asked: string[] = []
    await asThemselves(call, async (userId) => {
      asked.push(userId)
      if (userId !== 'first') return
      await server.admin.data('mutation { updateUser(id: "first", input: { id: "renamed" }) { id } }')
      await server.admin.data('mutation { createUser(input: { id: "first" }) { id } }')
    })
    expect(asked).toEqual(['first', 'renamed'])
    await pool.end()
  })

  it('a draft is not there, a published package is', async () => {
    const client = clientApi({ Authorization: token })
    expect((await client.error('{ package(id: "draft") { id } }')).extensions.code).toBe('PACKAGE_NOT_FOUND')
    expect(await client.data('{ packages { id } package(id: "plan") { id } }')).toEqual({
      packages: [{ id: 'plan' }, { id: 'extra' }],
      package: { id: 'plan' },
    })
  })
})

describe('gap: what a browser is told, for this endpoint alone', () => {
  const preflight = (origin: string, path = '/client/graphql') =>
    fetch(server.url + path, {
      method: 'OPTIONS',
      headers: { Origin: origin, 'Access-Control-Request-Method': 'POST' },
    })
  const allowed = ({ headers }: Response) => headers.get('Access-Control-Allow-Origin')

  it.each([
    [PAGE, 204, PAGE],
    [OTHER, 204, OTHER],
    [NOBODY, 403, null],
    ['null', 403, null],
  ])('the question of %s is answered %i', async (origin, status, named) => {
    const reply = await preflight(origin)
    expect([reply.status, allowed(reply)]).toEqual([status, named])
  })

  it.each(['/graphql', '/dashboard/graphql'])('%s lets no page of another origin read', async (path) => {
    expect(allowed(await preflight(PAGE, path))).toBeNull()
  })

  it.each([
    ['a page of the app', PAGE, () => token, PAGE],
    ['a page of another app', OTHER, () => token, null],
    ['a page whose token has run out, so that it can fetch another', PAGE, () => 'a.b.c', PAGE],
    ['a page of nobody’s', NOBODY, () => 'a.b.c', null],
  ])('%s: the answer', async (_, origin, authorization, named) => {
    const reply = await clientApi({ Authorization: authorization(), Origin: origin }).post(
      '{"query":"{ me { id } }"}',
    )
    expect([reply.status, allowed(reply), reply.headers.get('Vary')]).toEqual([200, named, named && 'Origin'])
  })
})
