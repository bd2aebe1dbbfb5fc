import { rowsOf } from '../../../server/test/harness/database.ts'
import type { TestServer } from '../../../server/test/harness/server.ts'

/** A small catalogue with subscribers: of `basic` one has used 8 of 10 calls and one 2. */
export async function furnish({ admin, dashboard, databaseUrl }: TestServer): Promise<void> {
  await admin.data(`mutation {
    calls: createFeature(input: {id: "calls", name: "API calls", type: CONSUMABLE, unitLabel: "call", unitLabelPlural: "calls"}) { id }
    sso: createFeature(input: {id: "sso", name: "Single sign-on", type: BINARY}) { id }
    basic: createPackage(input: {id: "basic", name: "Basic", features: [{id: "calls", entitlement: {limit: 10}}]}) { id }
    extra: createPackage(input: {id: "extra", name: "Extra calls", isAddon: true, features: [{id: "calls", entitlement: {limit: 5}}]}) { id }
    ada: createUser(input: {id: "ada", name: "Ada Lovelace", email: "ada@example.com", billingId: "cus_ada"}) { id }
    bob: createUser(input: {id: "bob", name: "Bob", email: "bob@example.com"}) { id }
  }`)
  await dashboard.data(`mutation {
    basic: publishPackage(appId: "default", id: "basic") { id }
    extra: publishPackage(appId: "default", id: "extra") { id }
  }`)
  await admin.data(`mutation {
    ada: subscribe(userId: "ada", packageIds: ["basic"]) { id }
    bob: subscribe(userId: "bob", packageIds: ["basic"]) { id }
    eight: recordUsage(input: {userId: "ada", featureId: "calls", delta: 8}) { recorded }
    two: recordUsage(input: {userId: "bob", featureId: "calls", delta: 2}) { recorded }
  }`)
  await furnishEndpoints(databaseUrl)
}

/** An endpoint with a delivery of each outcome, and one that Tollgate has disabled. Nothing is sent: no time comes. */
async function furnishEndpoints(connectionString: string): Promise<void> {
  const sql = (text: string, values: unknown[] = []) => rowsOf({ connectionString }, text, values)
  const attempt = (status: number | null, error: string | null) =>
    JSON.stringify([
      { at: Date.UTC(2026, 0), durationMs: 31, status, error, body: status ? 'Not today' : '' },
    ])
  await sql(
    `insert into webhook_endpoint (app_id, id, url, types, description, secret, enabled, disabled_at, disabled_reason, failing_since)
     values ('default', 'we_crm', 'https://crm.invalid/hooks', '{feature.deleted}', 'CRM', '', true, null, null, now()),
       ('default', 'we_old', 'https://old.invalid/hooks', '{}', null, '', false, now(), 'FAILING', now())`,
  )
  await sql(
    `insert into webhook_delivery (app_id, endpoint_id, event_id, event_type, state, attempts, due_at, log)
     values ('default', 'we_crm', 'evt_1', 'webhook.test', 'SUCCEEDED', 1, null, $1),
       ('default', 'we_crm', 'evt_2', 'webhook.test', 'FAILED', 10, null, $2),
       ('default', 'we_crm', 'evt_3', 'webhook.test', 'PENDING', 1, '2999-01-01', $3)`,
    [attempt(200, null), attempt(500, null), attempt(null, 'connection refused')],
  )
}
