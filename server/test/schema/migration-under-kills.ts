import { deepStrictEqual } from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import type { Client, Data } from '../harness/client.ts'

// A migration of many subscriptions on a process that is killed at any moment: afterwards everybody has moved or nobody
// has, whoever is asked. The same request again completes it, once; undoing it restores all.

/** A process of the service, with the owner's session. */
interface Node {
  admin: Client
  dashboard: Client
}

export interface Migrated {
  subscriptions: number
  /** those that are not killed */
  nodes: readonly [Node, Node]
  sql(text: string, values?: unknown[]): Promise<unknown>
  /** Starts one more, on the same database. */
  start(): Promise<{ admin: Client; kill(): Promise<unknown> }>
}

const MIGRATE = `mutation {
  migrateSubscriptions(packageId: "many", fromVersion: 1, toVersion: 2) { id status subscriptions moved }
}`
const TRY = `mutation {
  migrateSubscriptions(packageId: "many", fromVersion: 1, toVersion: 2, dryRun: true) { subscriptions moved }
}`

/** A package in two versions of 10 and 20 calls, the first of which `subscriptions` users have. */
export async function fillVersions({ nodes, sql, subscriptions }: Migrated): Promise<void> {
  const [{ admin, dashboard }] = nodes
  await admin.data(`mutation {
    createFeature(input: { id: "many-calls", name: "Calls", type: CONSUMABLE }) { id }
    createPackage(input: { id: "many", name: "Many", features: { id: "many-calls", entitlement: { limit: 10 } } }) { id }
  }`)
  await dashboard.data('mutation { publishPackage(appId: "default", id: "many") { id } }')
  await sql(
    `with made as (
       insert into users (app_id, id, metadata)
       select 'default', 'm' || i, '{}' from generate_series(0, $1::int - 1) i order by i returning uid, id)
     insert into subscription (app_id, id, user_uid, package_id, is_addon, started_at, anchor)
     select 'default', 'sub_' || id, uid, 'many', false, now(), now() - uid * interval '1 millisecond' from made`,
    [subscriptions],
  )
  await sql('analyze users, subscription')
  await dashboard.data(`mutation {
    editPackage(appId: "default", id: "many", input: {
      features: [{ id: "many-calls", entitlement: { limit: 20 } }] }) { id }
    publishPackage(appId: "default", id: "many", for: NEW_ONLY) { id }
  }`)
}

/** How many have each version, as `{ 1: 50000, 2: 0 }`. */
async function heldIn(dashboard: Client): Promise<Record<number, number>> {
  const packageVersions = await dashboard.call('packageVersions { versions { version held } }', {
    appId: 'default',
    packageId: 'many',
  })
  return Object.fromEntries(packageVersions.versions.map((v: Data) => [v.version, v.held]))
}

/** The budgets of some users, each told once. */
async function budgets(admin: Client, count: number): Promise<number[]> {
  const some = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((i) => Math.floor((i * (count - 1)) / 9))
  const fields = some.map(
    (i) => `m${i}: canUseFeature(userId: "m${i}", featureId: "many-calls") { consumption { budget } }`,
  )
  const checks: Data[] = Object.values(await admin.data(`{ ${[...new Set(fields)].join(' ')} }`))
  return [...new Set(checks.map(({ consumption }) => consumption.budget as number))]
}

/** One migration, one kill. Says whether everybody had moved when it was over; throws at whatever is not as it should be. */
export async function migrateAndKill(migrated: Migrated, key: string, random: number): Promise<boolean> {
  const { nodes, subscriptions } = migrated
  const [{ admin, dashboard }] = nodes
  const victim = await migrated.start()
  const began = performance.now()
  const { migrateSubscriptions: tried } = await victim.admin.data(TRY)
  const took = performance.now() - began
  deepStrictEqual(tried, { subscriptions, moved: subscriptions })

  const migration = victim.admin
    .with({ 'Idempotency-Key': key })
    .ask(MIGRATE)
    .catch(() => null)
  await delay(random * took * 1.5)
  await victim.kill()
  await migration
  const held = await heldIn(dashboard)
  const hadMoved = held[2] === subscriptions
  deepStrictEqual(held, hadMoved ? { 1: 0, 2: subscriptions } : { 1: subscriptions, 2: 0 })

  const { migrateSubscriptions: done } = await admin.with({ 'Idempotency-Key': key }).data(MIGRATE)
  deepStrictEqual({ ...done, id: '' }, { id: '', status: 'DONE', subscriptions, moved: subscriptions })
  for (const node of nodes) {
    deepStrictEqual(await heldIn(node.dashboard), { 1: 0, 2: subscriptions })
    deepStrictEqual(await budgets(node.admin, subscriptions), [20])
  }
  deepStrictEqual(await standing(dashboard), [done.id])

  await admin.data('mutation ($id: String!) { undoMigration(id: $id) { status } }', { id: done.id })
  for (const node of nodes) {
    deepStrictEqual(await heldIn(node.dashboard), { 1: subscriptions, 2: 0 })
    deepStrictEqual(await budgets(node.admin, subscriptions), [10])
  }
  return hadMoved
}

/** The migrations that were not undone. */
async function standing(dashboard: Client): Promise<string[]> {
  const packageVersions = await dashboard.call('packageVersions { migrations { id undoneAt } }', {
    appId: 'default',
    packageId: 'many',
  })
  return packageVersions.migrations.filter((m: Data) => m.undoneAt === null).map((m: Data) => m.id)
}
