import { describe, expect, it } from 'vitest'
import type { Data } from '../harness/client.ts'
import { movable } from '../harness/clocks.ts'
import { rowsOf } from '../harness/database.ts'
import { adminClient, createApp, startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

const MINUTE_MS = 60_000

const time = movable()
const clocks = { monotonic: time.monotonic }
const server = shared(() => startTestServer({ clocks }))
const second = shared(() => startTestServer({ databaseUrl: server.databaseUrl, clocks }))

const CREATE = 'mutation ($appId: String!) { createApiKey(appId: $appId, name: "backend") { id secret } }'
const ROTATE = `mutation ($appId: String!, $id: String!, $hours: Int) {
  rotateApiKey(appId: $appId, id: $id, overlapHours: $hours) { id name secret prefix formerExpiresAt } }`
const LIST = 'query ($appId: String!) { apiKeys(appId: $appId) { id name lastUsedAt expiresAt revokedAt } }'

let apps = 0
async function newKey(): Promise<{ appId: string; id: string; secret: string }> {
  const appId = `rotated-${++apps}`
  await createApp(server, appId)
  const { createApiKey } = await server.dashboard.data(CREATE, { appId })
  return { appId, ...createApiKey }
}

/** On both processes: whether the key is let in, by an operation and by introspection. */
async function works(secret: string): Promise<boolean> {
  const answers = await Promise.all(
    [server, second].map(async ({ url }) => {
      const { errors } = await adminClient(url, secret).ask('{ features { id } }')
      return errors === undefined
    }),
  )
  expect(new Set(answers).size).toBe(1)
  return answers[0] ?? false
}

const sql = (text: string, values: unknown[]) =>
  rowsOf({ connectionString: server.databaseUrl }, text, values)

describe('spec §5: API keys are rotated', () => {
  it('with both secrets working until the hours are over, by the time of the database', async () => {
    const { appId, id, secret } = await newKey()
    expect(await works(secret)).toBe(true)
    const { rotateApiKey } = await server.dashboard.data(ROTATE, { appId, id, hours: 2 })
    expect(rotateApiKey).toMatchObject({ name: 'backend', formerExpiresAt: expect.any(String) })
    expect(rotateApiKey.secret).not.toBe(secret)
    expect([await works(secret), await works(rotateApiKey.secret)]).toEqual([true, true])
    const { apiKeys } = await server.dashboard.data(LIST, { appId })
    const former = apiKeys.find((key: Data) => key.id === id)
    expect(former.expiresAt).toBe(rotateApiKey.formerExpiresAt)

    await sql(`update api_key set expires_at = now() where id = $1`, [id])
    await sql(`update app set version = version + 1 where id = $1`, [appId])
    expect([await works(secret), await works(rotateApiKey.secret)]).toEqual([false, true])
  })

  it('ends by itself, with nobody telling the processes that hold it in memory', async () => {
    const { appId, id, secret } = await newKey()
    await server.dashboard.data(ROTATE, { appId, id, hours: 1 })
    expect(await works(secret)).toBe(true)
    time.passes(59 * MINUTE_MS)
    expect(await works(secret)).toBe(true)
    time.passes(MINUTE_MS)
    expect(await works(secret)).toBe(false)
  })

  it('at once with no overlap, and not from a key that is dead', async () => {
    const { appId, id, secret } = await newKey()
    const { rotateApiKey } = await server.dashboard.data(ROTATE, { appId, id, hours: 0 })
    expect([await works(secret), await works(rotateApiKey.secret)]).toEqual([false, true])
    const { extensions } = await server.dashboard.error(ROTATE, { appId, id, hours: 0 })
    expect(extensions.code).toBe('API_KEY_NOT_FOUND')
  })

  it('and revoking ends one at once, also while it runs out', async () => {
    const { appId, id, secret } = await newKey()
    await server.dashboard.data(ROTATE, { appId, id })
    await server.dashboard.call('revokeApiKey', { appId, id })
    expect(await works(secret)).toBe(false)
  })
})

describe('gap: the expiry of an API key', () => {
  const CREATE_EXPIRING = `mutation ($appId: String!, $expiresAt: String) {
    createApiKey(appId: $appId, name: "expiring", scope: READ, expiresAt: $expiresAt) { id secret scope expiresAt } }`
  const UPDATE = `mutation ($appId: String!, $id: String!, $input: UpdateApiKeyInput!) {
    updateApiKey(appId: $appId, id: $id, input: $input) { id name scope expiresAt } }`
  const HOUR_MS = 3_600_000

  const inHours = async (hours: number) => {
    const [row] = await sql('select clock_timestamp() as now', [])
    return new Date(Number(row?.now) + hours * HOUR_MS).toISOString()
  }
  const expiring = async (hours: number) => {
    const { appId } = await newKey()
    const expiresAt = await inHours(hours)
    const { createApiKey } = await server.dashboard.data(CREATE_EXPIRING, { appId, expiresAt })
    expect(createApiKey).toMatchObject({ scope: 'READ', expiresAt })
    return { appId, ...createApiKey }
  }

  it('ends it like a revocation, on every process, with nobody telling them', async () => {
    const { secret } = await expiring(2)
    expect(await works(secret)).toBe(true)
    time.passes(119 * MINUTE_MS)
    expect(await works(secret)).toBe(true)
    time.passes(MINUTE_MS)
    expect(await works(secret)).toBe(false)
    const query = '{ features { id } }'
    const [expired, unknown] = await Promise.all(
      [secret, 'unknown'].map((key) => adminClient(server.url, key).error(query)),
    )
    expect([expired?.message, expired?.extensions]).toEqual([unknown?.message, unknown?.extensions])
    expect(expired?.extensions).toMatchObject({ code: 'UNAUTHENTICATED', status: 401 })
  })

  it('is set, moved and cleared; what is left out stays', async () => {
    const { appId, id, secret, expiresAt } = await expiring(1)
    const update = async (input: object) =>
      (await server.dashboard.data(UPDATE, { appId, id, input })).updateApiKey
    expect(await update({ name: 'renamed' })).toEqual({ id, name: 'renamed', scope: 'READ', expiresAt })
    expect(await update({ scope: 'ALL' })).toEqual({ id, name: 'renamed', scope: 'ALL', expiresAt })
    const later = await inHours(3)
    expect(await update({ expiresAt: later })).toMatchObject({ expiresAt: later })
    time.passes(2 * 60 * MINUTE_MS)
    expect(await works(secret)).toBe(true)
    expect(await update({ expiresAt: null })).toMatchObject({ expiresAt: null })
    time.passes(48 * 60 * MINUTE_MS)
    expect(await works(secret)).toBe(true)
  })

  it.for([
    [{ name: null }, 'name must not be null', 'name'],
    [{ name: '\u0000' }, 'name must be well-formed text without NUL characters', 'name'],
    [{ scope: null }, 'scope must not be null', 'scope'],
    [{ expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt must be in the future', 'expiresAt'],
    [
      { expiresAt: 'tomorrow' },
      'expiresAt must be an ISO 8601 time, such as 2027-01-31T00:00:00Z',
      'expiresAt',
    ],
    [
      { expiresAt: '9000-01-01T00:00:00.001Z' },
      'expiresAt must not be after 9000-01-01T00:00:00.000Z. Omit it if the key does not expire.',
      'expiresAt',
    ],
  ] as const)('%j is refused', async ([input, message, field]) => {
    const { appId, id } = await newKey()
    const error = await server.dashboard.error(UPDATE, { appId, id, input })
    expect([error.message, error.extensions]).toEqual([
      message,
      { code: 'BAD_USER_INPUT', type: 'Error', status: 400, field },
    ])
    if ('expiresAt' in input) {
      const creating = await server.dashboard.error(CREATE_EXPIRING, { appId, ...input })
      expect(creating.message).toBe(message)
    }
  })

  it('of a key that no longer works is not changed', async () => {
    const { appId, id } = await newKey()
    await server.dashboard.call('revokeApiKey', { appId, id })
    for (const dead of [id, 'unknown', ''])
      expect((await server.dashboard.error(UPDATE, { appId, id: dead, input: {} })).extensions.code).toBe(
        'API_KEY_NOT_FOUND',
      )
  })

  it('is as far away after a rotation, also after a second one, and the scope is the same', async () => {
    const { appId, id } = await expiring(90 * 24)
    for (const hours of [2, 3]) {
      const before = Date.parse(await inHours(90 * 24))
      const { rotateApiKey } = await server.dashboard.data(
        `mutation ($appId: String!, $id: String!, $hours: Int) {
          rotateApiKey(appId: $appId, id: $id, overlapHours: $hours) { scope expiresAt } }`,
        { appId, id, hours },
      )
      expect(rotateApiKey.scope).toBe('READ')
      expect(Math.abs(Date.parse(rotateApiKey.expiresAt) - before)).toBeLessThan(MINUTE_MS)
    }
  })

  it('counts by real time, whatever the test clock of the app says', async () => {
    await server.dashboard.data(`mutation {
      createApp(id: "clocked", name: "Clocked", testClock: true) { id }
      advanceClock(appId: "clocked", to: "2098-01-01T00:00:00Z") { id } }`)
    const { createApiKey } = await server.dashboard.data(CREATE_EXPIRING, {
      appId: 'clocked',
      expiresAt: await inHours(1),
    })
    expect(await works(createApiKey.secret)).toBe(true)
    expect(createApiKey.secret).toMatch(/^tg_test_[0-9A-Za-z]{49}$/)
  })
})

describe('gap: the form of an API key', () => {
  it('is that of the documented pattern, whoever made it', async () => {
    const { appId, id, secret } = await newKey()
    const { rotateApiKey } = await server.dashboard.data(ROTATE, { appId, id })
    for (const made of [secret, rotateApiKey.secret]) expect(made).toMatch(/^tg_live_[0-9A-Za-z]{49}$/)
    expect(rotateApiKey.prefix).toBe(rotateApiKey.secret.slice(0, 12))
  })

  it('does not matter for a key that was made before, which may do everything', async () => {
    const { appId } = await newKey()
    const secret = `tg_${'x'.repeat(40)}`
    await sql(
      `insert into api_key (app_id, id, name, prefix, hash) values ($1, 'former', 'Former', 'tg_', sha256($2::bytea))`,
      [appId, secret],
    )
    await sql('update app set version = version + 1 where id = $1', [appId])
    const created = await adminClient(server.url, secret).data(
      'mutation { createUser(input: {id: "ann"}) { id } generateUserToken(userId: "ann") { token } }',
    )
    expect(created.createUser.id).toBe('ann')
    const { apiKeys } = await server.dashboard.data(
      'query ($appId: String!) { apiKeys(appId: $appId) { id scope } }',
      {
        appId,
      },
    )
    expect(apiKeys).toContainEqual({ id: 'former', scope: 'ALL' })
  })
})

describe('gap: when a key was last used', () => {
  it('is written down by the process that let it in, at the latest when it stops', async () => {
    const { appId, id, secret } = await newKey()
    const third = await startTestServer({ databaseUrl: server.databaseUrl })
    const used = async () => {
      const { apiKeys } = await server.dashboard.data(LIST, { appId })
      return apiKeys.find((key: Data) => key.id === id).lastUsedAt
    }
    expect(await used()).toBeNull()
    const [before] = (await sql('select clock_timestamp() as now', [])) as { now: Date }[]
    await adminClient(third.url, secret).data('{ features { id } }')
    await third.stop()
    const at = Date.parse(await used())
    expect(at).toBeGreaterThanOrEqual(Number(before?.now) - 50)
    const [after] = (await sql('select clock_timestamp() as now', [])) as { now: Date }[]
    expect(at).toBeLessThanOrEqual(Number(after?.now))
  })
})
