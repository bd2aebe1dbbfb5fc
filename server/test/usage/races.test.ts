import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { insistFast } from '../harness/burst.ts'
import { createUsers, publishPackage } from '../harness/catalogue.ts'
import type { Client } from '../harness/client.ts'
import { rowsOf, type TestDatabase } from '../harness/database.ts'
import { openServers, type Servers } from '../harness/servers.ts'

// Invariants, whatever runs at the same time and wherever: a user has at most one live base plan; without overage
// usage never passes the budget; a counter is the sum of its ledger rows; a key has one effect and one answer.

const SUBSCRIBE = `mutation ($userId: String!, $packageIds: [String!]!) {
  subscribe(userId: $userId, packageIds: $packageIds) { id status package { id } }
}`
const RECORD = `mutation ($input: CreateUsageEventInput!) {
  recordUsage(input: $input) { recorded reason consumption { used } }
}`
const RECORD_BATCH = `mutation ($inputs: [CreateUsageEventInput!]!) {
  recordUsages(inputs: $inputs) { recorded consumption { used } }
}`

const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))

/** Works through all items, so many at a time. */
async function eachOf<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = items.values()
  await Promise.all(
    times(atOnce, async () => {
      for (const item of left) await work(item)
    }),
  )
}

interface Count {
  user: string
  feature: string
  used: number
  sum: number
  rows: number
  /** ledger rows that do not go on from where the row before them left the counter */
  breaks: number
}

const counts = ({ url }: TestDatabase, users: readonly string[]) =>
  rowsOf<Count>(
    { connectionString: url },
    `select u.id as user, c.feature_id as feature, c.used::float, sum(l.delta)::float as sum, count(*)::int as rows,
       (count(*) filter (where l.used - l.delta <> l.before))::int as breaks
     from usage_counter c join users u on u.app_id = c.app_id and u.uid = c.user_uid
     join (select *, coalesce(lag(used) over (partition by user_uid, feature_id, period_start order by seq), 0) as before
           from usage_ledger) l
       on (l.app_id, l.user_uid, l.feature_id, l.reset_period, l.period_start)
        = (c.app_id, c.user_uid, c.feature_id, c.reset_period, c.period_start)
     where u.id = any($1) group by u.id, c.feature_id, c.used order by u.id, c.feature_id`,
    [users],
  )

describe.each([{ processes: 1 }, { processes: 2 }])('races with $processes server process(es)', ({
  processes,
}) => {
  let servers: Servers
  let next: () => Client
  beforeAll(async () => {
    // A busy machine may take longer than a caller would wait; what is tested is the outcome.
    servers = await openServers(processes, { TOLLGATE_REQUEST_TIMEOUT_MS: '60000' })
    let turn = 0
    next = () => servers.admin(turn++)
    await publishPackage(servers.app, 'plan', {
      call: { limit: 100 },
      seat: { limit: 10, overageEnabled: true },
    })
    await publishPackage(servers.app, 'rival', { call: { limit: 100 } })
  })
  afterAll(() => servers.close())

  async function subscribers(name: string, count: number): Promise<string[]> {
    const users = times(count, (i) => `${name}-${i}`)
    await createUsers(servers.admin(0), users)
    for (const userId of users) await servers.admin(0).data(SUBSCRIBE, { userId, packageIds: ['plan'] })
    return users
  }

  it('spec §4 mutation rule 3: 64 concurrent subscribe calls for each of 6 users leave one base plan each', {
    timeout: 300_000,
  }, async () => {
    const users = times(6, (i) => `rusher-${i}`)
    await createUsers(servers.admin(0), users)
    await eachOf(users, 3, async (userId) => {
      const answers = await Promise.all(
        times(64, (i) =>
          insistFast(
            servers.url(i),
            SUBSCRIBE,
            { userId, packageIds: [i % 3 === 0 ? 'rival' : 'plan'] },
            `${userId} ${i}`,
          ),
        ),
      )
      const refusals = answers.flatMap((answer) => answer.errors ?? [])
      expect(answers.filter((answer) => answer.data?.subscribe)).toHaveLength(1)
      expect(refusals).toHaveLength(63)
      expect(new Set(refusals.map((e) => e.message))).toEqual(new Set(['Cannot subscribe to multiple tiers']))
    })

    const live = await rowsOf<{ id: string; plans: number }>(
      { connectionString: servers.database.url },
      `select u.id, count(s.id)::int as plans from users u left join subscription s
         on s.user_uid = u.uid and s.cancelled_at is null and not s.is_addon
       where u.id like 'rusher-%' group by u.id`,
    )
    expect(live).toHaveLength(6)
    expect(live.filter(({ plans }) => plans !== 1)).toEqual([])
  })

  it('spec §4 mutation rule 5: of 200 concurrent uses of a budget of 100, exactly 100 are recorded', async () => {
    const users = await subscribers('spender', 3)
    for (const userId of users) {
      const answers = await Promise.all(
        times(200, () => next().data(RECORD, { input: { userId, featureId: 'call', delta: 1 } })),
      )
      const recorded = answers.filter(({ recordUsage }) => recordUsage.recorded)
      expect(recorded.map(({ recordUsage }) => recordUsage.consumption.used).sort((a, b) => a - b)).toEqual(
        times(100, (i) => i + 1),
      )
    }
    const expected = users.map((user) => ({
      user,
      feature: 'call',
      used: 100,
      sum: 100,
      rows: 100,
      breaks: 0,
    }))
    expect(await counts(servers.database, users)).toEqual(expected)
  })

  it('gap: the ledger: ADD, SET and revert at the same time leave the sum of the ledger in the counter', async () => {
    const [userId = ''] = await subscribers('mixer', 1)
    const answers = await Promise.all(
      times(400, (i) => {
        const featureId = i % 2 === 0 ? 'seat' : 'call'
        const event = [
          { delta: 1 + (i % 5) },
          { delta: i % 60, action: 'SET' },
          { delta: -(1 + (i % 7)) },
          { delta: 2, action: 'ADD' },
        ][(i >> 1) % 4]
        return next().data(RECORD, { input: { userId, featureId, ...event } })
      }),
    )
    const found = await counts(servers.database, [userId])
    expect(found.map(({ used, breaks }) => ({ used, breaks }))).toEqual(
      found.map(({ sum }) => ({ used: sum, breaks: 0 })),
    )
    expect(found.map(({ feature }) => feature)).toEqual(['call', 'seat'])
    expect(found[0] && found[1] && found[0].rows + found[1].rows).toBe(
      answers.filter(({ recordUsage }) => recordUsage.recorded).length,
    )
  })

  it('gap: batches: crossing recordUsages calls neither fail nor lose an event', async () => {
    const users = await subscribers('crosser', 4)
    const pairs = users.flatMap((userId) => ['call', 'seat'].map((featureId) => ({ userId, featureId })))
    await Promise.all(
      times(48, async (i) => {
        const inputs = (i % 2 === 0 ? pairs : pairs.toReversed()).map((pair) => ({ ...pair, delta: 1 }))
        const { recordUsages } = await next().data(RECORD_BATCH, { inputs })
        expect(recordUsages.map(({ recorded }: { recorded: boolean }) => recorded)).toEqual(
          pairs.map(() => true),
        )
      }),
    )
    expect(await counts(servers.database, users)).toEqual(
      pairs.map(({ userId, featureId }) => ({
        user: userId,
        feature: featureId,
        used: 48,
        sum: 48,
        rows: 48,
        breaks: 0,
      })),
    )
  })

  const KEYED = [
    {
      name: 'recordUsage',
      operation:
        'recordUsage(input: { userId: "USER", featureId: "call", delta: 3 }) { recorded consumption { used } }',
    },
    {
      name: 'recordUsage with a key of its own',
      operation: `recordUsage(input: { userId: "USER", featureId: "call", delta: 3, idempotencyKey: "USER" }) {
        recorded consumption { used }
      }`,
    },
    {
      name: 'recordUsages',
      operation: `recordUsages(inputs: [{ userId: "USER", featureId: "call", delta: 1 }, { userId: "USER", featureId: "call", delta: 2 }]) {
        recorded consumption { used }
      }`,
    },
  ]
  it.each(KEYED)('gap: idempotency: 32 concurrent calls of $name with one key count once', async ({
    name,
    operation,
  }) => {
    const [user = ''] = await subscribers(`keyed ${name}`, 1)
    const body = JSON.stringify({ query: `mutation { ${operation.replaceAll('USER', user)} }` })
    const key = operation.includes('idempotencyKey') ? {} : { 'Idempotency-Key': user }
    const answers = await Promise.all(times(32, async () => (await next().with(key).post(body)).text()))
    expect(answers[0]).toContain('"recorded":true,"consumption":{"used":3}')
    expect(new Set(answers).size).toBe(1)
    const [count] = await counts(servers.database, [user])
    expect(count).toMatchObject({ used: 3, sum: 3, breaks: 0 })
  })

  it('gap: idempotency: 32 concurrent calls of subscribe with one key subscribe once and all get the same answer', async () => {
    await createUsers(servers.admin(0), ['once'])
    const body = JSON.stringify({ query: SUBSCRIBE, variables: { userId: 'once', packageIds: ['plan'] } })
    const client = () => next().with({ 'Idempotency-Key': 'subscribe once' })
    const answers = await Promise.all(times(32, async () => (await client().post(body)).text()))
    const { subscriptions } = await servers.admin(0).data('{ subscriptions(userId: "once") { id } }')
    expect(subscriptions).toHaveLength(1)
    expect(answers[0]).toContain(subscriptions[0].id)
    expect(new Set(answers).size).toBe(1)
  })
})
