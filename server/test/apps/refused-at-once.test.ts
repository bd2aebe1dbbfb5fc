import pg from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AppCache } from '../../src/store/apps/app-cache.ts'
import { openPool, type Pool } from '../../src/store/connection/database.ts'
import type { HomeDb } from '../../src/store/connection/places.ts'
import { publishPackage } from '../harness/catalogue.ts'
import { Client } from '../harness/client.ts'
import { adminClient, createApp, startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

// Once a credential has been revoked, or what it belongs to deleted, no later request gets in with it.

const BAD_TOKEN = ['UNAUTHENTICATED', 'A valid user token is required in the Authorization header']
const BAD_KEY = ['UNAUTHENTICATED', 'A valid API key is required in the Authorization header']

const TOKEN_QUERIES = [
  '{ me { id } }',
  '{ canUseFeature(featureId: "calls") { access } }',
  '{ canUseFeatures(featureIds: ["calls"]) { access } }',
  '{ showUsage(featureId: "calls") { current { periodStart } } }',
  '{ package(id: "plan") { id } }',
  '{ packages { id } }',
  '{ subscriptions { id } }',
  '{ __typename }',
]
const RESERVE = `mutation {
  reserveUsage(input: { userId: "ann", featureId: "calls", amount: 1, ttlSeconds: 60 }) { id }
}`
const KEY_QUERIES = [
  RESERVE,
  'mutation { addCredit(input: { userId: "ann", featureId: "calls", amount: 1 }) { id } }',
  'mutation { releaseReservation(id: "none") { id } }',
  'mutation { settleReservation(id: "none", amount: 1) { id } }',
  '{ credits(userId: "ann") { id } }',
  '{ caps(userId: "ann") { limit } }',
  '{ events { nodes { id } } }',
  '{ user(id: "ann") { id } }',
  '{ users { id } }',
  '{ packages { id } }',
  '{ subscriptions { id } }',
  '{ canUseFeature(userId: "ann", featureId: "calls") { access } }',
  'mutation { recordUsage(input: { userId: "ann", featureId: "calls", delta: 1 }) { recorded } }',
  'mutation { generateUserToken(userId: "ann") { token } }',
]
/** Answered without a query to the database. */
const SILENT = ['{ __typename }', '{ __schema { queryType { name } } }', '{ nothing }', 'no document', '']

const one = shared(startTestServer)
const other = shared(() => startTestServer({ databaseUrl: one.databaseUrl }))
let pool: Pool
beforeAll(async () => {
  pool = openPool({ connectionString: one.databaseUrl }, { max: 2 }, pino({ level: 'silent' }))
})
afterAll(async () => {
  await pool?.end()
})

let apps = 0
/** ann has a plan, a token, and an application that has just used its key on both servers. */
async function newApp() {
  const id = `refused-${++apps}`
  const admin = await createApp(one, id)
  await publishPackage({ id, admin, dashboard: one.dashboard.of(id) }, 'plan', { calls: { limit: 10 } })
  const { generateUserToken } = await admin.data(`mutation {
    createUser(input: { id: "ann" }) { id }
    subscribe(userId: "ann", packageIds: ["plan"]) { id }
    generateUserToken(userId: "ann") { token }
  }`)
  const createApiKey = await one.dashboard.call('createApiKey { id secret }', { appId: id, name: 'k' })
  const withToken = [one, other].map(
    ({ url }) => new Client(`${url}/client/graphql`, { Authorization: generateUserToken.token }),
  )
  const withKey = [one, other].map(({ url }) => adminClient(url, createApiKey.secret))
  for (const client of withToken) await client.data(TOKEN_QUERIES.join(' ').replaceAll('} {', ''))
  await admin.data('mutation { addCredit(input: { userId: "ann", featureId: "calls", amount: 9 }) { id } }')
  for (const client of withKey) {
    await client.data('{ packages { id } }')
    // From then on, the process decides by what it remembers of the user.
    await client.data(RESERVE)
  }
  return { id, keyId: createApiKey.id as string, withToken, withKey }
}

const change = (mutation: string) => one.dashboard.data(`mutation { ${mutation} { id } }`)

const refusalOf = async (client: Client | undefined, query: string) => {
  const error = await client?.error(query)
  return [error?.extensions.code, error?.message]
}

async function expectRefused(clients: readonly Client[], queries: readonly string[], refusal: string[]) {
  for (const client of clients)
    for (const query of queries)
      expect([query, ...(await refusalOf(client, query))]).toEqual([query, ...refusal])
}

describe('gap: refused from the next request on', () => {
  it('the token of a deleted user, by every process', async () => {
    const { id, withToken } = await newApp()
    await change(`deleteUser(appId: "${id}", id: "ann")`)
    await expectRefused(withToken, TOKEN_QUERIES, BAD_TOKEN)
  })

  it('the tokens of a revoked key, by every process', async () => {
    const { id, withToken } = await newApp()
    const { tokenKeys } = await one.dashboard.data(`{ tokenKeys(appId: "${id}") { id } }`)
    await change(`revokeTokenKey(appId: "${id}", id: "${tokenKeys[0].id}")`)
    await expectRefused(withToken, TOKEN_QUERIES, BAD_TOKEN)
  })

  it('the tokens and keys of a deleted app, while its rows are still there', async () => {
    const { id, withToken, withKey } = await newApp()
    await change(`archiveApp(appId: "${id}", archived: true)`)
    // Deleting rows waits for this lock.
    const holder = new pg.Client({ connectionString: one.databaseUrl })
    await holder.connect()
    try {
      await holder.query('begin')
      await holder.query('select from app where id = $1 for key share', [id])
      await change(`deleteApp(appId: "${id}", confirm: "${id}")`)
      await expectRefused(withKey.slice(0, 1), SILENT, BAD_KEY)
      await expectRefused(withToken, TOKEN_QUERIES, BAD_TOKEN)
      await expectRefused(withKey, KEY_QUERIES, BAD_KEY)
      const { rows } = await holder.query('select id from users where app_id = $1', [id])
      expect(rows).toEqual([{ id: 'ann' }])
    } finally {
      await holder.end()
    }
  })

  it.each([
    ['revoked', (id: string, keyId: string) => `revokeApiKey(appId: "${id}", id: "${keyId}")`],
    [
      'replaced',
      (id: string, keyId: string) => `rotateApiKey(appId: "${id}", id: "${keyId}", overlapHours: 0)`,
    ],
  ])('an API key that was %s; by the process that did it, also without a query', async (_, mutation) => {
    const { id, keyId, withKey } = await newApp()
    await change(mutation(id, keyId))
    await expectRefused(withKey.slice(0, 1), SILENT, BAD_KEY)
    await expectRefused(withKey, KEY_QUERIES, BAD_KEY)
  })

  it('an API key that was looked up while it was revoked', async () => {
    const { id, keyId, withKey } = await newApp()
    const { rows } = await pool.query<{ hash: string }>(
      `select encode(hash, 'hex') as hash from api_key where app_id = $1 and id = $2`,
      [id, keyId],
    )
    const hash = rows[0]?.hash ?? ''
    const cache = new AppCache(() => 0)
    let lookedUp = () => {}
    const revoked = new Promise<void>((resolve) => {
      lookedUp = resolve
    })
    // The real database, whose answer takes its time.
    const slow = {
      query: async (text: string, values: unknown[]) => {
        const result = await pool.query(text, values)
        await revoked
        return result
      },
    } as unknown as HomeDb
    const looking = cache.authenticate(slow, hash)
    await change(`revokeApiKey(appId: "${id}", id: "${keyId}")`)
    cache.invalidateKeys()
    lookedUp()
    await looking
    expect(cache.recognise(hash)).toBeNull()
    expect(await cache.authenticate(pool, hash)).toBeNull()
    await expectRefused(withKey, KEY_QUERIES.slice(0, 1), BAD_KEY)
  })

  it.each([
    [{ kind: 'user', tokenKey: 'any' } as const, BAD_TOKEN],
    [{ kind: 'app', keyHash: 'any', scope: 'ALL', required: 'ANY' } as const, BAD_KEY],
    [{ kind: 'member' } as const, ['APP_NOT_FOUND', 'App not found: "gone"']],
  ])('an app that is gone, in words for the caller: $kind', async (actor, [code, message]) => {
    const asking = new AppCache(() => 0).at(pool, { appId: 'gone', actor })
    await expect(asking).rejects.toMatchObject({ code, message })
  })
})
