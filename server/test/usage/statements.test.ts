import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { setImmediate as turn } from 'node:timers/promises'
import pg from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import { ADMIN_MUTATIONS, ADMIN_QUERIES } from '../../src/operations/registry/registry.ts'
import { EXAMPLES } from '../examples/examples.ts'
import { newTurn, readyCall } from '../examples/run.ts'
import { furnishWorld, type World } from '../examples/world.ts'
import { askFast } from '../harness/burst.ts'
import { TEST_CELLS } from '../harness/cells-by-hand.ts'
import type { Variables } from '../harness/client.ts'
import { holdJobs } from '../harness/hold-jobs.ts'
import { forEach, MANY, named } from '../harness/many.ts'
import { onCluster } from '../harness/one-server.ts'
import { MASTER_KEY_SETTINGS, startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'
import { type Statement, watchStatements } from '../harness/statements.ts'

// How many statements an operation takes, `begin` and `commit` among them: the same for one object and for fifty.
// The catalogue and the key are in memory, as they are while an application runs.

const server = shared(() => startTestServer({ env: MASTER_KEY_SETTINGS }))
let world: World
beforeAll(async () => {
  // The statements of a job that comes with the minute would be counted with an operation's.
  await holdJobs(server.databaseUrl)
  await holdEvents(server.databaseUrl)
  world = await furnishWorld(server, { ...server, id: 'default' }, { count: MANY, limit: 1000 })
  // The first token of an app makes the key that signs them.
  await server.admin.data('mutation { generateUserToken(userId: "ann") { token } }')
})

const statementsDuring = async (work: () => Promise<unknown>): Promise<Statement[]> =>
  withoutUpkeep(await sentDuring(work))

async function sentDuring(work: () => Promise<unknown>): Promise<Statement[]> {
  await server.admin.data('{ features(first: 1) { id } }')
  const statements: Statement[] = []
  const stop = watchStatements((statement) => {
    statements.push(statement)
    return undefined
  })
  try {
    await work()
  } finally {
    stop()
  }
  return statements
}

/** No event is published from now on: the lock is held until the database is dropped. */
async function holdEvents(connectionString: string): Promise<void> {
  const db = new pg.Client({ connectionString })
  db.on('error', () => {})
  await db.connect()
  await db.query(`select pg_advisory_lock(hashtext('tollgate events'))`)
}

/**
 * Now and then, as time passes, a connection is opened, the key is looked up again, what was counted is written, and a
 * background worker shows that it is alive.
 */
const UPKEEP = [
  'set_config',
  'from api_key where hash',
  'update api_key',
  'insert into activity',
  'insert into feature_activity',
  'recent_usage',
  'usage_rollup for update skip locked',
  'exists (select from cell where remote) as remote from usage_rollup',
  'brin_summarize_new_values',
  'case when is_called then last_value',
  'pg_get_serial_sequence',
  'from pg_locks',
  'job_worker',
  'event_outbox) or exists',
  'event_outbox limit',
  'tollgate events',
  'with recursive waiting',
  'update webhook_delivery d set state = o.state',
  'webhook_endpoint w set failing_since',
  'w.enabled and w.failing_since',
]

/** Without statements of the upkeep, nor others of their transactions, which may have begun before or end later. */
function withoutUpkeep(statements: readonly Statement[]): Statement[] {
  const isUpkeep = ({ text }: Statement) => UPKEEP.some((part) => text.includes(part))
  let left: Statement[] = []
  const open = new Map<object, Statement[]>()
  for (const statement of statements) {
    const { text, client } = statement
    if (text === 'begin') open.set(client, [])
    const transaction = open.get(client)
    const ends = text === 'commit' || text === 'rollback'
    if (transaction) transaction.push(statement)
    else if (ends) left = left.filter((one) => one.client !== client)
    else if (!isUpkeep(statement)) left.push(statement)
    if (!transaction || !ends) continue
    open.delete(client)
    const others = transaction.filter((one) => !isUpkeep(one))
    // Besides begin and commit, upkeep takes a lock. An operation may look up its key in its transaction, too.
    if (others.length > 3 || others.length === transaction.length) left.push(...others)
  }
  return left
}

/**
 * The statements of some calls. Background work during a measurement adds statements and never removes any, so a
 * measurement above the expected counts is repeated, a few times at most.
 */
async function measured(
  measure: () => Promise<Statement[][]>,
  expected: readonly number[],
): Promise<Statement[][]> {
  for (let left = 4; ; left--) {
    const sent = await measure()
    if (left === 0 || sent.every(({ length }, i) => length <= (expected[i] ?? 0))) return sent
  }
}

describe('the statements of every operation', () => {
  const cases = [...ADMIN_QUERIES, ...ADMIN_MUTATIONS].flatMap((name) => {
    const { statements, forMany } = EXAMPLES[name]
    return [
      { name, count: 1, statements },
      { name, count: MANY, statements: forMany ?? statements },
    ]
  })
  it.skipIf(onCluster || TEST_CELLS > 1).each(cases)(
    'spec §4: $name with every field, of $count: $statements',
    async ({ name, count, statements }) => {
      let turn = 0
      const ready = () => readyCall('admin', name, newTurn(world, `${name}-${count}-${turn++}`, count))
      const sent = await measured(async () => {
        const { client, document, variables } = await ready()
        return [await statementsDuring(() => client.data(document, variables))]
      }, [statements])
      const texts = sent.flat().map(({ text }) => text)
      expect(texts.length, texts.join('\n')).toBe(statements)
      const example = EXAMPLES[name]
      if (!('keyed' in example)) return
      const uses = await measured(async () => {
        const { client, document, variables } = await ready()
        const keyed = client.with({ 'Idempotency-Key': `${name} ${count} ${turn}` })
        const twice: Statement[][] = []
        for (let use = 0; use < 2; use++)
          twice.push(await statementsDuring(() => keyed.data(document, variables)))
        return twice
      }, example.keyed)
      const counts = uses.map(({ length }) => length)
      expect(counts).toEqual(example.keyed)
    },
  )
})

describe('calls at the same time', () => {
  beforeAll(() =>
    forEach(server.admin, named('u', MANY), (id) => `subscribe(userId: "${id}", packageIds: ["plan"])`),
  )

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
    const sent = await sentDuring(() => together(query, () => ({ id: 'u1' })))
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
