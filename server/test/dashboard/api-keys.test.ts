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
