import { afterAll, beforeAll, expect, it } from 'vitest'
import { createUsers, publishPackage } from './harness/catalogue.ts'
import type { Client } from './harness/client.ts'
import { rowsOf } from './harness/database.ts'
import { openServers, type Servers } from './harness/servers.ts'

// Changes, cancellations, subscriptions and checks of one user, all at once on two processes. Invariants: nobody ever sees
// two base plans or is refused for another reason than the rules; every acknowledged change leaves the subscription it
// started, and no other does; what is planned follows the plan that is live.

const USERS = 6
const RACERS = 64

let servers: Servers
beforeAll(async () => {
  servers = await openServers(2)
  for (const id of ['a', 'b', 'c']) await publishPackage(servers.app, id, { call: { limit: 10 } })
})
afterAll(() => servers?.close())

const CALLS = [
  (packageId: string) => `changeSubscription(userId: "USER", packageId: "${packageId}", when: NOW) { now }`,
  (packageId: string) =>
    `changeSubscription(userId: "USER", packageId: "${packageId}", when: PERIOD_END) { now }`,
  (packageId: string) => `subscribe(userId: "USER", packageIds: ["${packageId}"]) { id }`,
  (packageId: string) => `startTrial(userId: "USER", packageId: "${packageId}", days: 9, again: true) { id }`,
  () => 'cancelScheduledChange(userId: "USER") { id }',
  () => 'CANCEL',
]
const STARTS = [true, false, true, true, false, false]
const REFUSALS =
  /has "[abc]" already|no base plan to change|multiple tiers|already subscribed|No change of this user|not found|has ended/i

it('property: gap: lifecycle: however changes race, one base plan is live, and each acknowledged one happened', async () => {
  for (let i = 0; i < USERS; i++) await raceOf(`user-${i}`)
}, 180_000)

async function raceOf(userId: string): Promise<void> {
  await createUsers(servers.admin(0), [userId])
  await servers.admin(0).data(`mutation { subscribe(userId: "${userId}", packageIds: ["a"]) { id } }`)
  let started = 1
  const seen: number[] = []
  await Promise.all(
    Array.from({ length: RACERS }, async (_, i) => {
      const admin = servers.admin(i)
      const kind = (i * 7 + userId.length + i) % CALLS.length
      const text = CALLS[kind]?.('abc'[(i * 5) % 3] ?? 'a') ?? ''
      const asked = text === 'CANCEL' ? await cancelling(admin, userId) : text.replace('USER', userId)
      const { errors } = await admin.ask(`mutation { ${asked} }`)
      if (errors) expect(errors[0]?.message).toMatch(REFUSALS)
      else if (STARTS[kind]) started += 1
      seen.push(await liveOf(admin, userId))
    }),
  )
  expect(Math.max(...seen)).toBeLessThanOrEqual(1)
  const rows = await rowsOf<{ id: string; live: boolean; follows: string | null }>(
    { connectionString: servers.database.url },
    `select s.id, s.cancelled_at is null as live, s.follows from subscription s
     join users u on u.app_id = s.app_id and u.uid = s.user_uid where u.id = $1`,
    [userId],
  )
  const planned = rows.filter(({ follows }) => follows !== null)
  const live = rows.filter(({ live, follows }) => live && follows === null)
  expect(rows.length - planned.length).toBe(started)
  expect(live.length).toBeLessThanOrEqual(1)
  expect(planned.map(({ follows }) => follows)).toEqual(planned.length > 0 ? [live[0]?.id] : [])
}

async function cancelling(admin: Client, userId: string): Promise<string> {
  const { subscriptions } = await admin.data(
    'query ($userId: String!) { subscriptions(userId: $userId) { id status } }',
    { userId },
  )
  const id = subscriptions.at(-1)?.id
  return `cancelSubscription(id: "${id}", atPeriodEnd: false) { id }`
}

async function liveOf(admin: Client, userId: string): Promise<number> {
  const { subscriptions } = await admin.data(
    'query ($userId: String!) { subscriptions(userId: $userId) { status } }',
    { userId },
  )
  return subscriptions.filter(({ status }: { status: string }) => status === 'ACTIVE').length
}
