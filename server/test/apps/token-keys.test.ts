import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify, SignJWT } from 'jose'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { Client } from '../harness/client.ts'
import { createDatabase, rowsOf, type TestDatabase } from '../harness/database.ts'
import { PATIENCE_MS } from '../harness/patience.ts'
import { createApp, startTestServer, type TestServer } from '../harness/server.ts'

const MASTER = `m:${Buffer.alloc(32, 7).toString('base64')}`
const GENERATE = 'mutation ($id: String!) { generateUserToken(userId: $id) { token } }'

/** Two nodes on one database. */
let database: TestDatabase
let server: TestServer
let other: TestServer
beforeAll(async () => {
  database = await createDatabase()
  const env = { TOLLGATE_MASTER_KEY: MASTER }
  server = await startTestServer({ databaseUrl: database.url, env })
  other = await startTestServer({ databaseUrl: database.url, env })
})
afterAll(async () => {
  await server?.stop()
  await other?.stop()
  await database?.drop()
})

const rows = <Row extends object>(sql: string, values: unknown[] = []) =>
  rowsOf<Row & Record<string, unknown>>({ connectionString: database.url }, sql, values)

async function newApp(id: string): Promise<Client> {
  const admin = await createApp(server, id)
  await admin.data('mutation { createUser(input: { id: "ann" }) { id } }')
  return admin
}

const tokenFrom = async (admin: Client): Promise<string> =>
  (await admin.data(GENERATE, { id: 'ann' })).generateUserToken.token

async function outcome(token: string, query: string, at = server): Promise<string> {
  const { errors } = await new Client(`${at.url}/client/graphql`, { Authorization: token }).ask(query)
  return errors?.[0]?.extensions.code ?? 'let in'
}

const kidOf = (token: string) => decodeProtectedHeader(token).kid
const rotate = (appId: string) =>
  server.dashboard.data('mutation ($appId: String!) { rotateTokenKey(appId: $appId) { id } }', { appId })
const revoke = (appId: string, id: string | undefined) =>
  server.dashboard.data(
    'mutation ($appId: String!, $id: String!) { revokeTokenKey(appId: $appId, id: $id) { id } }',
    { appId, id },
  )

describe('gap: the keys of user tokens', () => {
  it('each app has its own, named in the token and sealed in the database', async () => {
    const [a, b] = [await newApp('one'), await newApp('two')]
    const [tokenA, tokenB] = [await tokenFrom(a), await tokenFrom(b)]
    expect(kidOf(tokenA)).toMatch(/^[\w-]{16}$/)
    expect(kidOf(tokenB)).not.toBe(kidOf(tokenA))
    expect(kidOf(await tokenFrom(a))).toBe(kidOf(tokenA))
    const kept = await rows<{ material: Buffer }>(
      `select material from token_key where app_id in ('one', 'two')`,
    )
    expect(kept).toHaveLength(2)
    for (const { material } of kept) expect(material.toString('latin1')).toMatch(/^sealed1:.m/s)
  })

  it('a token must name its key, and be signed by the algorithm of that key', async () => {
    await newApp('known')
    const secret = Buffer.alloc(32, 9)
    await rows(
      `insert into token_key (app_id, id, algorithm, material) values ('known', 'a-known-token-id', 'HS256', $1)`,
      [secret],
    )
    const claims = decodeJwt(await tokenFrom(await newApp('claims')))
    const [{ uid } = {}] = await rows<{ uid: string }>(`select uid from users where app_id = 'known'`)
    const token = (header: { alg: string; kid?: string }) =>
      new SignJWT({ ...claims, app: 'known', sub: String(uid) }).setProtectedHeader(header).sign(secret)
    const kid = 'a-known-token-id'
    expect(await outcome(await token({ alg: 'HS256', kid }), '{ me { id } }')).toBe('let in')
    expect(await outcome(await token({ alg: 'HS256' }), '{ me { id } }')).toBe('UNAUTHENTICATED')
    expect(await outcome(await token({ alg: 'HS512', kid }), '{ me { id } }')).toBe('UNAUTHENTICATED')
  })

  it('of two processes that create the first one at once, the second gets the id of the other', async () => {
    await newApp('raced')
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    try {
      await client.query('begin')
      await client.query(
        `insert into token_key (app_id, id, algorithm, material) values ('raced', 'the-first-of-two', 'HS256', '')`,
      )
      const rotated = rotate('raced')
      await vi.waitFor(async () => {
        const [waiting] = await rows(
          `select from pg_stat_activity where wait_event_type = 'Lock' and query like 'insert into token_key%'`,
        )
        expect(waiting).toBeDefined()
      }, PATIENCE_MS)
      await client.query('commit')
      expect((await rotated).rotateTokenKey.id).toBe('the-first-of-two')
    } finally {
      await client.end()
    }
  })

  it('rotation signs with a new one, and what the former signed is good for its hour', async () => {
    const admin = await newApp('rotated')
    const before = await tokenFrom(admin)
    const { rotateTokenKey } = await rotate('rotated')
    const after = await tokenFrom(admin)
    expect(kidOf(after)).toBe(rotateTokenKey.id)
    expect(kidOf(after)).not.toBe(kidOf(before))
    for (const at of [server, other]) {
      expect(await outcome(before, '{ me { id } }', at)).toBe('let in')
      expect(await outcome(after, '{ me { id } }', at)).toBe('let in')
    }
    await rows(`update token_key set retired_at = now() - interval '61 minutes' where id = $1`, [
      kidOf(before),
    ])
    await expect.poll(() => outcome(before, '{ me { id } }')).toBe('UNAUTHENTICATED')
  })

  it.each([
    '{ me { id } }',
    '{ packages { id } }',
    '{ canUseFeature(featureId: "x") { access } }',
    '{ __typename }',
  ])('a revoked one is refused by every node at the next request: %s', async (query) => {
    const appId = `revoked-${query.length}`
    const token = await tokenFrom(await newApp(appId))
    for (const at of [server, other]) expect(await outcome(token, query, at)).toBe('let in')
    await revoke(appId, kidOf(token))
    for (const at of [server, other]) expect(await outcome(token, query, at)).toBe('UNAUTHENTICATED')
  })

  it('after one was revoked, new tokens are signed with another', async () => {
    const admin = await newApp('replaced')
    const token = await tokenFrom(admin)
    await revoke('replaced', kidOf(token))
    expect(await outcome(await tokenFrom(admin), '{ me { id } }', other)).toBe('let in')
  })

  it('one app’s key does not sign for another; the audit log shows no secret', async () => {
    const [mine, theirs] = [await tokenFrom(await newApp('mine')), await tokenFrom(await newApp('theirs'))]
    const swapped = [theirs.split('.')[0], mine.split('.')[1], mine.split('.')[2]].join('.')
    expect(await outcome(swapped, '{ me { id } }')).toBe('UNAUTHENTICATED')
    const auditLog = await server.dashboard.call('auditLog { rows { operation after } }', {
      appId: 'revoked-13',
      first: 1,
    })
    expect(auditLog.rows[0]).toMatchObject({ operation: 'revokeTokenKey' })
    expect(JSON.stringify(auditLog)).not.toContain('material')
  })
})

describe('gap: a token is never kept', () => {
  it('the same Idempotency-Key gets the same token, on any node, and the database has none', async () => {
    await newApp('kept')
    const createApiKey = await server.dashboard.call('createApiKey { secret }', { appId: 'kept', name: 'k' })
    const ask = (at: TestServer) =>
      new Client(`${at.url}/graphql`, { Authorization: createApiKey.secret, 'Idempotency-Key': 'same' }).data(
        GENERATE,
        { id: 'ann' },
      )
    const { generateUserToken } = await ask(server)
    expect(await ask(other)).toEqual({ generateUserToken })
    const [, , signature = ''] = generateUserToken.token.split('.')
    const kept = await rows<{ results: string }>(
      `select results::text from idempotency where app_id = 'kept'`,
    )
    expect(kept).toHaveLength(1)
    expect(kept[0]?.results).not.toContain(signature)
    expect(kept[0]?.results).not.toContain('eyJ')
  })
})

describe('gap: tokens that others verify by themselves', () => {
  it('are signed with EdDSA where that is set, and the public keys are at /.well-known/jwks.json', async () => {
    const before = await tokenFrom(await newApp('public'))
    const env = { TOLLGATE_MASTER_KEY: MASTER, TOLLGATE_TOKEN_ALGORITHM: 'EdDSA' }
    const signing = await startTestServer({ databaseUrl: database.url, env })
    try {
      const createApiKey = await server.dashboard.call('createApiKey { secret }', {
        appId: 'public',
        name: 'k',
      })
      const keyed = new Client(`${signing.url}/graphql`, {
        Authorization: createApiKey.secret,
        'Idempotency-Key': 'eddsa',
      })
      const token = await tokenFrom(keyed)
      expect(decodeProtectedHeader(token).alg).toBe('EdDSA')
      expect(await tokenFrom(keyed)).toBe(token)
      const address = `${signing.url}/.well-known/jwks.json?app=public`
      const verified = await jwtVerify(token, createRemoteJWKSet(new URL(address)), {
        issuer: 'tollgate',
        audience: 'tollgate-client',
      })
      expect(verified.payload.app).toBe('public')
      const { keys } = (await (await fetch(address)).json()) as { keys: Record<string, string>[] }
      expect(keys).toEqual([
        { kty: 'OKP', crv: 'Ed25519', x: expect.any(String), kid: kidOf(token), alg: 'EdDSA', use: 'sig' },
      ])
      for (const at of [server, signing]) {
        expect(await outcome(token, '{ me { id } }', at)).toBe('let in')
        expect(await outcome(before, '{ me { id } }', at)).toBe('let in')
      }
      const none = await fetch(`${signing.url}/.well-known/jwks.json?app=nobody`)
      expect(await none.json()).toEqual({ keys: [] })
      expect((await fetch(address, { method: 'POST' })).status).toBe(405)
      // A secret is never served: this app's keys are all of the other kind.
      expect(JSON.stringify(keys)).not.toContain(kidOf(before))
      // Nor a key of a deleted app, whose rows are kept here by a lock.
      const holder = new pg.Client({ connectionString: database.url })
      await holder.connect()
      try {
        await holder.query('begin')
        await holder.query(`select from app where id = 'public' for key share`)
        await server.dashboard.data(`mutation {
          archiveApp(appId: "public", archived: true) { id }
          deleteApp(appId: "public", confirm: "public") { id }
        }`)
        await expect.poll(async () => (await fetch(address)).json()).toEqual({ keys: [] })
      } finally {
        await holder.end()
      }
    } finally {
      await signing.stop()
    }
  })
})
