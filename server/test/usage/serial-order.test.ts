import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { decideAccess } from '../../src/domain/access.ts'
import { applyUsage, type UsageCall } from '../../src/domain/usage.ts'
import type { UserEntitlement } from '../../src/domain/user-entitlement.ts'
import { askFast } from '../harness/burst.ts'
import { type Grant, publishPackage } from '../harness/catalogue.ts'
import { type Recorded, type Step, serialOrder } from '../harness/serial-order.ts'
import { startTestServer, type TestServer } from '../harness/server.ts'

// However calls on one counter overlap, there is a serial order of them in which the pure rule gives each the answer it
// got.

type Ask = (UsageCall & { keyed: boolean }) | { check: number }
/** `granted`: recorded, or access */
interface Answer {
  granted: boolean
  used: number
}
type Call = Recorded<Ask, Answer>

function ruleOf({ limit, overageEnabled = false }: Grant): Step<number, Ask, Answer> {
  const entitlement: UserEntitlement = {
    kind: 'metered',
    allowance: { budget: limit ?? null, overageEnabled, resetPeriod: 'MONTH' },
    anchor: 0,
    byOverride: false,
    period: { start: 0, end: 1 },
  }
  return (used, ask, answer) => {
    if ('check' in ask) {
      const { access } = decideAccess(entitlement, used, ask.check)
      return access === answer.granted && used === answer.used ? { after: used, idle: true } : null
    }
    const { recorded, used: after } = applyUsage(entitlement, used, ask)
    return recorded === answer.granted && after === answer.used ? { after, idle: !recorded } : null
  }
}

describe('the search for a serial order', () => {
  const rule = ruleOf({ limit: 10 })
  const add = (delta: number): Ask => ({ action: 'ADD', delta, keyed: false })
  const call = (asked: Ask, granted: boolean, used: number, begun: number, ended: number): Call => ({
    asked,
    answer: { granted, used },
    begun,
    ended,
  })

  const HISTORIES: { what: string; calls: Call[]; order: number[] | null }[] = [
    { what: 'nothing', calls: [], order: [] },
    {
      what: 'one after the other',
      calls: [call(add(3), true, 3, 0, 1), call({ check: 1 }, true, 3, 2, 3)],
      order: [0, 1],
    },
    {
      what: 'a check that overlaps and came first',
      calls: [call(add(3), true, 3, 0, 5), call({ check: 1 }, true, 0, 1, 2)],
      order: [1, 0],
    },
    {
      what: 'a stale check',
      calls: [call(add(3), true, 3, 0, 1), call({ check: 1 }, true, 0, 2, 3)],
      order: null,
    },
    { what: 'a lost update', calls: [call(add(3), true, 3, 0, 5), call(add(4), true, 4, 1, 6)], order: null },
    {
      what: 'a budget that was passed',
      calls: [call(add(8), true, 8, 0, 5), call(add(8), true, 16, 1, 6)],
      order: null,
    },
    { what: 'a refusal where there was room', calls: [call(add(8), false, 0, 0, 1)], order: null },
    {
      what: 'access where there is none',
      calls: [call(add(10), true, 10, 0, 1), call({ check: 1 }, true, 10, 2, 3)],
      order: null,
    },
    {
      what: 'two that saw each other last',
      calls: [call(add(1), true, 2, 0, 5), call(add(1), true, 2, 1, 6)],
      order: null,
    },
    {
      what: 'a revert before what it reverts',
      calls: [call(add(-3), true, 0, 0, 9), call(add(3), true, 3, 1, 2)],
      order: [1, 0],
    },
  ]
  it.each(HISTORIES)('gap: consistency: finds out $what', ({ calls, order }) => {
    expect(serialOrder(calls, 0, rule)).toEqual(order)
  })

  it('gap: consistency: explains what was made by a serial order, and not once an answer is doctored', () => {
    const asks = fc.oneof(
      fc.integer({ min: -4, max: 6 }).map(add),
      fc.nat(9).map((delta): Ask => ({ action: 'SET', delta, keyed: false })),
      fc.nat(9).map((check): Ask => ({ check })),
    )
    const times = fc.record({ before: fc.nat(5), after: fc.nat(5) })
    fc.assert(
      fc.property(fc.array(fc.tuple(asks, times), { minLength: 1, maxLength: 60 }), (made) => {
        let used = 0
        const calls = made.map(([asked, { before, after }], moment): Call => {
          const answers = [true, false].flatMap((granted) =>
            Array.from({ length: 30 }, (_, i) => ({ granted, used: i })),
          )
          const answer = answers.find((one) => rule(used, asked, one) !== null)
          if (!answer) throw new Error('no answer fits')
          used = rule(used, asked, answer)?.after ?? used
          return { asked, answer, begun: moment - before, ended: moment + after + 0.5 }
        })
        expect(serialOrder(calls, 0, rule)).not.toBeNull()
        const impossible = calls.map((one, i) =>
          i === calls.length - 1 ? { ...one, answer: { ...one.answer, used: 1000 } } : one,
        )
        expect(serialOrder(impossible, 0, rule)).toBeNull()
      }),
      { numRuns: 60 },
    )
  })
})

describe('calls on one counter at the same time', () => {
  const GRANTS: Record<string, Grant> = {
    tight: { limit: 12 },
    overage: { limit: 12, overageEnabled: true },
    unlimited: {},
  }
  let servers: TestServer[] = []
  beforeAll(async () => {
    const first = await startTestServer()
    servers = [first, await startTestServer({ databaseUrl: first.databaseUrl })]
    await publishPackage({ id: 'default', ...first }, 'plan', GRANTS)
  })
  afterAll(async () => {
    for (const server of servers.toReversed()) await server.stop()
  })

  const CHECK = `query ($userId: String!, $featureId: String!, $delta: Int) {
    canUseFeature(userId: $userId, featureId: $featureId, delta: $delta) { access consumption { used } }
  }`
  const RECORD = `mutation ($input: CreateUsageEventInput!) {
    recordUsage(input: $input) { recorded consumption { used } }
  }`

  /** A mix in which budgets are reached, exceeded and left again; about a third of the calls are checks. */
  function askNumber(i: number): Ask {
    const choice = (i * 7919) % 16
    if (choice < 5) return { check: 1 + (i % 4) }
    const keyed = choice % 4 === 1
    if (choice < 7) return { action: 'SET', delta: i % 9, keyed }
    return { action: 'ADD', delta: choice < 10 ? -(1 + (i % 3)) : 1 + (i % 4), keyed }
  }

  async function answerOf(
    url: string,
    asked: Ask,
    key: string,
    event: { userId: string; featureId: string },
  ) {
    if ('check' in asked) {
      const { data } = await askFast(url, CHECK, { ...event, delta: asked.check })
      return { granted: data?.canUseFeature.access, used: data?.canUseFeature.consumption.used }
    }
    const { keyed, ...call } = asked
    const input = { ...event, ...call, ...(keyed && { idempotencyKey: key }) }
    const { data } = await askFast(url, RECORD, { input })
    return { granted: data?.recordUsage.recorded, used: data?.recordUsage.consumption.used }
  }

  async function record(name: string, featureId: string, urls: string[], clients: number): Promise<Call[]> {
    await servers[0]?.admin.data(
      `mutation ($id: String!) {
        createUser(input: { id: $id }) { id }
        subscribe(userId: $id, packageIds: ["plan"]) { id }
      }`,
      { id: name },
    )
    const history: Call[] = []
    let next = 0
    const client = async (url: string) => {
      while (next < 200) {
        const number = next++
        const asked = askNumber(number)
        const begun = performance.now()
        const answer = await answerOf(url, asked, `${name} ${number}`, { userId: name, featureId })
        history.push({ asked, answer, begun, ended: performance.now() })
      }
    }
    await Promise.all(Array.from({ length: clients }, (_, i) => client(urls[i % urls.length] ?? '')))
    return history
  }

  const CASES = Object.keys(GRANTS).flatMap((feature) => [
    { feature, clients: 16, on: 1 },
    { feature, clients: 16, on: 2 },
  ])
  it.each(
    CASES,
  )('gap: consistency: some serial order explains every answer to $clients clients of $on server(s): $feature', async ({
    feature,
    clients,
    on,
  }) => {
    const urls = servers.slice(0, on).map(({ url }) => url)
    const history = await record(`${feature} ${clients} on ${on}`, feature, urls, clients)
    const rule = ruleOf(GRANTS[feature] ?? {})
    expect(history).toHaveLength(200)
    expect(serialOrder(history, 0, rule)).toHaveLength(200)
    // The calls did overlap, and a doctored answer has no such order.
    const starts = history.map(({ begun }) => begun).sort((a, b) => a - b)
    expect(history.some(({ begun, ended }) => starts.some((start) => begun < start && start < ended))).toBe(
      true,
    )
    // History is in the order of the ends.
    const changed = history.findIndex(({ asked, answer }) => !('check' in asked) && answer.granted)
    const doctored = history.map((call, i) =>
      i === changed ? { ...call, answer: { ...call.answer, used: call.answer.used + 1000 } } : call,
    )
    expect(serialOrder(doctored, 0, rule)).toBeNull()
  })
})
