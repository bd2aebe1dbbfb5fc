import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { publishPackage } from '../harness/catalogue.ts'
import type { Client } from '../harness/client.ts'
import { rowsOf } from '../harness/database.ts'
import { adminClient, startTestServer, type TestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

// A standby that lacked the last commits takes over, or a backup is restored, under a running service: the database
// goes back in time. What the service has cached of the lost future is never used again, even if the new history has by
// then counted as many changes as the lost one.

const server = shared(startTestServer)
beforeAll(async () => {
  await publishPackage({ id: 'default', ...server }, 'plan', { calls: { limit: 10 } })
  await server.admin.data(`mutation {
    createUser(input: { id: "ann" }) { id }
    subscribe(userId: "ann", packageIds: ["plan"]) { id }
  }`)
})

const sql = <Row extends object>(text: string) =>
  rowsOf<Row & Record<string, unknown>>({ connectionString: server.databaseUrl }, text)

const TABLES = ['app', 'api_key', 'feature', 'package', 'package_feature', 'package_history']
/** Saves the service's whole state in the database as it is now. */
const remember = () =>
  sql(TABLES.map((t) => `drop table if exists kept_${t}; create table kept_${t} as table ${t}`).join(';'))
/** Makes it so again, all at once. The rows are replaced past their foreign keys, as a restore replaces files. */
const goBack = () =>
  sql(
    `set session_replication_role = replica; begin; ${TABLES.map(
      (t) => `delete from ${t}; insert into ${t} overriding system value select * from kept_${t}`,
    ).join(';')}; commit`,
  )

async function newKey(): Promise<{ id: string; client: Client }> {
  const createApiKey = await server.dashboard.call('createApiKey { id secret }', { name: 'k' })
  return { id: createApiKey.id, client: adminClient(server.url, createApiKey.secret) }
}
const revoke = (id: string) =>
  server.dashboard.data('mutation ($id: String!) { revokeApiKey(appId: "default", id: $id) { id } }', { id })
const publishLimit = (limit: number) =>
  server.dashboard.data(
    `mutation ($features: [EditPackageFeatureInput!]!) {
      editPackage(appId: "default", id: "plan", input: { features: $features }) { id }
      publishPackage(appId: "default", id: "plan") { id }
    }`,
    { features: [{ id: 'calls', entitlement: { limit } }] },
  )

const CHECK = '{ canUseFeature(userId: "ann", featureId: "calls") { consumption { budget } } }'
const RECORD =
  'mutation { recordUsage(input: { userId: "ann", featureId: "calls", delta: 0 }) { consumption { budget } } }'
const PACKAGES = '{ packages { features { limit } } }'
const ASKED = [CHECK, RECORD, PACKAGES]

const codesOf = async (client: Client) => {
  const answers = await Promise.all(ASKED.map((query) => client.ask(query)))
  return answers.map(({ errors }) => errors?.[0]?.extensions.code ?? 'answered')
}
const limitsOf = async ({ admin }: TestServer) => {
  const check = await admin.data(CHECK)
  const record = await admin.data(RECORD)
  const { packages } = await admin.data(PACKAGES)
  return [
    check.canUseFeature.consumption.budget,
    record.recordUsage.consumption.budget,
    Number(packages[0].features[0].limit),
  ]
}
const all = <T>(value: T): T[] => ASKED.map(() => value)

describe('after the database went back in time', () => {
  beforeEach(async () => {
    await publishLimit(10)
    await remember()
  })

  it('gap: consistency: a limit of the lost future is not served', async () => {
    await publishLimit(99)
    expect(await limitsOf(server)).toEqual(all(99))
    await goBack()
    expect(await limitsOf(server)).toEqual(all(10))
  })

  it('gap: consistency: a limit set since then is served, though the lost future had as many changes', async () => {
    await publishLimit(98)
    await publishLimit(99)
    expect(await limitsOf(server)).toEqual(all(99))
    await goBack()
    // Nothing is asked in between: what is in memory is still that of the lost future.
    await publishLimit(20)
    expect(await limitsOf(server)).toEqual(all(20))
    await publishLimit(21)
    expect(await limitsOf(server)).toEqual(all(21))
  })

  it('spec §5.3: a key of the lost future is refused', async () => {
    const { client } = await newKey()
    expect(await codesOf(client)).toEqual(all('answered'))
    await goBack()
    expect(await codesOf(client)).toEqual(all('UNAUTHENTICATED'))
  })

  it('spec §5.3: a key revoked since then is refused, though it was good in the lost future', async () => {
    const { id, client } = await newKey()
    await remember()
    await publishLimit(50)
    expect(await codesOf(client)).toEqual(all('answered'))
    await goBack()
    await revoke(id)
    expect(await codesOf(client)).toEqual(all('UNAUTHENTICATED'))
  })

  it('spec §5.3: a key whose revocation was lost is good again, as the database says', async () => {
    const { id, client } = await newKey()
    await remember()
    await revoke(id)
    expect(await codesOf(client)).toEqual(all('UNAUTHENTICATED'))
    await goBack()
    expect(await codesOf(client)).toEqual(all('answered'))
  })
})

describe('the version of an app', () => {
  const version = async (id = 'default') => {
    const [row] = await sql<{ version: string }>(`select version from app where id = '${id}'`)
    return Number(row?.version)
  }

  it('gap: consistency: two different changes to the same state get different versions', async () => {
    await remember()
    const seen = new Set<number>()
    for (let i = 0; i < 5; i++) {
      await newKey()
      seen.add(await version())
      await goBack()
    }
    expect(seen.size).toBe(5)
  })

  it('gap: consistency: it rises with every change, within what JSON and JavaScript agree on', async () => {
    // As processes of the release before this one count, and expect it.
    await sql(`update app set version = 57 where id = 'default'`)
    let before = await version()
    for (let i = 0; i < 5; i++) {
      await newKey()
      const after = await version()
      expect(after).toBeGreaterThan(before)
      before = after
    }
    expect(before).toBeLessThan(2 ** 53 / 1_000_000)
  })

  it('gap: consistency: an app created again under the same id has another one', async () => {
    const create = () =>
      server.dashboard
        .data('mutation { createApp(id: "again", name: "Again") { id } }')
        .then(() => version('again'))
    const first = await create()
    await sql(`delete from app where id = 'again'`)
    expect(await create()).not.toBe(first)
  })
})
