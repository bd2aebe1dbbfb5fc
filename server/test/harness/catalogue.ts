import type { Client } from './client.ts'
import { createApp, type TestServer } from './server.ts'

/** An app under test: its Admin API, and the dashboard that looks after it. */
export interface TestApp {
  id: string
  admin: Client
  dashboard: Client
}

let apps = 0

/** A new app of a server. */
export async function newTestApp(
  server: Pick<TestServer, 'url' | 'dashboard'>,
  options: { testClock?: boolean } = {},
): Promise<TestApp> {
  const id = `app-${++apps}`
  return { id, admin: await createApp(server, id, options), dashboard: server.dashboard.of(id) }
}

export interface Grant {
  limit?: number
  resetPeriod?: string
  overageEnabled?: boolean
  overageCap?: number
  caps?: { period: string; limit: number; perEntity?: string | null }[]
}

/** Publishes a package that grants these consumable features; makes the features that are new. */
export async function publishPackage(
  { id: appId, admin, dashboard }: TestApp,
  id: string,
  grants: Record<string, Grant>,
  isAddon = false,
): Promise<void> {
  const { features } = await admin.data('{ features { id } }')
  const known = new Set(features.map((feature: { id: string }) => feature.id))
  for (const feature of Object.keys(grants).filter((name) => !known.has(name))) {
    await admin.call('createFeature', { input: { id: feature, name: feature, type: 'CONSUMABLE' } })
  }
  await admin.call('createPackage', {
    input: {
      id,
      name: id,
      isAddon,
      features: Object.entries(grants).map(([feature, entitlement]) => ({ id: feature, entitlement })),
    },
  })
  await dashboard.call('publishPackage', { appId, id })
}

export async function createUsers(admin: Client, ids: readonly string[]): Promise<void> {
  for (let from = 0; from < ids.length; from += 50) {
    const fields = ids
      .slice(from, from + 50)
      .map((id, i) => `u${i}: createUser(input: { id: "${id}" }) { id }`)
    await admin.data(`mutation { ${fields.join(' ')} }`)
  }
}
