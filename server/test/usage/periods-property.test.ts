import fc from 'fast-check'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ResetPeriod } from '../../src/domain/period.ts'
import { askFast } from '../harness/burst.ts'
import { periodByHand } from '../harness/by-hand.ts'
import { type Grant, publishPackage } from '../harness/catalogue.ts'
import { BY_HAND } from '../harness/cells-by-hand.ts'
import { directly } from '../harness/database.ts'
import { onCluster } from '../harness/one-server.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'
import { watchStatements } from '../harness/statements.ts'

// One user's life, at random: plans are taken and cancelled, their anchors move as payments move them, the clock goes
// forward and back. Invariants:
// - a write finds the counter that the read saw: with no rival, a record takes one read and at most one write;
// - what was acknowledged is seen by the next check in the same period, whatever lies in between;
// - a budget is granted once in a period;
// - cancelling and taking a plan again within its longest period keeps its anchor.
// What is expected is counted by hand, in a map from period to usage.

type Counted = { limit: number; resetPeriod: ResetPeriod }
const PLANS: Record<string, Record<string, Counted>> = {
  hourly: { call: { limit: 5, resetPeriod: 'HOUR' } },
  daily: { call: { limit: 6, resetPeriod: 'DAY' } },
  mixed: { call: { limit: 7, resetPeriod: 'HOUR' }, seat: { limit: 4, resetPeriod: 'MONTH' } },
  yearly: { call: { limit: 9, resetPeriod: 'YEAR' } },
  endless: { call: { limit: 12, resetPeriod: 'NEVER' } },
}
const ADDONS: Record<string, Record<string, Counted>> = {
  extra: { call: { limit: 3, resetPeriod: 'DAY' }, seat: { limit: 2, resetPeriod: 'WEEK' } },
}
const LONGEST_FIRST: ResetPeriod[] = ['YEAR', 'MONTH', 'WEEK', 'DAY', 'HOUR']

const HOUR = 3_600_000
const BEGIN = Date.parse('2091-01-31T10:30:00Z')

const server = shared(startTestServer)
let db: pg.Client
beforeAll(async () => {
  db = new pg.Client({
    connectionString: directly(server.databaseUrl),
    options: `-c timezone=UTC -c ${BY_HAND}=on`,
  })
  await db.connect()
  const app = { id: 'default', ...server }
  for (const [id, grants] of Object.entries(PLANS))
    await publishPackage(app, id, grants as Record<string, Grant>)
  for (const [id, grants] of Object.entries(ADDONS))
    await publishPackage(app, id, grants as Record<string, Grant>, true)
})
afterAll(async () => {
  await db?.end()
})

type Command =
  | { do: 'clock'; to: Time }
  | { do: 'anchor'; to: Time }
  | { do: 'take'; plan: string }
  | { do: 'cancel'; when: 'now' | 'later' }
  | { do: 'record' | 'check'; feature: string; delta: number }

/** So many hours from now, or next to a boundary of the present periods, where mistakes are made. */
type Time = { hours: number; nudge: number } | { boundary: ResetPeriod; nudge: number }

const nudge = fc.integer({ min: -1, max: 1 })
const times: fc.Arbitrary<Time> = fc.oneof(
  fc.record({
    hours: fc.oneof(fc.integer({ min: -3, max: 3 }), fc.integer({ min: -900, max: 900 })),
    nudge: fc.oneof(nudge, fc.integer({ min: -HOUR, max: HOUR })),
  }),
  fc.record({ boundary: fc.constantFrom<ResetPeriod>('HOUR', 'DAY', 'WEEK', 'MONTH', 'YEAR'), nudge }),
)
const feature = fc.constantFrom('call', 'call', 'seat')
const delta = fc.integer({ min: -1, max: 4 })
const commands: fc.Arbitrary<Command> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ do: fc.constant('clock' as const), to: times }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('anchor' as const), to: times }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('take' as const),
      plan: fc.constantFrom(...Object.keys(PLANS), ...Object.keys(ADDONS)),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('cancel' as const),
      when: fc.constantFrom('now' as const, 'later' as const),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constantFrom('record' as const, 'check' as const), feature, delta }),
  },
)

interface Held {
  id: string
  plan: string
  anchor: number
  cancelAt: number | null
  cancelledAt: number | null
}

/** One user, and beside the service what is expected of it. */
class Life {
  readonly userId: string
  now = BEGIN
  readonly held: Held[] = []
  /** what was acknowledged, by feature, kind of period and its start */
  readonly counted = new Map<string, number>()

  constructor(userId: string) {
    this.userId = userId
  }

  live(): Held[] {
    return this.held
      .filter((s) => s.cancelledAt === null && (s.cancelAt === null || s.cancelAt > this.now))
      .sort((a, b) => Number(a.plan in ADDONS) - Number(b.plan in ADDONS))
  }

  timeOf(time: Time): number {
    if ('hours' in time) return this.now + time.hours * HOUR + time.nudge
    const anchor = this.held.at(-1)?.anchor ?? BEGIN
    return periodByHand(time.boundary, anchor, this.now).start + time.nudge
  }

  /** Where a plan taken now counts from. */
  anchorNow(): number {
    const over = this.held
      .filter((s) => s.plan in PLANS)
      .map((s) => ({
        ...s,
        last: s.cancelledAt !== null && s.cancelledAt !== s.cancelAt ? s.cancelledAt : (s.cancelAt ?? 0) - 1,
      }))
      .sort((a, b) => b.last - a.last)
    for (const { plan, anchor, last } of over) {
      const kinds = Object.values(PLANS[plan] ?? {}).map(({ resetPeriod }) => resetPeriod)
      const longest = LONGEST_FIRST.find((kind) => kinds.includes(kind))
      if (longest && this.now < periodByHand(longest, anchor, last).end) return anchor
    }
    return this.now
  }

  /** The counter that a call is about now, and what it may grow to; null: nothing is granted. */
  counterOf(feature: string): { key: string; used: number; budget: number } | null {
    const live = this.live()
    const grants = live.flatMap(({ plan }) => ({ ...PLANS, ...ADDONS })[plan]?.[feature] ?? [])
    const [first] = grants
    if (!first || !live[0]) return null
    const { start } = periodByHand(first.resetPeriod, live[0].anchor, this.now)
    expect(start).toBeLessThanOrEqual(this.now)
    const key = `${feature} ${first.resetPeriod} ${start}`
    const budget = grants.reduce((sum, { limit }) => sum + limit, 0)
    return { key, used: this.counted.get(key) ?? 0, budget }
  }
}

const iso = (time: number) => new Date(time).toISOString()
const ask = async (query: string, variables: Record<string, unknown>) => {
  const { data, errors } = await askFast(server.url, query, variables)
  if (errors || !data) throw new Error(JSON.stringify(errors))
  return data
}

const TAKE =
  'mutation ($userId: String!, $plan: String!) { subscribe(userId: $userId, packageIds: [$plan]) { id } }'
const CHECK = `query ($userId: String!, $feature: String!, $delta: Int) {
  canUseFeature(userId: $userId, featureId: $feature, delta: $delta) { access consumption { used budget } }
}`
const RECORD = `mutation ($input: CreateUsageEventInput!) {
  recordUsage(input: $input) { recorded consumption { used budget } }
}`

async function perform(life: Life, command: Command): Promise<void> {
  const { userId } = life
  switch (command.do) {
    case 'clock':
      life.now = life.timeOf(command.to)
      await db.query(`update app set test_clock = $1 where id = 'default'`, [iso(life.now)])
      return
    case 'anchor': {
      const anchor = life.timeOf(command.to)
      for (const s of life.live()) s.anchor = anchor
      const ids = life.live().map(({ id }) => id)
      await db.query('update subscription set anchor = $1 where id = any($2)', [iso(anchor), ids])
      return
    }
    case 'take':
      return take(life, command.plan)
    case 'cancel': {
      const [base] = life.live()
      if (!base) return
      const cancelSubscription = await server.dashboard.call('cancelSubscription { cancelAt }', {
        id: base.id,
        atPeriodEnd: command.when === 'later',
      })
      for (const s of life.live()) {
        if (command.when === 'now') s.cancelledAt = life.now
        else
          s.cancelAt = Math.min(
            s.cancelAt ?? Number.POSITIVE_INFINITY,
            Date.parse(cancelSubscription.cancelAt),
          )
      }
      return
    }
    case 'check': {
      const delta = Math.max(command.delta, 0)
      const { canUseFeature } = await ask(CHECK, { userId, feature: command.feature, delta })
      const counter = life.counterOf(command.feature)
      const consumption = counter && { used: counter.used, budget: counter.budget }
      const access = counter !== null && counter.used + delta <= counter.budget
      expect(canUseFeature).toEqual({ access, consumption })
      return
    }
    case 'record':
      return record(life, command.feature, command.delta)
  }
}

async function take(life: Life, plan: string): Promise<void> {
  const live = life.live()
  const base = live.find((s) => s.plan in PLANS)
  if (plan in PLANS ? base : !base || live.some((s) => s.plan === plan)) return
  const anchor = base?.anchor ?? life.anchorNow()
  const { subscribe } = await ask(TAKE, { userId: life.userId, plan })
  for (const s of life.held) if (s.cancelledAt === null && !live.includes(s)) s.cancelledAt = s.cancelAt
  const { id } = subscribe[0]
  life.held.push({ id, plan, anchor, cancelAt: base?.cancelAt ?? null, cancelledAt: null })
  const { rows } = await db.query('select anchor from subscription where id = $1', [id])
  expect(iso(Number(rows[0].anchor))).toBe(iso(anchor))
}

async function record(life: Life, feature: string, delta: number): Promise<void> {
  const sent: string[] = []
  const stop = watchStatements(({ name }) => {
    // Where packages count a feature in several kinds of period, there are as many questions.
    if (name?.startsWith('read-holding')) sent.push('read')
    if (name?.startsWith('write-usage')) sent.push('write')
    return undefined
  })
  const input = { userId: life.userId, featureId: feature, delta }
  const { recordUsage } = await ask(RECORD, { input }).finally(stop)
  const counter = life.counterOf(feature)
  const after = counter && counter.used + delta
  const recorded = counter !== null && after !== null && after >= 0 && (delta < 0 || after <= counter.budget)
  if (counter && recorded) life.counted.set(counter.key, counter.used + delta)
  const consumption = counter && { used: recorded ? after : counter.used, budget: counter.budget }
  expect(recordUsage).toEqual({ recorded, consumption })
  // A counter that the server remembers is written without reading. If it has changed, it is read after all.
  const reading = recorded ? 'read write' : 'read'
  if (!onCluster)
    expect([reading, `write ${reading}`, ...(recorded ? ['write'] : [])]).toContain(sent.join(' '))
}

let users = 0
const RUNS = Number(process.env.TOLLGATE_HISTORIES ?? 40)

it(
  'gap: periods: whatever moves, a record and a check are about the same counter',
  async () => {
    const lives = fc.array(commands, { minLength: 4, maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(lives, async (life) => {
        const user = new Life(`u${++users}`)
        await ask('mutation ($id: String!) { createUser(input: { id: $id }) { id } }', { id: user.userId })
        await db.query(`update app set test_clock = $1 where id = 'default'`, [iso(BEGIN)])
        for (const command of life) await perform(user, command)
        // At its end, everything that was acknowledged is in the books, and nothing else.
        const { rows } = await db.query<{ key: string; used: string }>(
          `select feature_id || ' ' || reset_period || ' ' || (extract(epoch from period_start) * 1000)::bigint as key, used
         from usage_counter join users using (app_id) where uid = user_uid and id = $1`,
          [user.userId],
        )
        expect(new Map(rows.map(({ key, used }) => [key, Number(used)]))).toEqual(user.counted)
      }),
      { numRuns: RUNS },
    )
  },
  20_000 + RUNS * 1_000,
)
