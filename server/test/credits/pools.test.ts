import { beforeEach, describe, expect, it } from 'vitest'
import { publishPackage } from '../harness/catalogue.ts'
import type { Data, Variables } from '../harness/client.ts'
import { type ClockedApp, clockedApp } from '../harness/clocked-app.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'
import { unbalanced } from '../harness/spending.ts'

// Invariants: a check grants what a record takes, also of a pool; the ledger adds up for each source; what a reservation
// draws on stays as it was when the costs change.

const CHECK = `query ($featureId: String!, $delta: Int, $entities: [String!]) {
  canUseFeature(userId: "ann", featureId: $featureId, delta: $delta, entities: $entities) {
    access reason reasonCode deniedBy consumption { budget used reserved remaining }
    sources { kind id left poolId cost }
  }
}`
const RECORD = `mutation ($input: CreateUsageEventInput!) {
  recordUsage(input: $input) { recorded reason consumption { used reserved remaining } }
}`
const COSTS = `mutation ($costs: [CostInput!], $id: String = "coin") {
  updateFeature(id: $id, input: { costs: $costs }) { id costs { featureId cost } }
}`

const server = shared(startTestServer)
let app: ClockedApp
const start = Date.UTC(2091, 2, 10)
const DAY = 86_400_000
const iso = (at: number) => new Date(at).toISOString()

beforeEach(async () => {
  app = await clockedApp(server)
  await publishPackage(app, 'plan', { call: { limit: 2 }, coin: { limit: 30 } })
  await app.admin.data(`mutation {
    image: createFeature(input: { id: "image", name: "Image", type: CONSUMABLE }) { id }
    audit: createFeature(input: { id: "audit", name: "Audit", type: BINARY }) { id }
  }`)
  await app.advance(iso(start))
  await app.admin.data(`mutation { subscribe(userId: "ann", packageIds: ["plan"]) { id } }`)
  await setCosts([
    { featureId: 'call', cost: 12 },
    { featureId: 'image', cost: 5 },
  ])
})

const setCosts = (costs: { featureId: string; cost: number }[] | null, id = 'coin') =>
  app.admin.call('updateFeature', { id, input: { costs } })
const refusedCosts = async (costs: unknown, id = 'coin') => {
  const { errors } = await app.admin.ask(COSTS, { costs, id })
  return [errors?.[0]?.extensions?.code, errors?.[0]?.extensions?.field, errors?.[0]?.message]
}
const addCredit = (id: string, amount: number, featureId = 'coin') =>
  app.admin.data(`mutation ($input: CreditInput!) { addCredit(input: $input) { id } }`, {
    input: { id, userId: 'ann', featureId, amount },
  })
const check = async (featureId: string, delta = 1, entities: string[] = []): Promise<Data> =>
  (await app.admin.data(CHECK, { featureId, delta, entities })).canUseFeature
const record = async (featureId: string, delta: number, more: Variables = {}): Promise<Data> =>
  (await app.admin.data(RECORD, { input: { userId: 'ann', featureId, delta, ...more } })).recordUsage
const mutate = async (text: string): Promise<Data> =>
  (await app.admin.data(`mutation { done: ${text} }`)).done

describe('a pool', () => {
  it('pays when the own sources are used up, at a cost', async () => {
    await addCredit('gift', 8)
    expect(await check('call', 5)).toMatchObject({
      ...{ access: true, reasonCode: 'WITHIN_BUDGET' },
      consumption: { budget: 2, used: 0, reserved: 0, remaining: 5 },
      sources: [
        { kind: 'PLAN', id: null, left: 2, poolId: null, cost: 1 },
        { kind: 'PLAN', id: null, left: 30, poolId: 'coin', cost: 12 },
        { kind: 'CREDIT', id: 'gift', left: 8, poolId: 'coin', cost: 12 },
      ],
    })
    expect(await check('call', 6)).toMatchObject({ access: false, deniedBy: 'PLAN' })
    expect(await record('call', 6)).toMatchObject({
      recorded: false,
      reason: 'Limit reached: 0 of 2 used, 38 of "coin" left at 12 each; 6 more requested.',
    })
    expect(await record('call', 5)).toEqual({
      ...{ recorded: true, reason: null },
      consumption: { used: 2, reserved: 0, remaining: 0 },
    })
    // 36 of 38: the period ends before the credit.
    expect(await check('coin', 2)).toMatchObject({ access: true, consumption: { used: 30, remaining: 2 } })
    expect(await check('coin', 3)).toMatchObject({ access: false })
    expect(await unbalanced(server.databaseUrl, app.id)).toEqual([])
  })

  it('pays for features that no package grants, and for several features of one batch', async () => {
    expect(await check('image', 6)).toMatchObject({ access: true, consumption: { budget: 0, remaining: 6 } })
    const events = ['image', 'call', 'coin', 'image', 'call', 'image'].map((featureId) => ({
      ...{ userId: 'ann', featureId, action: 'ADD', delta: featureId === 'image' ? 2 : 1 },
    }))
    const { recordUsages } = await app.admin.data(
      `mutation ($inputs: [CreateUsageEventInput!]!) { recordUsages(inputs: $inputs) { recorded } }`,
      { inputs: [...events, { ...events[1], delta: 5 }] },
    )
    // 20 + 1 of 30 coins; the third pair of images does not fit, nor do five more calls.
    expect(recordUsages.map(({ recorded }: Data) => recorded)).toEqual([
      true,
      true,
      true,
      true,
      true,
      false,
      false,
    ])
    expect(await check('coin')).toMatchObject({ consumption: { used: 21, remaining: 9 } })
    expect(await unbalanced(server.databaseUrl, app.id)).toEqual([])
  })

  it('gives the same units once, whoever asks at the same time', async () => {
    const answers = await Promise.all([
      ...Array.from({ length: 12 }, () => record('image', 1)),
      ...Array.from({ length: 12 }, () => record('coin', 3)),
    ])
    const images = answers.slice(0, 12).filter(({ recorded }) => recorded).length
    const coins = answers.slice(12).filter(({ recorded }) => recorded).length
    expect(images * 5 + coins * 3).toBeLessThanOrEqual(30)
    expect(images * 5 + coins * 3).toBeGreaterThan(30 - 3)
    expect(await check('coin')).toMatchObject({ consumption: { used: images * 5 + coins * 3 } })
    expect(await unbalanced(server.databaseUrl, app.id)).toEqual([])
  })

  it('gets back what a negative delta returns, after what was used beyond the budget', async () => {
    await record('call', 4)
    expect(await check('coin')).toMatchObject({ consumption: { used: 24 } })
    expect(await record('call', -1)).toMatchObject({ recorded: true, consumption: { used: 2, remaining: 1 } })
    expect(await check('coin')).toMatchObject({ consumption: { used: 12 } })
    expect(await record('call', -3)).toMatchObject({ recorded: true, consumption: { used: 0 } })
    expect(await check('coin')).toMatchObject({ consumption: { used: 0 } })
    expect(await record('call', -1)).toMatchObject({ recorded: false })
    expect(await unbalanced(server.databaseUrl, app.id)).toEqual([])
  })

  it('SET counts what the pool paid', async () => {
    await record('call', 3)
    expect(await record('call', 3, { action: 'SET' })).toMatchObject({ recorded: true })
    expect(await check('coin')).toMatchObject({ consumption: { used: 12 } })
    expect(await record('call', 1, { action: 'SET' })).toMatchObject({ consumption: { used: 1 } })
    expect(await check('coin')).toMatchObject({ consumption: { used: 0 } })
    // What the pool cannot pay is owed by the feature itself.
    expect(await record('call', 6, { action: 'SET' })).toMatchObject({ consumption: { used: 4 } })
    expect(await check('coin')).toMatchObject({ consumption: { used: 24 } })
    expect(await unbalanced(server.databaseUrl, app.id)).toEqual([])
  })

  it('has caps that limit what is drawn on it', async () => {
    await mutate(
      `setCap(input: { userId: "ann", featureId: "coin", limit: 11, period: DAY, entity: "team:7" }) { limit }`,
    )
    expect(await check('image', 3, ['team:7'])).toMatchObject({
      ...{ access: false, deniedBy: 'POOL CAP DAY team:7' },
      consumption: { remaining: 2 },
    })
    expect(await record('image', 2, { entities: ['team:7'] })).toMatchObject({ recorded: true })
    expect(await record('image', 1, { entities: ['team:7'] })).toMatchObject({ recorded: false })
    expect(await record('image', 1)).toMatchObject({ recorded: true })
    await mutate(`setCap(input: { userId: "ann", featureId: "image", limit: 4, period: DAY }) { limit }`)
    expect((await app.admin.data(`{ caps(userId: "ann") { featureId used } }`)).caps).toEqual([
      { featureId: 'coin', used: 10 },
      { featureId: 'image', used: 0 },
    ])
    expect(await unbalanced(server.databaseUrl, app.id)).toEqual([])
  })

  it('leaves caps that its features had before', async () => {
    await setCosts(null)
    const cap = 'userId: "ann", featureId: "image", period: DAY'
    await mutate(`setCap(input: { ${cap}, limit: 1 }) { limit }`)
    await setCosts([{ featureId: 'image', cost: 5 }])
    expect(await check('image', 2)).toMatchObject({ access: false, deniedBy: 'CAP DAY' })
    expect(await mutate(`removeCap(${cap}) { limit }`)).toEqual({ limit: 1 })
    expect(await check('image', 2)).toMatchObject({ access: true })
  })

  it('is explained with its sources', async () => {
    const { explain } = await app.dashboard.data(
      `query ($appId: String!) { explain(appId: $appId, userId: "ann", featureId: "call", delta: 3) {
        access steps { step parts { text } } } }`,
      { appId: app.id },
    )
    const [step] = explain.steps.filter(({ step }: Data) => step === 'SOURCES')
    expect(step.parts.map(({ text }: Data) => text).join('')).toContain(
      'the plan of the pool "coin" at 12 each (30',
    )
  })
})

describe('a reservation', () => {
  const reserve = (id: string, amount: number, featureId = 'call') =>
    mutate(
      `reserveUsage(input: { userId: "ann", id: "${id}", featureId: "${featureId}", amount: ${amount} }) { reserved reason }`,
    )
  const settle = (id: string, amount: number, more = '') =>
    mutate(`settleReservation(id: "${id}", amount: ${amount}${more}) { reserved settled state reason }`)

  it('holds units of the pool, from its own feature and all that draw on it', async () => {
    expect(await reserve('a', 4)).toEqual({ reserved: 4, reason: null })
    expect(await check('call')).toMatchObject({ access: false, consumption: { reserved: 4, remaining: 0 } })
    expect(await check('coin', 7)).toMatchObject({
      access: false,
      consumption: { reserved: 24, remaining: 6 },
    })
    expect(await record('image', 2)).toMatchObject({ recorded: false })
    expect(await settle('a', 3)).toEqual({ reserved: 0, settled: 3, state: 'SETTLED', reason: null })
    expect(await check('coin')).toMatchObject({ consumption: { used: 12, reserved: 0, remaining: 18 } })
    expect(await unbalanced(server.databaseUrl, app.id)).toEqual([])
  })

  it('keeps its split and its cost when the costs change', async () => {
    await addCredit('gift', 100)
    await reserve('a', 5)
    await setCosts([{ featureId: 'call', cost: 1 }])
    expect(await check('coin')).toMatchObject({ consumption: { reserved: 36 } })
    expect(await settle('a', 3, ', final: false')).toMatchObject({ reserved: 2, settled: 3 })
    expect(await check('coin')).toMatchObject({ consumption: { used: 12, reserved: 24 } })
    expect(await mutate(`extendReservation(id: "a", add: 3) { reserved }`)).toEqual({ reserved: 5 })
    expect(await check('coin')).toMatchObject({ consumption: { used: 12, reserved: 27 } })
    await setCosts(null)
    expect(await check('call')).toMatchObject({ access: false })
    expect(await mutate(`extendReservation(id: "a", add: 1) { reserved reason }`)).toMatchObject({
      reserved: 5,
    })
    // 2 at 12, 3 at 1; one more than reserved is owed by the feature itself.
    expect(await settle('a', 6)).toMatchObject({ settled: 9, state: 'SETTLED' })
    expect(await check('coin')).toMatchObject({ consumption: { used: 30, reserved: 0, remaining: 91 } })
    expect(await check('call')).toMatchObject({ consumption: { used: 3 } })
    expect(await unbalanced(server.databaseUrl, app.id)).toEqual([])
  })

  it('settles units of the pool in the period in which they were reserved', async () => {
    await mutate(
      `reserveUsage(input: { userId: "ann", id: "a", featureId: "call", amount: 3, ttlSeconds: 86400 }) { id }`,
    )
    const end = Date.UTC(2091, 3, 10)
    await app.advance(iso(end - DAY / 2))
    await mutate(
      `reserveUsage(input: { userId: "ann", id: "b", featureId: "call", amount: 3, ttlSeconds: 86400 }) { id }`,
    )
    await app.advance(iso(end))
    expect(await settle('b', 3)).toMatchObject({ settled: 3 })
    expect(await check('coin')).toMatchObject({ consumption: { used: 0, remaining: 30 } })
    expect(await unbalanced(server.databaseUrl, app.id)).toEqual([])
  })

  it('of 20 concurrent ones, as many are granted as fit', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, (_, i) => reserve(`r${i}`, 1, 'image')))
    expect(made.filter(({ reserved }) => reserved === 1)).toHaveLength(6)
  })
})

describe('costs that cannot be', () => {
  it('are refused, and nothing is changed', async () => {
    const { admin } = app
    await admin.call('createFeature', { input: { id: 'gem', name: 'Gem', type: 'CONSUMABLE' } })
    const one = (featureId: string, cost = 1) => [{ featureId, cost }]
    const cases: [unknown, string, string][] = [
      [one('image', 0), 'coin', 'cost must be an integer from 1 to 1000000: "image"'],
      [one('nothing'), 'coin', 'Feature not found: "nothing"'],
      [one('audit'), 'coin', 'Feature "audit" is BINARY and cannot draw on a pool'],
      [one('call'), 'audit', 'Feature "audit" is BINARY and cannot be a pool'],
      [one('coin'), 'coin', 'Feature "coin" cannot draw on itself'],
      [[...one('image'), ...one('image')], 'coin', 'Feature "image" is listed twice'],
      [one('coin'), 'gem', 'Feature "coin" is a pool and cannot draw on another'],
      [one('gem'), 'image', 'Feature "image" draws on the pool "coin" and cannot be a pool itself'],
      [one('image'), 'gem', 'Feature "image" already draws on the pool "coin"'],
    ]
    for (const [costs, id, message] of cases)
      expect(await refusedCosts(costs, id)).toEqual(['BAD_USER_INPUT', 'costs', message])
    const { features } = await admin.data('{ features { id costs { featureId cost } } }')
    expect(features.filter(({ costs }: Data) => costs.length > 0)).toEqual([
      { id: 'coin', costs: [...one('call', 12), ...one('image', 5)] },
    ])
  })
})
