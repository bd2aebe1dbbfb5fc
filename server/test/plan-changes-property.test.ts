import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ResetPeriod } from '../src/domain/period.ts'
import { periodByHand } from './harness/by-hand.ts'
import { type Grant, publishPackage } from './harness/catalogue.ts'
import type { Client, Data } from './harness/client.ts'
import { openServers, type Servers } from './harness/servers.ts'

// One user's life, at random, on a test clock that is walked up to and over every boundary: plans are taken, changed now
// and later, tried, extended, taken back and cancelled, and two processes are asked in turn. Invariants:
// - at every moment there is exactly the plan that a replay of what happened says: never two, never none too early;
// - usage is neither lost nor granted again by a change;
// - both processes give the same answer.
// What is expected is replayed by hand: one plan after the other, and a map from period to usage.

const PLANS: Record<string, { limit: number; resetPeriod: ResetPeriod } | null> = {
  small: { limit: 6, resetPeriod: 'MONTH' },
  large: { limit: 20, resetPeriod: 'MONTH' },
  daily: { limit: 4, resetPeriod: 'DAY' },
  endless: { limit: 30, resetPeriod: 'NEVER' },
  bare: null,
}
const NAMES = Object.keys(PLANS)
const DAY = 86_400_000
const BEGIN = Date.parse('2091-01-31T10:30:00Z')

let servers: Servers
let admins: [Client, Client]
let clock = BEGIN
beforeAll(async () => {
  servers = await openServers(2)
  const { dashboard } = servers.app
  const { createApiKey } = await dashboard.data(`mutation {
    createApp(id: "walked", name: "Walked", testClock: true) { id }
    createApiKey(appId: "walked", name: "key") { secret }
  }`)
  admins = [servers.admin(0, createApiKey.secret), servers.admin(1, createApiKey.secret)]
  const app = { id: 'walked', admin: admins[0], dashboard }
  for (const [id, grant] of Object.entries(PLANS))
    await publishPackage(app, id, (grant ? { call: grant } : {}) as Record<string, Grant>)
  await walkTo(BEGIN)
})
afterAll(() => servers?.close())

async function walkTo(time: number): Promise<void> {
  clock = time
  await servers.app.dashboard.data(
    'mutation ($to: String!) { advanceClock(appId: "walked", to: $to) { id } }',
    { to: new Date(time).toISOString() },
  )
}

type Command =
  | { do: 'walk'; to: 'end' | 'period' | 'day'; nudge: number }
  | { do: 'subscribe' | 'now' | 'later'; plan: string; quantity: number }
  | { do: 'trial'; plan: string; days: number; next: string | null }
  | { do: 'extend'; days: number }
  | { do: 'take back' | 'cancel now' | 'cancel later' | 'keep' }
  | { do: 'record'; delta: number }

const plan = fc.constantFrom(...NAMES)
const quantity = fc.integer({ min: 1, max: 3 })
const commands: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('walk' as const),
      to: fc.constantFrom('end' as const, 'end' as const, 'period' as const, 'day' as const),
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
)

interface Held {
  plan: string
  quantity: number
  anchor: number
  endsAt: number | null
  trial: boolean
  next: { plan: string; quantity: number } | null
}

/** What happened so far, by hand. */
class Life {
  current: Held | null = null
  readonly #past: { plan: string; anchor: number; last: number }[] = []
  readonly #used = new Map<string, number>()

  /** What the clock has brought about. */
  settle(): void {
    const held = this.current
    if (held?.endsAt == null || held.endsAt > clock) return
    this.#leave(held, held.endsAt - 1)
    this.current = held.next && { ...this.#started(held.next, held, held.endsAt), endsAt: null }
    this.settle()
  }

  start(taken: { plan: string; quantity: number }, more: Partial<Held> = {}): void {
    const held = this.current
    if (held) this.#leave(held, clock - 1)
    this.current = { ...this.#started(taken, held, clock), ...more }
    // The millisecond of the change may have seen usage.
    if (held) this.#past[this.#past.length - 1] = { plan: held.plan, anchor: held.anchor, last: clock }
  }

  cancel(): void {
    if (this.current) this.#leave(this.current, clock)
    this.current = null
  }

  #leave({ plan, anchor }: Held, last: number): void {
    this.#past.push({ plan, anchor, last })
  }

  #started(taken: { plan: string; quantity: number }, after: Held | null, at: number): Held {
    const anchor = this.#anchor(taken.plan, after, at)
    return { ...taken, anchor, endsAt: null, trial: false, next: null }
  }

  #anchor(name: string, after: Held | null, at: number): number {
    const reset = PLANS[name]?.resetPeriod
    if (after && reset && reset !== 'NEVER' && PLANS[after.plan]?.resetPeriod === reset) return after.anchor
    const running = [...this.#past]
      .sort((a, b) => b.last - a.last)
      .find(({ plan, anchor, last }) => {
        const own = PLANS[plan]?.resetPeriod
        return own && own !== 'NEVER' && periodByHand(own, anchor, last).end > at
      })
    return running?.anchor ?? at
  }

  #counter(): string | null {
    const { current } = this
    const grant = current && PLANS[current.plan]
    if (!current || !grant) return null
    return `${grant.resetPeriod} ${periodByHand(grant.resetPeriod, current.anchor, clock).start}`
  }

  budget(): number | null {
    const grant = this.current && PLANS[this.current.plan]
    return this.current && grant ? grant.limit * this.current.quantity : null
  }

  used(): number {
    return this.#used.get(this.#counter() ?? '') ?? 0
  }

  /** Whether it was recorded. */
  record(delta: number): boolean {
    const [counter, budget] = [this.#counter(), this.budget()]
    if (counter === null || budget === null || this.used() + delta > budget) return false
    this.#used.set(counter, this.used() + delta)
    return true
  }

  /** When the longest period of the plan ends. */
  periodEnd(): number | null {
    const { current } = this
    if (!current) return null
    const reset = PLANS[current.plan]?.resetPeriod ?? 'MONTH'
    return periodByHand(reset === 'NEVER' ? 'MONTH' : reset, current.anchor, clock).end
  }
}

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
      await admins[0].data('mutation ($id: String!) { createUser(input: { id: $id }) { id } }', {
        id: userId,
      })
      const life = new Life()
      for (const [i, command] of all.entries()) {
        life.settle()
        await live(command, life, userId, admins[i % 2] as Client)
        life.settle()
        await expectSame(life, userId)
      }
    }),
    { numRuns: 20, endOnFailure: true, interruptAfterTimeLimit: 60_000 },
  )
}, 120_000)

const idOf = async (admin: Client, userId: string): Promise<string> => {
  const { subscriptions } = await admin.data(
    'query ($userId: String!) { subscriptions(userId: $userId) { id status } }',
    { userId },
  )
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
      const target =
        command.to === 'day' ? clock + DAY : command.to === 'end' ? current?.endsAt : life.periodEnd()
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
        () => life.start({ plan, quantity }),
      )
    }
    case 'now':
    case 'later': {
      const { plan, quantity } = command
      const grant = PLANS[plan]
      const kept = grant?.resetPeriod === 'NEVER' && current !== null && quantity < current.quantity
      const fits =
        !kept || life.used() <= grant.limit * quantity || PLANS[current.plan]?.resetPeriod !== 'NEVER'
      // What is used for good is counted across plans: where it is not known here, leave the question alone.
      if (kept && PLANS[current.plan]?.resetPeriod !== 'NEVER') return
      const allowed = current !== null && !(current.plan === plan && current.quantity === quantity) && fits
      const at = current?.endsAt ?? life.periodEnd()
      const when = command.do === 'now' ? 'NOW' : 'PERIOD_END'
      return ask(CHANGE, { userId, packageId: plan, when, quantity }, allowed, () => {
        if (command.do === 'now') life.start({ plan, quantity })
        else if (current) life.current = { ...current, endsAt: at, next: { plan, quantity } }
      })
    }
    case 'trial': {
      const { plan, days, next } = command
      const allowed = current?.plan !== plan
      return ask(TRIAL, { userId, packageId: plan, days, next }, allowed, () =>
        life.start(
          { plan, quantity: 1 },
          {
            endsAt: clock + days * DAY,
            trial: true,
            next: next === null ? null : { plan: next, quantity: 1 },
          },
        ),
      )
    }
    case 'extend': {
      const until = (current?.endsAt ?? clock) + command.days * DAY
      return ask(
        'mutation ($id: String!, $until: String!) { extendTrial(id: $id, until: $until) { id } }',
        { id: await idOf(admin, userId), until: new Date(until).toISOString() },
        current?.trial === true && current.endsAt !== null,
        () => {
          if (current) life.current = { ...current, endsAt: until }
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
            life.current = { ...current, next: null, endsAt: current.trial ? current.endsAt : null }
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
        current !== null && !(current.trial && current.endsAt !== null),
        () => {
          if (current) life.current = { ...current, endsAt: null, next: null }
        },
      )
    case 'record': {
      const { recordUsage } = await admin.data(
        'mutation ($input: CreateUsageEventInput!) { recordUsage(input: $input) { recorded } }',
        { input: { userId, featureId: 'call', delta: command.delta } },
      )
      expect(recordUsage.recorded).toBe(life.record(command.delta))
    }
  }
}

async function expectSame(life: Life, userId: string): Promise<void> {
  const { current } = life
  const expected = {
    live: current ? [[current.plan, current.quantity, current.endsAt, current.next?.plan ?? null]] : [],
    budget: life.budget(),
    used: life.budget() === null ? null : life.used(),
  }
  for (const admin of admins) {
    const { subscriptions, canUseFeature } = await admin.data(
      `query ($userId: String!) {
        subscriptions(userId: $userId) { status cancelAt quantity package { id } scheduled { packageId } }
        canUseFeature(userId: $userId, featureId: "call") { consumption { budget used } }
      }`,
      { userId },
    )
    const live = subscriptions
      .filter((s: Data) => s.status === 'ACTIVE')
      .map((s: Data) => [
        s.package.id,
        s.quantity,
        s.cancelAt === null ? null : Date.parse(s.cancelAt),
        s.scheduled?.packageId ?? null,
      ])
    const { consumption } = canUseFeature
    expect({ live, budget: consumption?.budget ?? null, used: consumption?.used ?? null }).toEqual(expected)
  }
}
