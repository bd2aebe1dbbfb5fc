import { expect, vi } from 'vitest'
import type { Client, Data } from './client.ts'
import { rowsOf } from './database.ts'
import { PATIENCE_MS } from './patience.ts'
import { createApp, type TestServer } from './server.ts'

const ONE = `id title state undoable rows changing done refused undone kept problem memberEmail skipped { message count }`

/** Bulk changes of a server, through its dashboard. */
export function bulkChanges(server: () => { dashboard: Client; databaseUrl: string }) {
  const sql = (text: string, values: unknown[] = []) =>
    rowsOf({ connectionString: server().databaseUrl }, text, values)
  const start = async (appId: string, input: object): Promise<Data> =>
    (
      await server().dashboard.data(
        `mutation ($appId: String!, $input: BulkChangeInput!) { startBulkChange(appId: $appId, input: $input) { ${ONE} } }`,
        { appId, input },
      )
    ).startBulkChange
  const find = async (appId: string, id: string): Promise<Data> =>
    (
      await server().dashboard.data(
        `query ($appId: String!, $id: String!) { bulkChange(appId: $appId, id: $id) { ${ONE} } }`,
        { appId, id },
      )
    ).bulkChange
  const settled = (appId: string, id: string): Promise<Data> =>
    vi.waitFor(
      async () => {
        const found = await find(appId, id)
        expect(found.state).not.toMatch(/ING$/)
        return found
      },
      { timeout: PATIENCE_MS, interval: 50 },
    )
  const sent = async (way: 'apply' | 'undo' | 'stop', appId: string, id: string): Promise<Data> => {
    const name = `${way}BulkChange`
    const text = `mutation ($appId: String!, $id: String!) { ${name}(appId: $appId, id: $id) { state } }`
    return (await server().dashboard.data(text, { appId, id }))[name]
  }
  const begin = async (way: 'apply' | 'undo', appId: string, id: string): Promise<Data> => {
    await sent(way, appId, id)
    return settled(appId, id)
  }
  /** The change once no job works on it. */
  const stable = async (appId: string, id: string): Promise<Data> => {
    await vi.waitFor(
      async () =>
        expect(
          await sql(
            `select from graphile_worker.jobs where task_identifier = 'bulk-change' and locked_at is not null`,
          ),
        ).toEqual([]),
      { timeout: PATIENCE_MS, interval: 20 },
    )
    return find(appId, id)
  }
  const rowsIn = async (appId: string, id: string): Promise<Record<string, [string, string | null]>> => {
    const { bulkChangeRows } = await server().dashboard.data(
      `query ($appId: String!, $id: String!) { bulkChangeRows(appId: $appId, id: $id, first: 500) { rows { userId outcome message } } }`,
      { appId, id },
    )
    return Object.fromEntries(
      bulkChangeRows.rows.map((row: Data) => [row.userId, [row.outcome, row.message]]),
    )
  }
  return { start, find, settled, sent, begin, stable, rowsIn, sql }
}

/** The number of skipped rows by reason. */
export const reasonsOf = ({ skipped }: Data) =>
  Object.fromEntries(skipped.map(({ message, count }: Data) => [message, count]))

/** The live subscription of a user. */
export const planOf = async (admin: Client, userId: string): Promise<Data | undefined> => {
  const { subscriptions } = await admin.data(
    'query ($userId: String!) { subscriptions(userId: $userId) { id status cancelAt trialEndsAt package { id } scheduled { packageId at } } }',
    { userId },
  )
  return subscriptions.find(({ status }: Data) => status === 'ACTIVE')
}

/** Users a to f: a, b and c have the plan free, d has pro, e is charged by a provider, f has no plan. */
export async function shop(server: TestServer, id: string): Promise<Client> {
  const admin = await createApp(server, id)
  await admin.data(
    'mutation { createFeature(input: { id: "calls", name: "Calls", type: CONSUMABLE }) { id } }',
  )
  for (const [plan, limit] of [
    ['free', 10],
    ['pro', 100],
  ]) {
    await admin.data(
      'mutation ($id: String!, $limit: SafeInt) { createPackage(input: { id: $id, name: $id, features: [{ id: "calls", entitlement: { limit: $limit } }] }) { id } }',
      { id: plan, limit },
    )
    await server.dashboard.data(
      'mutation ($app: String!, $id: String!) { publishPackage(appId: $app, id: $id) { id } }',
      { app: id, id: plan },
    )
  }
  for (const user of ['a', 'b', 'c', 'd', 'e', 'f'])
    await admin.data('mutation ($id: String!) { createUser(input: { id: $id, name: $id }) { id } }', {
      id: user,
    })
  for (const user of ['a', 'b', 'c', 'd', 'e'])
    await admin.data(
      'mutation ($id: String!, $plan: String!) { subscribe(userId: $id, packageIds: [$plan]) { id } }',
      { id: user, plan: user === 'd' ? 'pro' : 'free' },
    )
  await rowsOf(
    { connectionString: server.databaseUrl },
    `insert into provider_subscription (app_id, provider, ref, user_uid, status, made_at, live)
     select app_id, 'sandbox', 'bill', uid, 'active', now(), true from users where app_id = $1 and id = 'e'`,
    [id],
  )
  await rowsOf(
    { connectionString: server.databaseUrl },
    `update subscription set provider = 'sandbox', provider_ref = 'bill'
     where app_id = $1 and user_uid = (select uid from users where app_id = $1 and id = 'e')`,
    [id],
  )
  return admin
}

export const USERS = { list: 'USERS' }
export const TO_PRO = { changePlan: { packageId: 'pro', when: 'NOW' } }
