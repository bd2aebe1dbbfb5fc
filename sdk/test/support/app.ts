import { createUsers, publishPackage, type TestApp } from '../../../server/test/harness/catalogue.ts'
import { rowsOf } from '../../../server/test/harness/database.ts'
import { adminClient, type TestServer } from '../../../server/test/harness/server.ts'
import { Tollgate, type TollgateOptions } from '../../src/node.ts'

/** An app of its own with a user `ann`, who may use as many `calls` as given. */
export interface SdkApp extends TestApp {
  apiKey: string
  /** A client of this app. */
  tollgate(options?: TollgateOptions): Tollgate
  /** Lets pages of these origins use the client API. */
  allow(...origins: string[]): Promise<unknown>
  /** What the ledger holds: how many records, and their sum, which is the counter. */
  ledger(): Promise<{ records: number; sum: number }>
}

let made = 0

export async function sdkApp(server: TestServer, limit = 1_000_000): Promise<SdkApp> {
  const id = `sdk-${++made}`
  const { createApiKey } = await server.dashboard.data(
    `mutation ($id: String!) {
      createApp(id: $id, name: "Test") { id }
      createApiKey(appId: $id, name: "test") { secret }
    }`,
    { id },
  )
  const apiKey: string = createApiKey.secret
  const app = { id, admin: adminClient(server.url, apiKey), dashboard: server.dashboard.of(id) }
  await publishPackage(app, 'plan', { calls: { limit } })
  await createUsers(app.admin, ['ann'])
  await app.admin.data('mutation { subscribe(userId: "ann", packageIds: ["plan"]) { id } }')
  return {
    ...app,
    apiKey,
    tollgate: (options) => new Tollgate({ apiKey, baseUrl: server.url, ...options }),
    allow: (...origins) =>
      server.dashboard.data(
        'mutation ($id: String!, $origins: [String!]!) { setOrigins(appId: $id, origins: $origins) { id } }',
        { id, origins },
      ),
    async ledger() {
      const [row] = await rowsOf<{ records: number; sum: number; counter: number }>(
        { connectionString: server.databaseUrl },
        `select count(*)::int as records, coalesce(sum(delta), 0)::int as sum,
          (select coalesce(sum(used), 0)::int from usage_counter where app_id = $1) as counter
        from usage_ledger where app_id = $1`,
        [id],
      )
      if (!row || row.sum !== row.counter)
        throw new Error(`the ledger and the counter differ: ${JSON.stringify(row)}`)
      return { records: row.records, sum: row.sum }
    },
  }
}

export { CALL } from './call.ts'
