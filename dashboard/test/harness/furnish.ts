import type { TestServer } from '../../../server/test/harness/server.ts'

/** A small catalogue with subscribers: of `basic` one has used 8 of 10 calls and one 2. */
export async function furnish({ admin, dashboard }: TestServer): Promise<void> {
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
}
