import type { TestServer } from './server.ts'

/** Fills the app `default` with one of everything that an answer may show. */
export async function furnish({ admin, dashboard }: Pick<TestServer, 'admin' | 'dashboard'>): Promise<void> {
  await admin.data(`mutation {
    calls: createFeature(input: { id: "calls", name: "Calls", type: CONSUMABLE, unitLabel: "call", unitLabelPlural: "calls", metadata: { tier: 1, tags: ["a"] } }) { id }
    seats: createFeature(input: { id: "seats", name: "Seats", type: CONSUMABLE }) { id }
    storage: createFeature(input: { id: "storage", name: "Storage", type: CONSUMABLE }) { id }
    export: createFeature(input: { id: "export", name: "Export", type: BINARY }) { id }
    plan: createPackage(input: { id: "plan", name: "Plan", metadata: { colour: "red" }, features: [
      { id: "calls", entitlement: { limit: 10 } },
      { id: "seats", entitlement: { limit: 2, resetPeriod: NEVER, overageEnabled: true } },
      { id: "storage" }, { id: "export" }] }) { id }
    extra: createPackage(input: { id: "extra", name: "Extra", isAddon: true, features: { id: "calls", entitlement: { limit: 5 } } }) { id }
    draft: createPackage(input: { id: "draft", name: "Draft" }) { id }
    ann: createUser(input: { id: "ann", name: "Ann", email: "ann@example.com", billingId: "cus_1", metadata: { vip: true, nested: { deep: [1, null] } } }) { id }
    bob: createUser(input: { id: "bob" }) { id }
  }`)
  await dashboard.data(`mutation {
    plan: publishPackage(appId: "default", id: "plan") { id }
    extra: publishPackage(appId: "default", id: "extra") { id }
    price: createPrice(appId: "default", packageId: "plan", input: {
      id: "price_plan", amount: 1200, currency: "usd", interval: "month" }) { id }
    template: createBillingTemplate(appId: "default", input: { id: "plan", name: "Plan", packageIds: "plan" }) { id }
    edit: editPackage(appId: "default", id: "plan", input: { name: "Next plan" }) { id }
  }`)
  await admin.data(`mutation {
    subscribe(userId: "ann", packageIds: ["plan", "extra"]) { id }
    recordUsage(input: { userId: "ann", featureId: "calls", delta: 3 }) { recorded }
  }`)
}
