import { setTimeout as delay } from 'node:timers/promises'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import type { UsageBucket } from '../../src/domain/usage-series.ts'
import { rollUpUsage } from '../../src/operations/upkeep/roll-up-usage.ts'
import { transactionOnce } from '../../src/store/connection/database.ts'
import {
  currentBlock,
  indexPartitions,
  openPartition,
  preparePartitions,
} from '../../src/store/ledger/ledger-partitions.ts'
import {
  subtractEntries,
  usageOfFeature,
  usageOfUser,
  userCompleteFrom,
} from '../../src/store/usage/usage-hours.ts'
import { publishPackage } from '../harness/catalogue.ts'
import { TEST_CELLS } from '../harness/cells-by-hand.ts'
import { type ClockedApp, clockedApp, midnight } from '../harness/clocked-app.ts'
import { retirePartition } from '../harness/retire-partition.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'
import { openStore } from '../harness/store.ts'

// Invariants, at every moment of every history:
// - the series of a feature is the sum of all entries that were committed, also of retired partitions;
// - the series of a user is the sum of their entries in the ledger, and says from when on it is complete.

const HOUR = 3_600_000
const BEGIN = Date.UTC(2027, 0, 30)
const END = Date.UTC(2027, 3, 2)
const never = new AbortController().signal

const store = shared(openStore)

/** What was recorded; `block`: the partition it is in. */
interface Entry {
  uid: number
  at: number
  delta: number
  block: number
}

type Command =
  | { do: 'record' | 'record-late'; uid: number; hours: number; delta: number }
  | { do: 'roll-up' | 'open' | 'retire' }
  | { do: 'delete'; uid: number }

const uid = fc.integer({ min: 1, max: 3 })
const entry = {
  uid,
  // An app with a test clock records at any time.
  hours: fc.oneof(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: (END - BEGIN) / HOUR - 1 })),
  delta: fc.integer({ min: -5, max: 100 }),
}
const PARTITIONS: ('open' | 'retire')[] = TEST_CELLS > 1 ? [] : ['open', 'retire']
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('record' as const), ...entry }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('record-late' as const), ...entry }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('roll-up' as const, ...PARTITIONS) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete' as const), uid }) },
)

/** The entries of one feature, and beside the database what is expected of it. */
class History {
  readonly featureId: string
  entries: Entry[] = []
  readonly retired = new Set<number>()

  constructor(featureId: string) {
    this.featureId = featureId
  }

  async run(command: Command): Promise<void> {
    const { pool } = store
    switch (command.do) {
      case 'record':
        return this.#record(command, async () => {})
      case 'record-late': {
        let rolling: Promise<unknown> = Promise.resolve()
        await this.#record(command, async () => {
          rolling = rollUpUsage(pool, never)
          await delay(20)
        })
        await rolling
        return
      }
      case 'roll-up':
        await rollUpUsage(pool, never)
        return
      case 'open':
        await preparePartitions(pool)
        await openPartition(pool, 0)
        return
      case 'retire': {
        // As in a service that runs: the sums are ahead of what is old enough to be retired.
        await rollUpUsage(pool, never)
        const { block } = await currentBlock(pool)
        for (const old of new Set(this.entries.map((entry) => entry.block))) {
          if (old >= block || this.retired.has(old)) continue
          await retirePartition(pool, old, { stopping: never })
          this.retired.add(old)
        }
        return
      }
      case 'delete':
        return this.#delete(command.uid)
    }
  }

  async #record(
    { uid, hours, delta }: { uid: number; hours: number; delta: number },
    before: () => Promise<void>,
  ): Promise<void> {
    const at = BEGIN + hours * HOUR + 1_234
    const { block } = await currentBlock(store.pool)
    await transactionOnce(store.pool, async (tx) => {
      await tx.query(
        `insert into usage_ledger (app_id, user_uid, feature_id, reset_period, period_start, action, delta, used, recorded_at)
         values ('a', $1, $2, 'NEVER', '2027-01-01Z', 'ADD', $3, 0, $4)`,
        [uid, this.featureId, delta, new Date(at)],
      )
      await before()
    })
    this.entries.push({ uid, at, delta, block })
  }

  /** As with a user of the sample. */
  async #delete(uid: number): Promise<void> {
    await transactionOnce(store.pool, async (tx) => {
      await subtractEntries(tx, 'a', [String(uid)])
      await tx.query(`delete from usage_ledger where app_id = 'a' and user_uid = $1`, [uid])
    })
    this.entries = this.entries.filter((entry) => entry.uid !== uid || this.retired.has(entry.block))
  }

  #expected(bucket: UsageBucket, from: number, to: number, of: (entry: Entry) => boolean) {
    const sums = new Map<number, number>()
    for (const entry of this.entries) {
      if (entry.at < from || entry.at >= to || !of(entry)) continue
      const date = new Date(entry.at)
      const hour = bucket === 'HOUR' ? date.getUTCHours() : 0
      const day = bucket === 'MONTH' ? 1 : date.getUTCDate()
      const start = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), day, hour)
      sums.set(start, (sums.get(start) ?? 0) + entry.delta)
    }
    return withoutEmpty(sums)
  }

  async check(bucket: UsageBucket, from: number, to: number): Promise<void> {
    const range = { appId: 'a', featureId: this.featureId, bucket, from, to }
    const { buckets, completeFrom } = await usageOfFeature(store.pool, range)
    expect(withoutEmpty(buckets)).toEqual(this.#expected(bucket, from, to, () => true))
    expect(completeFrom).toBeNull()
    for (const uid of [1, 2, 3]) {
      const isKept = (entry: Entry) => entry.uid === uid && !this.retired.has(entry.block)
      expect(withoutEmpty(await usageOfUser(store.pool, uid, range))).toEqual(
        this.#expected(bucket, from, to, isKept),
      )
      const lost = this.entries.some((entry) => entry.uid === uid && this.retired.has(entry.block))
      const since = await userCompleteFrom(store.pool, 'a', uid, this.featureId)
      expect(since !== null).toBe(lost)
    }
  }
}

const withoutEmpty = (sums: ReadonlyMap<number, number>) =>
  Object.fromEntries([...sums].filter(([, used]) => used !== 0).sort(([a], [b]) => a - b))

describe('gap: usage series, over random histories', () => {
  const RUNS = Number(process.env.TOLLGATE_HISTORIES ?? 25)
  let count = 0

  it(
    'equals the ledger after every step',
    async () => {
      await store.pool.query(`insert into app (id, name) values ('a', 'A') on conflict do nothing`)
      const buckets = fc.constantFrom<UsageBucket>('HOUR', 'DAY', 'MONTH')
      await fc.assert(
        fc.asyncProperty(
          fc.array(command, { minLength: 1, maxLength: 20 }),
          buckets,
          async (commands, bucket) => {
            const history = new History(`f${++count}`)
            for (const command of commands) {
              await history.run(command)
              await history.check(bucket, BEGIN, END)
            }
            await history.check('DAY', BEGIN + 24 * HOUR, BEGIN + 48 * HOUR)
          },
        ),
        { numRuns: RUNS, endOnFailure: true },
      )
    },
    60_000 + RUNS * 2_000,
  )

  it.skipIf(TEST_CELLS > 1)('indexes partitions that have no index of new entries', async () => {
    const { pool } = store
    const indexes = async () =>
      (await pool.query(`select relname from pg_class where relname like 'usage_ledger%by_seq' order by 1`))
        .rows
    const before = await indexes()
    expect(before.length).toBeGreaterThan(1)
    await pool.query(`drop index ${before[0]?.relname}`)
    await indexPartitions(pool)
    expect(await indexes()).toEqual(before)
  })
})

describe('gap: usage series', () => {
  const server = shared(startTestServer)
  let app: ClockedApp
  beforeAll(async () => {
    app = await clockedApp(server)
    await app.advance(midnight('2091-03-10'))
    await publishPackage(app, 'plan', { call: { limit: 100 } })
    await app.subscribe('plan')
  })

  const SERIES = `query ($userId: String, $from: String!, $to: String!, $bucket: UsageBucket!, $featureId: String = "call") {
    usageSeries(featureId: $featureId, userId: $userId, from: $from, to: $to, bucket: $bucket) {
      total completeFrom points { at used }
    }
  }`
  const record = async (delta: number, action = 'ADD') => {
    const { recordUsage } = await app.admin.data(
      `mutation { recordUsage(input: { userId: "ann", featureId: "call", delta: ${delta}, action: ${action} }) { recorded } }`,
    )
    expect(recordUsage.recorded).toBe(true)
  }
  const march = { from: '2091-03-09T12:00:00Z', to: '2091-03-12T00:00:00Z', bucket: 'DAY' }

  it('has a point per bucket, by the clock of the app, as soon as usage is recorded', async () => {
    await record(5)
    await record(3, 'SET')
    await app.advance(midnight('2091-03-11'))
    await record(7)
    const expected = {
      total: 10,
      completeFrom: null,
      points: [
        { at: midnight('2091-03-09'), used: 0 },
        { at: midnight('2091-03-10'), used: 3 },
        { at: midnight('2091-03-11'), used: 7 },
      ],
    }
    for (const userId of [null, 'ann'])
      expect((await app.admin.data(SERIES, { ...march, userId })).usageSeries).toEqual(expected)
    const { usageSeries } = await server.dashboard.data(
      SERIES.replace('query (', 'query ($appId: String!, ').replace(
        'usageSeries(',
        'usageSeries(appId: $appId, ',
      ),
      { ...march, appId: app.id },
    )
    expect(usageSeries).toEqual(expected)
  })

  it('has no usage of another user', async () => {
    await app.admin.data('mutation { createUser(input: { id: "bob" }) { id } }')
    const { usageSeries } = await app.admin.data(SERIES, { ...march, userId: 'bob' })
    expect(usageSeries.total).toBe(0)
  })

  it.each([
    [{ featureId: 'none' }, 'FEATURE_NOT_FOUND', undefined],
    [{ userId: 'nobody' }, 'USER_NOT_FOUND', undefined],
    [{ from: 'soon' }, 'BAD_USER_INPUT', 'from'],
    [{ to: '2091-02-30T00:00:00Z' }, 'BAD_USER_INPUT', 'to'],
    [{ to: march.from }, 'BAD_USER_INPUT', 'from'],
    [{ from: '1970-01-01T00:00:00Z' }, 'BAD_USER_INPUT', 'from'],
  ])('rejects %j', async (wrong, code, field) => {
    const { errors } = await app.admin.ask(SERIES, { ...march, ...wrong })
    expect(errors?.[0]?.extensions).toMatchObject({ code, ...(field && { field }) })
  })
})
