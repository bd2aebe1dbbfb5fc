import { describe, expect, it } from 'vitest'
import { createUsers, newTestApp } from '../harness/catalogue.ts'
import { withConnection } from '../harness/database.ts'
import { RestClient } from '../harness/rest.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

describe('gap: REST: Idempotency-Key', () => {
  const server = shared(startTestServer)

  it('is one for the request in all its parts, and not shared with GraphQL', async () => {
    const { admin } = await newTestApp(server)
    await createUsers(admin, ['ann', 'bob'])
    const keyed = new RestClient(server.url, { ...admin.headers, 'Idempotency-Key': 'k' })
    const first = await keyed.patch('/v1/users/ann', { name: 'A' })
    expect(first).toMatchObject({ status: 200, body: { name: 'A' } })
    expect((await keyed.patch('/v1/users/ann', { name: 'A' })).text).toBe(first.text)
    const others = [
      await keyed.patch('/v1/users/bob', { name: 'A' }),
      await keyed.patch('/v1/users/ann', { name: 'B' }),
      await keyed.post('/v1/usage', { userId: 'ann', featureId: 'calls', delta: 1 }),
    ]
    for (const other of others) {
      expect(other).toMatchObject({ status: 409, body: { code: 'IDEMPOTENCY_KEY_REUSED', status: 409 } })
    }
    const error = await admin
      .with({ 'Idempotency-Key': 'k' })
      .error('mutation { updateUser(id: "ann", input: { name: "A" }) { id } }')
    expect(error.extensions.code).toBe('IDEMPOTENCY_KEY_REUSED')
  })

  it('repeats a refusal too', async () => {
    const { admin } = await newTestApp(server)
    const keyed = new RestClient(server.url, { ...admin.headers, 'Idempotency-Key': 'k' })
    const first = await keyed.patch('/v1/users/ann', { name: 'A' })
    expect(first).toMatchObject({ status: 404, body: { code: 'USER_NOT_FOUND' } })
    await createUsers(admin, ['ann'])
    expect(await keyed.patch('/v1/users/ann', { name: 'A' })).toMatchObject({ status: 404 })
  })

  it('of more than 255 characters is refused', async () => {
    const { admin } = await newTestApp(server)
    const keyed = new RestClient(server.url, { ...admin.headers, 'Idempotency-Key': 'k'.repeat(256) })
    expect(await keyed.post('/v1/users', { id: 'x' })).toMatchObject({
      status: 400,
      body: { code: 'BAD_REQUEST' },
    })
  })
})

describe('gap: REST: limits', () => {
  const server = shared(() =>
    startTestServer({
      env: {
        TOLLGATE_RATE_LIMIT_KEY: '0.01/5',
        TOLLGATE_RATE_LIMIT_ADDRESS: '0.01/10',
        TOLLGATE_TRUSTED_PROXIES: '1',
        TOLLGATE_REQUEST_TIMEOUT_MS: '3000',
      },
    }),
  )

  it('answers 429 with Retry-After to a key that asks too often', async () => {
    const { admin } = await newTestApp(server)
    const rest = new RestClient(server.url, { ...admin.headers, 'X-Forwarded-For': '203.0.113.1' })
    for (let left = 4; left >= 0; left--) {
      const answer = await rest.post('/v1/check', { userId: 'ann', featureId: 'calls' })
      expect(answer.status).toBe(200)
      expect(answer.headers.get('ratelimit-remaining')).toBe(String(left))
    }
    const refused = await rest.get('/v1/users')
    expect(refused).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED', status: 429 } })
    expect(refused.headers.get('retry-after')).toBe(String(refused.body?.retryAfter))
  })

  it('answers 429 to a visitor who tries unknown routes or keys too often', async () => {
    for (const [address, path] of [
      ['203.0.113.2', '/v1/nothing'],
      ['203.0.113.3', '/v1/users'],
    ] as const) {
      const visitor = new RestClient(server.url, { 'X-Forwarded-For': address })
      const statuses: number[] = []
      for (let i = 0; i < 12; i++) statuses.push((await visitor.get(path)).status)
      expect(statuses.at(-1)).toBe(429)
      expect([401, 404]).toContain(statuses[0])
    }
  })

  it('answers 503 with Retry-After when a request takes too long', async () => {
    const { id, admin } = await newTestApp(server)
    await createUsers(admin, ['ann'])
    const rest = new RestClient(server.url, { ...admin.headers, 'X-Forwarded-For': '203.0.113.4' })
    await withConnection({ connectionString: server.databaseUrl }, async (db) => {
      await db.query('begin')
      await db.query('select from users where app_id = $1 for update', [id])
      const late = await rest.patch('/v1/users/ann', { name: 'Late' })
      expect(late).toMatchObject({ status: 503, body: { code: 'UNAVAILABLE', retryAfter: 1 } })
      expect(late.headers.get('retry-after')).toBe('1')
      await db.query('rollback')
    })
    const { user } = await admin.data('{ user(id: "ann") { name } }')
    expect(user.name).toBeNull()
  })
})
