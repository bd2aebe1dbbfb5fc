import type { Client } from './client.ts'
import type { TestServer } from './server.ts'

/** As many as are asked for where a list may be short or long. */
export const MANY = 50

export const named = (letter: string, count: number): string[] =>
  Array.from({ length: count }, (_, i) => `${letter}${i + 1}`)

/** One mutation for each id, a few to a request: documents are bounded. */
export async function forEach(
  client: Client,
  ids: readonly string[],
  field: (id: string) => string,
): Promise<void> {
  for (let from = 0; from < ids.length; from += 25) {
    const fields = ids.slice(from, from + 25).map((id) => `${id}: ${field(id)} { id }`)
    await client.data(`mutation { ${fields.join(' ')} }`)
  }
}

/**
 * Fills the app `default` for those who count: features f1 … f50, a base plan that grants them all, add-ons a1 … a50
 * that grant f1 as well, and users u1 … u50 on that plan, of whom u1 has all add-ons.
 */
export async function makeMany({ admin, dashboard }: Pick<TestServer, 'admin' | 'dashboard'>): Promise<void> {
  await forEach(
    admin,
    named('f', MANY),
    (id) => `createFeature(input: { id: "${id}", name: "F", type: CONSUMABLE })`,
  )
  await admin.call('createPackage', {
    input: {
      id: 'plan',
      name: 'Plan',
      features: named('f', MANY).map((id) => ({ id, entitlement: { limit: 1000 } })),
    },
  })
  await forEach(
    admin,
    named('a', MANY),
    (id) => `createPackage(input: { id: "${id}", name: "A", isAddon: true, features: { id: "f1" } })`,
  )
  await forEach(
    dashboard,
    ['plan', ...named('a', MANY)],
    (id) => `publishPackage(appId: "default", id: "${id}")`,
  )
  await forEach(admin, named('u', MANY), (id) => `createUser(input: { id: "${id}" })`)
  await forEach(admin, named('u', MANY), (id) => `subscribe(userId: "${id}", packageIds: ["plan"])`)
  await admin.call('subscribe', { userId: 'u1', packageIds: named('a', MANY) })
}
