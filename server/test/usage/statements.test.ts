import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { setImmediate as turn } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { adminSchema } from '../../src/graphql/admin/schema.ts'
import { askFast } from '../harness/burst.ts'
import { TEST_CELLS } from '../harness/cells-by-hand.ts'
import type { Client, Variables } from '../harness/client.ts'
import { MANY, makeMany, named } from '../harness/many.ts'
import { onCluster } from '../harness/one-server.ts'
import { startTestServer, type TestServer } from '../harness/server.ts'
import { type Statement, watchStatements } from '../harness/statements.ts'
import { operationNames, type Root, wholeOperation } from '../harness/whole-operation.ts'

// How many statements an operation takes, `begin` and `commit` among them: the same for one object and for fifty.
// The catalogue and the key are in memory, as they are while an application runs.

const schema = adminSchema()

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
  await holdJobs(server.databaseUrl)
  await makeMany(server)
})
afterAll(() => server.stop())

/** No job runs from now on: the statements of those that come with the minute would be counted with an operation's. */
async function holdJobs(connectionString: string): Promise<void> {
  const db = new pg.Client({ connectionString })
  await db.connect()
  await db.query(`
    create function never_run() returns trigger language plpgsql as
      $$ begin new.run_at := 'infinity'; return new; end $$;
    create trigger never_run before insert or update of run_at on graphile_worker._private_jobs
      for each row execute function never_run();
    update graphile_worker._private_jobs set run_at = 'infinity';`)
  await db.end()
}

async function statementsDuring(work: () => Promise<unknown>): Promise<Statement[]> {
  await server.admin.data('{ features(first: 1) { id } }')
  const statements: Statement[] = []
  const stop = watchStatements((statement) => {
    // Now and then, as time passes, a connection is opened, the key is looked up anew, what was counted is written, and
    // a background worker shows that it is alive.
    const passing = [
      'set_config',
      'from api_key where hash',
      'update api_key',
      'insert into activity',
      'insert into feature_activity',
      'recent_usage',
      'job_worker',
    ]
    if (!passing.some((text) => statement.text.includes(text))) statements.push(statement)
    return undefined
  })
  try {
    await work()
  } finally {
    stop()
  }
  return statements
}

interface Row {
  /** also for fifty, unless that is said */
  statements: number
  forMany?: number
  /** of a mutation with an Idempotency-Key, and of one that comes again */
  keyed?: [first: number, again: number]
  /** `count` of whatever it takes or shows several of; `turn` makes new ids */
  variables(count: number, turn: string): Variables
}

const QUERIES: Record<string, Row> = {
  feature: { statements: 1, variables: (count) => ({ id: count === 1 ? 'f2' : 'f1' }) },
  features: { statements: 1, variables: (first) => ({ first }) },
  canUseFeature: {
    statements: 1,
    variables: (count) => ({ userId: count === 1 ? 'u2' : 'u1', featureId: 'f1' }),
  },
  // The two lanes share them.
  canUseFeatures: {
    statements: 1,
    forMany: 2,
    variables: (count) => ({ userId: 'u1', featureIds: named('f', count) }),
  },
  showUsage: {
    statements: 4,
    variables: (count) => ({ userId: count === 1 ? 'u2' : 'u1', featureId: 'f1' }),
  },
  package: { statements: 1, variables: (count) => ({ id: count === 1 ? 'a1' : 'plan' }) },
  packages: { statements: 1, variables: (first) => ({ first }) },
  migration: { statements: 10, variables: () => ({ id: migrationId }) },
  user: { statements: 2, variables: () => ({ id: 'u1' }) },
  users: { statements: 2, variables: (first) => ({ first }) },
  exportUser: { statements: 19, variables: () => ({ id: 'u1' }) },
  subscription: { statements: 2, variables: () => ({ id: subscriptionId }) },
  subscriptions: { statements: 3, variables: (first) => ({ first }) },
  overrides: { statements: 2, variables: () => ({ userId: 'u1' }) },
}

const MUTATIONS: Record<string, Row> = {
  createFeature: {
    statements: 9,
    keyed: [14, 5],
    variables: (_, turn) => ({ input: { id: `new ${turn}`, name: 'New', type: 'BINARY' } }),
  },
  updateFeature: {
    statements: 10,
    keyed: [15, 5],
    variables: () => ({ id: 'f1', input: { name: 'F' } }),
  },
  createPackage: {
    statements: 10,
    keyed: [15, 5],
    variables: (count, turn) => ({
      input: { id: `new ${turn}`, name: 'New', features: named('f', count).map((id) => ({ id })) },
    }),
  },
  updatePackage: {
    statements: 10,
    keyed: [15, 5],
    variables: () => ({ id: 'plan', input: { metadata: {} } }),
  },
  createUser: { statements: 5, keyed: [10, 5], variables: (_, turn) => ({ input: { id: `new ${turn}` } }) },
  updateUser: { statements: 7, keyed: [12, 5], variables: () => ({ id: 'u1', input: { name: 'U' } }) },
  subscribe: {
    statements: 8,
    keyed: [13, 5],
    variables: (count, turn) => ({ userId: `fresh ${turn}`, packageIds: ['plan', ...named('a', count)] }),
  },
  cancelSubscription: {
    statements: 18,
    keyed: [24, 1],
    variables: () => ({ id: subscriptionId }),
  },
  // Only the first finds an end to take back, and add-ons with it.
  keepSubscription: {
    statements: 18,
    forMany: 17,
    keyed: [23, 1],
    variables: () => ({ id: subscriptionId }),
  },
  // The catalogue changes with the first override of a feature, and then no more.
  setOverride: {
    statements: 7,
    keyed: [12, 5],
    variables: (count) => ({
      input: { userId: count === 1 ? 'u3' : 'u4', featureId: 'f3', mode: 'ADD', limit: 5 },
    }),
  },
  // There is none to remove.
  removeOverride: {
    statements: 5,
    keyed: [10, 5],
    variables: () => ({ userId: 'u5', featureId: 'f3' }),
  },
  migrateSubscriptions: {
    statements: 19,
    keyed: [25, 1],
    // There and back, so that there is always somebody to move.
    variables: (_, turn) =>
      turn.endsWith('plain')
        ? { packageId: 'a1', fromVersion: 1, toVersion: 2 }
        : { packageId: 'a1', fromVersion: 2, toVersion: 1 },
  },
  undoMigration: {
    statements: 21,
    keyed: [27, 1],
    variables: () => ({ id: migrationId }),
  },
  changeSubscription: {
    statements: 17,
    keyed: [23, 1],
    variables: (_, turn) => ({ userId: `changed ${turn}`, packageId: 'plan', quantity: 2, when: 'NOW' }),
  },
  cancelScheduledChange: {
    statements: 15,
    keyed: [21, 1],
    variables: (_, turn) => ({ userId: `scheduled ${turn}` }),
  },
  startTrial: {
    statements: 11,
    keyed: [16, 5],
    variables: (_, turn) => ({ userId: `tried ${turn}`, packageId: 'plan', days: 1 }),
  },
  extendTrial: {
    statements: 14,
    keyed: [19, 5],
    variables: (_, turn) => ({ id: trials.get(turn), until: IN_A_YEAR }),
  },
  recordUsage: {
    statements: 2,
    keyed: [3, 1],
    variables: () => ({ input: { userId: 'u1', featureId: 'f1', delta: 1 } }),
  },
  recordUsages: {
    statements: 2,
    keyed: [10, 5],
    variables: (count) => ({
      inputs: named('f', count).map((featureId) => ({ userId: 'u1', featureId, delta: 1 })),
    }),
  },
  generateSubscriptionLink: {
    statements: 6,
    keyed: [11, 5],
    variables: () => ({
      userId: 'u1',
      templateId: 'none',
      successUrl: 'https://a.example',
      cancelUrl: 'https://b.example',
    }),
  },
  generateUserToken: { statements: 6, keyed: [11, 6], variables: () => ({ userId: 'u1' }) },
  // Each is somebody who was subscribed above.
  deleteUser: { statements: 40, keyed: [47, 1], variables: (_, turn) => ({ id: `fresh ${turn}` }) },
}

let subscriptionId = ''
/** undone */
let migrationId = ''
/** by turn */
const trials = new Map<string, string>()
const IN_A_YEAR = new Date(Date.now() + 365 * 86_400_000).toISOString()
beforeAll(async () => {
  const { subscriptions } = await server.admin.data('{ subscriptions(first: 1) { id } }')
  subscriptionId = subscriptions[0].id
  await server.admin.data(
    'mutation { setOverride(input: { userId: "u6", featureId: "f3", mode: ADD, limit: 1 }) { mode } }',
  )
  await server.dashboard.data(`mutation {
    editPackage(appId: "default", id: "a1", input: { name: "Next" }) { id }
    publishPackage(appId: "default", id: "a1", for: NEW_ONLY) { id }
  }`)
  const { migrateSubscriptions } = await server.admin.data(
    'mutation { migrateSubscriptions(packageId: "a1", fromVersion: 1, toVersion: 2) { id } }',
  )
  migrationId = migrateSubscriptions.id
  await server.admin.data('mutation ($id: String!) { undoMigration(id: $id) { id } }', { id: migrationId })
  // The first token of an app makes the key that signs them.
  await server.admin.data('mutation { generateUserToken(userId: "u1") { token } }')
  for (const turn of ['1 plain', '1 keyed', `${MANY} plain`, `${MANY} keyed`]) {
    await server.admin.data('mutation ($id: String!) { createUser(input: { id: $id }) { id } }', {
      id: `fresh ${turn}`,
    })
    await server.admin
      .data(
        `mutation ($changed: String!, $scheduled: String!, $tried: String!, $extended: String!) {
        a: createUser(input: { id: $changed }) { id }
        b: createUser(input: { id: $scheduled }) { id }
        c: createUser(input: { id: $tried }) { id }
        d: createUser(input: { id: $extended }) { id }
        e: subscribe(userId: $changed, packageIds: ["plan"]) { id }
        f: subscribe(userId: $scheduled, packageIds: ["plan"]) { id }
        g: changeSubscription(userId: $scheduled, packageId: "plan", quantity: 2, when: PERIOD_END) { now }
        trial: startTrial(userId: $extended, packageId: "plan", days: 1) { id }
      }`,
        {
          changed: `changed ${turn}`,
          scheduled: `scheduled ${turn}`,
          tried: `tried ${turn}`,
          extended: `extended ${turn}`,
        },
      )
      .then(({ trial }) => trials.set(turn, trial.id))
  }
})

/** Fails only for want of billing, which is an answer too. */
async function ask(client: Client, query: string, variables: Variables): Promise<void> {
  const { errors } = await client.ask(query, variables)
  if (errors?.some(({ extensions }) => extensions.code !== 'SUBSCRIPTION_LINK_ERROR')) {
    throw new Error(JSON.stringify(errors))
  }
}

describe.each([
  { root: 'query' as Root, rows: QUERIES },
  { root: 'mutation' as Root, rows: MUTATIONS },
])('the statements of every $root', ({ root, rows }) => {
  it('spec §4: each has a row here', () => {
    expect(Object.keys(rows).sort()).toEqual(operationNames(schema, root).sort())
  })

  const cases = Object.entries(rows).flatMap(([name, { variables, statements, forMany, keyed }]) => [
    { name, count: 1, statements, keyed, variables },
    { name, count: MANY, statements: forMany ?? statements, keyed, variables },
  ])
  it.skipIf(onCluster || TEST_CELLS > 1).each(cases)(
    'spec §4: $name with every field, of $count: $statements',
    async ({ name, count, statements, keyed, variables }) => {
      const query = wholeOperation(schema, root, name)
      const plain = variables(count, `${count} plain`)
      const sent = await statementsDuring(() => ask(server.admin, query, plain))
      const texts = sent.map(({ text }) => text).join('\n')
      expect(sent.length, texts).toBe(statements)
      if (!keyed) return
      const client = server.admin.with({ 'Idempotency-Key': `${name} ${count}` })
      const counts: number[] = []
      for (let use = 0; use < 2; use++) {
        const work = () => ask(client, query, variables(count, `${count} keyed`))
        counts.push((await statementsDuring(work)).length)
      }
      expect(counts).toEqual(keyed)
    },
  )
})

describe('calls at the same time', () => {
  const CHECK = 'query ($id: String!) { canUseFeature(userId: $id, featureId: "f1") { access } }'
  const RECORD = 'mutation ($input: CreateUsageEventInput!) { recordUsage(input: $input) { recorded } }'

  /** Has all requests arrive while the first statements are held up, so that the rest can share. */
  async function together(query: string, variables: (user: string) => Variables): Promise<void> {
    const holder = new pg.Client({ connectionString: server.databaseUrl })
    await holder.connect()
    await holder.query('begin; lock table usage_counter in access exclusive mode')
    let arrived = 0
    const count = () => {
      arrived++
    }
    subscribe('http.server.request.start', count)
    // A header that is not plain leads them through node:http, which tells of them.
    const odd = { x_odd: '1' }
    const answers = Promise.all(
      named('u', MANY).map((user) => askFast(server.url, query, variables(user), odd)),
    )
    while (arrived < MANY) await turn()
    unsubscribe('http.server.request.start', count)
    // Until the last of them is read, too.
    for (let i = 0; i < 50; i++) await turn()
    await holder.query('commit')
    await holder.end()
    await answers
  }

  // Each of two lanes takes what comes first, and then its half of the rest; or all of it comes at once.
  const CALLS = [
    {
      what: 'checks',
      query: CHECK,
      variables: (id: string): Variables => ({ id }),
      statements: ['read-holdings'],
    },
    {
      what: 'events',
      query: RECORD,
      variables: (userId: string): Variables => ({ input: { userId, featureId: 'f2', delta: 1 } }),
      statements: ['read-holdings', 'write-usage-new'],
    },
  ]
  it.skipIf(onCluster || TEST_CELLS > 1).each(CALLS)(
    'gap: batches: 50 $what share at most 4 times $statements',
    async (row) => {
      const sent = await statementsDuring(() => together(row.query, row.variables))
      const names = sent.flatMap(({ name }) => name ?? [])
      // One that came alone was asked about alone.
      const kinds = names.map((name) => (name === 'read-holding' ? 'read-holdings' : name))
      expect([...new Set(kinds)].sort()).toEqual(row.statements)
      for (const name of row.statements) {
        expect(kinds.filter((other) => other === name).length).toBeLessThanOrEqual(4)
      }
    },
  )

  it('gap: batches: what several ask about one user and feature is asked once', async () => {
    const query = 'query ($id: String!) { canUseFeature(userId: $id, featureId: "f1") { access } }'
    const sent = await statementsDuring(() => together(query, () => ({ id: 'u1' })))
    const reads = sent.filter(({ name }) => name?.startsWith('read-holding'))
    expect(reads.length).toBeGreaterThan(0)
    for (const { values } of reads) {
      // One row for each kind of period that the feature is counted in.
      const [, users] = values
      expect(String(users).split(',').length).toBeLessThanOrEqual(2)
    }
  })

  // Ids that cannot be anybody's are asked about together with others: none is taken for another.
  const WEIRD = [
    ['u1', 'f1'],
    ['u1\nf1', ''],
    ['u', '1f1'],
    ['', 'u1f1'],
    ['u1 f1', 'f1'],
    ['2 u1', 'f1'],
    ['u1f', '1'],
  ]
  it('gap: batches: questions that look alike are not mixed up', async () => {
    const ask = ([userId, featureId]: string[]) =>
      server.admin.ask(
        'query ($userId: String!, $featureId: String!) { canUseFeature(userId: $userId, featureId: $featureId) { reasonCode } }',
        { userId, featureId },
      )
    const alone: unknown[] = []
    for (const question of WEIRD) alone.push(await ask(question))
    for (let round = 0; round < 5; round++) {
      expect(await Promise.all(WEIRD.map(ask))).toEqual(alone)
    }
  })
})
