import fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import { type Grant, publishPackage } from '../harness/catalogue.ts'
import type { Client, Data } from '../harness/client.ts'
import { openServers } from '../harness/servers.ts'
import { shared } from '../harness/shared.ts'
import { EXPORTING, type Exception, Life, PLANS, type Reach, Shelf } from './lived-by-hand.ts'

// One user's life, at random, on a test clock that is walked up to and over every boundary: plans are taken, changed now
// and later, tried, extended, taken back and cancelled; exceptions are made and expire; packages are published for all, for
// new customers and for the end of each period, and subscriptions migrated and back. Two processes are asked in turn.
// Invariants:
// - at every moment there is exactly the plan, in the version, that a replay of what happened says: never two, never none
//   too early;
// - usage is neither lost nor granted again by a change;
// - both processes give the same answer.
// What is expected is replayed by hand, in lived-by-hand.ts.

const NAMES = Object.keys(PLANS)
const DAY = 86_400_000
const BEGIN = Date.parse('2091-01-31T10:30:00Z')
const LIVES = Number(process.env.TOLLGATE_LIVES ?? 20)

const servers = shared(() => openServers(2))
let admins: [Client, Client]
let clock = BEGIN
const shelf = new Shelf()
beforeAll(async () => {
  const { dashboard } = servers.app
  const { createApiKey } = await dashboard.data(`mutation {
    createApp(id: "walked", name: "Walked", testClock: true) { id }
    createApiKey(appId: "walked", name: "key") { secret }
  }`)
  admins = [servers.admin(0, createApiKey.secret), servers.admin(1, createApiKey.secret)]
  const app = { id: 'walked', admin: admins[0], dashboard }
  await admins[0].call('createFeature', { input: { id: 'export', name: 'Export', type: 'BINARY' } })
  for (const [id, grant] of Object.entries(PLANS)) {
    const grants: Record<string, Grant> = {
      ...(grant && { call: grant }),
      ...(id === EXPORTING && { export: {} }),
    }
    await publishPackage(app, id, grants)
  }
  await walkTo(BEGIN)
})

async function walkTo(time: number): Promise<void> {
  clock = time
  await servers.app.dashboard.call('advanceClock', { appId: 'walked', to: new Date(time).toISOString() })
}

type Command =
  | { do: 'walk'; to: 'end' | 'period' | 'day' | 'expiry' | 'move'; nudge: number }
  | { do: 'subscribe' | 'now' | 'later'; plan: string; quantity: number }
  | { do: 'trial'; plan: string; days: number; next: string | null }
  | { do: 'extend'; days: number }
  | { do: 'take back' | 'cancel now' | 'cancel later' | 'keep' }
  | { do: 'record'; delta: number }
  | {
      do: 'except'
      feature: 'call' | 'export'
      mode: Exception['mode']
      limit: number
      overage: boolean | null
      days: number | null
    }
  | { do: 'forget'; feature: 'call' | 'export' }
  | { do: 'publish'; plan: string; reach: Reach; more: number }
  | { do: 'migrate'; plan: string; back: [number, number]; later: boolean }
  | { do: 'undo'; plan: string }

const plan = fc.constantFrom(...NAMES)
const counting = fc.constantFrom(...NAMES.filter((name) => PLANS[name] !== null))
const feature = fc.constantFrom('call' as const, 'call' as const, 'export' as const)
const quantity = fc.integer({ min: 1, max: 3 })
const commands: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('walk' as const),
      to: fc.constantFrom('end', 'end', 'period', 'day', 'expiry', 'move'),
      nudge: fc.integer({ min: -1, max: 1 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom('subscribe' as const, 'now' as const, 'later' as const, 'later' as const),
      plan,
      quantity,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('trial' as const),
      plan,
      days: fc.integer({ min: 1, max: 40 }),
      next: fc.option(plan),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('extend' as const), days: fc.integer({ min: 1, max: 20 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'take back' as const,
        'cancel now' as const,
        'cancel later' as const,
        'keep' as const,
      ),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('record' as const), delta: fc.integer({ min: 1, max: 5 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('except' as const),
      feature,
      mode: fc.constantFrom('REPLACE', 'ADD', 'UNLIMITED', 'GRANT', 'DENY'),
      limit: fc.nat(12),
      overage: fc.option(fc.boolean()),
      days: fc.option(fc.integer({ min: 1, max: 40 })),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('forget' as const), feature }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('publish' as const),
      plan: counting,
      reach: fc.constantFrom('ALL', 'NEW_ONLY', 'NEW_ONLY', 'AT_PERIOD_END'),
      more: fc.integer({ min: 1, max: 4 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('migrate' as const),
      plan: counting,
      back: fc.tuple(fc.nat(2), fc.nat(2)),
      later: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('undo' as const), plan: counting }) },
)

const CHANGE = `mutation ($userId: String!, $packageId: String!, $when: ChangeTime!, $quantity: Int!) {
  changeSubscription(userId: $userId, packageId: $packageId, when: $when, quantity: $quantity) { at now }
}`
const TRIAL = `mutation ($userId: String!, $packageId: String!, $days: Int!, $next: String) {
  startTrial(userId: $userId, packageId: $packageId, days: $days, then: $next, again: true) { id }
}`

let people = 0

it('property: gap: lifecycle: two processes tell one life, as it was lived', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(commands, { minLength: 10, maxLength: 40 }), async (all) => {
      const userId = `user-${++people}`
      await admins[0].call('createUser', { input: { id: userId } })
      const life = new Life(shelf, () => clock)
      for (const [i, command] of all.entries()) {
        life.settle()
        await live(command, life, userId, admins[i % 2] as Client)
        life.settle()
        await expectSame(life, userId)
      }
    }),
    {
      numRuns: LIVES,
      endOnFailure: true,
      ...(LIVES <= 20 ? { interruptAfterTimeLimit: 60_000 } : { verbose: true }),
    },
  )
}, 900_000)

const idOf = async (admin: Client, userId: string): Promise<string> => {
  const subscriptions = await admin.call('subscriptions { id status }', { userId })
  return subscriptions.find((s: Data) => s.status === 'ACTIVE')?.id ?? 'none'
}

/** Does one thing, to the service and to the life by hand: refused by one means refused by the other. */
async function live(command: Command, life: Life, userId: string, admin: Client): Promise<void> {
  const { current } = life
  const ask = async (query: string, variables: Data, allowed: boolean, done: () => void) => {
    const { errors } = await admin.ask(query, variables)
    expect(errors === undefined, JSON.stringify({ command, errors })).toBe(allowed)
    if (allowed) done()
  }
  switch (command.do) {
    case 'walk': {
      const targets = {
        day: clock + DAY,
        end: current?.endsAt,
        period: life.periodEnd(),
        expiry: life.exception('call')?.endsAt ?? life.exception('export')?.endsAt,
        move: life.moves(),
      }
      const target = targets[command.to]
      return walkTo(Math.max(clock, (target ?? clock + DAY) + command.nudge))
    }
    case 'subscribe': {
      const { plan, quantity } = command
      return ask(
        `mutation ($userId: String!, $packageIds: [String!]!, $quantities: [Int!]) {
          subscribe(userId: $userId, packageIds: $packageIds, quantities: $quantities) { id }
        }`,
        { userId, packageIds: [plan], quantities: [quantity] },
        current === null,
        () => life.start(life.taken(plan, quantity)),
      )
    }
    case 'now':
    case 'later': {
      const { plan, quantity } = command
      const grant = PLANS[plan]
      const kept = grant?.resetPeriod === 'NEVER' && current !== null && quantity < current.quantity
      // What is used for good is counted across plans: where it is not known here, leave the question alone.
      if (kept && (PLANS[current.plan]?.resetPeriod !== 'NEVER' || life.exception('call'))) return
      const at = current?.endsAt ?? life.periodEnd()
      const then = command.do === 'now' ? clock : (at ?? clock)
      const version = current?.plan === plan ? shelf.held(current, then).version : shelf.versions(plan)
      const fits = !kept || life.used() <= shelf.limit(plan, version) * quantity
      const allowed = current !== null && !(current.plan === plan && current.quantity === quantity) && fits
      const when = command.do === 'now' ? 'NOW' : 'PERIOD_END'
      return ask(CHANGE, { userId, packageId: plan, when, quantity }, allowed, () => {
        if (!current) return
        const next = life.changed(plan, quantity)
        const { endsAt, trialEndsAt } = current
        const isTrial = plan === current.plan && trialEndsAt !== null
        if (command.do === 'later') life.current = { ...current, endsAt: at, next }
        // A trial stays one, with what follows it.
        else life.start(next, isTrial ? { endsAt, trialEndsAt, next: current.next } : {})
      })
    }
    case 'trial': {
      const { plan, days, next } = command
      const allowed = current?.plan !== plan
      return ask(TRIAL, { userId, packageId: plan, days, next }, allowed, () =>
        life.start(life.taken(plan, 1), {
          endsAt: clock + days * DAY,
          trialEndsAt: clock + days * DAY,
          next: next === null ? null : life.taken(next, 1),
        }),
      )
    }
    case 'extend': {
      const until = (current?.endsAt ?? clock) + command.days * DAY
      return ask(
        'mutation ($id: String!, $until: String!) { extendTrial(id: $id, until: $until) { id } }',
        { id: await idOf(admin, userId), until: new Date(until).toISOString() },
        current?.trialEndsAt != null && until > current.trialEndsAt,
        () => {
          if (current) life.current = { ...current, endsAt: until, trialEndsAt: until }
        },
      )
    }
    case 'take back':
      return ask(
        'mutation ($userId: String!) { cancelScheduledChange(userId: $userId) { id } }',
        { userId },
        current?.next != null,
        () => {
          if (current)
            life.current = { ...current, next: null, endsAt: current.trialEndsAt ? current.endsAt : null }
        },
      )
    case 'cancel now':
    case 'cancel later': {
      const later = command.do === 'cancel later'
      return ask(
        'mutation ($id: String!, $later: Boolean!) { cancelSubscription(id: $id, atPeriodEnd: $later) { id } }',
        { id: await idOf(admin, userId), later },
        current !== null,
        () => {
          if (!later || !current) return life.cancel()
          const end = life.periodEnd() ?? clock
          life.current = { ...current, next: null, endsAt: Math.min(current.endsAt ?? end, end) }
        },
      )
    }
    case 'keep':
      return ask(
        'mutation ($id: String!) { keepSubscription(id: $id) { id } }',
        { id: await idOf(admin, userId) },
        current !== null && !(current.trialEndsAt && current.endsAt !== null),
        () => {
          if (current) life.current = { ...current, endsAt: null, next: null }
        },
      )
    case 'record': {
      const recordUsage = await admin.call('recordUsage { recorded }', {
        input: { userId, featureId: 'call', delta: command.delta },
      })
      expect(recordUsage.recorded).toBe(life.record(command.delta))
      return
    }
    case 'except': {
      const { feature, mode, days } = command
      const counts = mode === 'REPLACE' || mode === 'ADD'
      const limit = counts ? command.limit : null
      const overage = counts ? command.overage : null
      const endsAt = days === null ? null : clock + days * DAY
      const input = {
        ...{ userId, featureId: feature, mode, limit, overageEnabled: overage },
        expiresAt: endsAt === null ? null : new Date(endsAt).toISOString(),
      }
      const allowed = feature === 'call' || mode === 'GRANT' || mode === 'DENY'
      return ask(
        'mutation ($input: OverrideInput!) { setOverride(input: $input) { mode } }',
        { input },
        allowed,
        () => life.except(feature, { mode, limit, overage, endsAt }),
      )
    }
    case 'forget':
      return ask(
        'mutation ($userId: String!, $feature: String!) { removeOverride(userId: $userId, featureId: $feature) { mode } }',
        { userId, feature: command.feature },
        true,
        () => life.forget(command.feature),
      )
    case 'publish': {
      const { plan, reach, more } = command
      const limit = shelf.limit(plan, shelf.versions(plan)) + more
      const entitlement = { limit, resetPeriod: PLANS[plan]?.resetPeriod }
      const features = [
        { id: 'call', entitlement },
        ...(plan === EXPORTING ? [{ id: 'export', entitlement: {} }] : []),
      ]
      await servers.app.dashboard.data(
        `mutation ($plan: String!, $input: EditPackageInput!, $reach: Reach!) {
          editPackage(appId: "walked", id: $plan, input: $input) { id }
          publishPackage(appId: "walked", id: $plan, for: $reach) { id }
        }`,
        { plan, reach, input: { features } },
      )
      return shelf.publish(plan, limit, reach, clock)
    }
    case 'migrate': {
      const { plan, later } = command
      const [from, to] = command.back.map((back) => shelf.versions(plan) - back) as [number, number]
      const variables = { plan, from, to, when: later ? 'PERIOD_END' : 'NOW' }
      const { data, errors } = await admin.ask(
        `mutation ($plan: String!, $from: Int!, $to: Int!, $when: ChangeTime!) {
          migrateSubscriptions(packageId: $plan, fromVersion: $from, toVersion: $to, when: $when) { id }
        }`,
        variables,
      )
      expect(errors === undefined, JSON.stringify({ variables, errors })).toBe(
        from !== to && from > 0 && to > 0,
      )
      if (errors) return
      const migration: string = data?.migrateSubscriptions.id
      return shelf.migrate(plan, { from, to, reach: later ? 'AT_PERIOD_END' : 'ALL', at: clock, migration })
    }
    case 'undo': {
      const last = shelf.lastMigration(command.plan)
      if (!last) return
      return ask(
        'mutation ($id: String!) { undoMigration(id: $id) { status } }',
        { id: last.migration },
        last.allowed,
        last.undo,
      )
    }
  }
}

async function expectSame(life: Life, userId: string): Promise<void> {
  const { current } = life
  const allowed = life.allowed()
  const expected = {
    live: current
      ? [[current.plan, life.version(), current.quantity, current.endsAt, current.next?.plan ?? null]]
      : [],
    calls: allowed && { budget: allowed.budget, used: life.used() },
    export: life.mayExport(),
  }
  for (const admin of admins) {
    const { subscriptions, calls, exports } = await admin.data(
      `query ($userId: String!) {
        subscriptions(userId: $userId) { status cancelAt quantity packageVersion package { id } scheduled { packageId } }
        calls: canUseFeature(userId: $userId, featureId: "call") { consumption { budget used } }
        exports: canUseFeature(userId: $userId, featureId: "export") { access }
      }`,
      { userId },
    )
    const live = subscriptions
      .filter((s: Data) => s.status === 'ACTIVE')
      .map((s: Data) => [
        s.package.id,
        s.packageVersion,
        s.quantity,
        s.cancelAt === null ? null : Date.parse(s.cancelAt),
        s.scheduled?.packageId ?? null,
      ])
    expect({ live, calls: calls.consumption, export: exports.access }).toEqual(expected)
  }
}
