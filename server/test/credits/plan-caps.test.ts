import { beforeEach, describe, expect, it } from 'vitest'
import { type Grant, publishPackage } from '../harness/catalogue.ts'
import type { Data, Variables } from '../harness/client.ts'
import { type ClockedApp, clockedApp } from '../harness/clocked-app.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'
import { callsOfAnn } from '../harness/spending.ts'

// Caps and a limit of overage of an entitlement: for every subscriber, without a call for each of them.

const server = shared(startTestServer)
let app: ClockedApp

beforeEach(async () => {
  app = await clockedApp(server)
  await app.advance('2091-03-14T22:30:00.000Z')
})

const publish = (id: string, grant: Grant, isAddon = false) =>
  publishPackage(app, id, { call: grant }, isAddon)
const subscribe = (...ids: string[]) =>
  app.admin.data('mutation ($ids: [String!]!) { subscribe(userId: "ann", packageIds: $ids) { id } }', { ids })
const { check, record, mutate } = callsOfAnn(() => app)
const grantsOf = async (id: string): Promise<Data> => {
  const { package: found } = await app.dashboard.data(
    `query ($appId: String!, $id: String!) { package(appId: $appId, id: $id) {
      grants { limit overageEnabled overageCap caps { period limit perEntity } }
      draft { grants { overageCap caps { period limit perEntity } } } } }`,
    { appId: app.id, id },
  )
  return found
}
const edit = (id: string, entitlement: Grant) =>
  app.dashboard.call('editPackage', { appId: app.id, id, input: { features: [{ id: 'call', entitlement }] } })
const publishDraft = (id: string, reach = 'ALL') =>
  app.dashboard.call('publishPackage', { appId: app.id, id, for: reach })

const taken = { recorded: true, reason: null }

describe('caps of a plan', () => {
  it('hold for every subscriber until midnight UTC, without being set for any', async () => {
    await publish('plan', { limit: 1000, caps: [{ period: 'DAY', limit: 10 }] })
    await subscribe('plan')
    expect(await check(10)).toMatchObject({ access: true, consumption: { remaining: 10 } })
    const denied = {
      ...{ access: false, reasonCode: 'LIMIT_EXCEEDED', deniedBy: 'CAP DAY' },
      reason: 'Limit reached: 0 of 10 used today; 11 more requested.',
    }
    expect(await check(11)).toMatchObject(denied)
    expect(await record(11)).toEqual({ recorded: false, reason: denied.reason })
    expect(await record(8)).toEqual(taken)
    expect(await record(3)).toMatchObject({ recorded: false })
    expect(await record(2)).toEqual(taken)
    expect(await check(0)).toMatchObject({ access: true })
    await app.advance('2091-03-14T23:59:59.999Z')
    expect(await record(1)).toMatchObject({ recorded: false })
    await app.advance('2091-03-15T00:00:00.000Z')
    expect(await record(10)).toEqual(taken)
    const other = await app.admin.data(`mutation {
      createUser(input: { id: "bob" }) { id } subscribe(userId: "bob", packageIds: ["plan"]) { id }
      recordUsage(input: { userId: "bob", featureId: "call", delta: 10 }) { recorded } }`)
    expect(other.recordUsage).toEqual({ recorded: true })
  })

  it('of a type hold for each such entity by itself, whichever they are', async () => {
    await publish('plan', {
      caps: [
        { period: 'HOUR', limit: 5, perEntity: 'agent' },
        { period: 'DAY', limit: 20 },
      ],
    })
    await subscribe('plan')
    expect(await record(5, ['agent:1', 'team:7'])).toEqual(taken)
    expect(await record(1, ['agent:1'])).toEqual({
      recorded: false,
      reason: 'Limit reached: 5 of 5 used this hour by "agent:1"; 1 more requested.',
    })
    expect(await check(1, ['agent:1'])).toMatchObject({ access: false, deniedBy: 'CAP HOUR agent:1' })
    expect(await check(6, ['agent:2'])).toMatchObject({ deniedBy: 'CAP HOUR agent:2' })
    expect(await record(5, ['agent:2'])).toEqual(taken)
    expect(await record(6, ['team:7'])).toEqual(taken)
    expect(await check(5, ['agent:3'])).toMatchObject({ deniedBy: 'CAP DAY' })
    expect(await record(-3, ['agent:1'])).toEqual(taken)
    expect(await record(3, ['agent:1'])).toEqual(taken)
    await app.advance('2091-03-14T23:00:00.000Z')
    expect(await record(4, ['agent:1'])).toEqual(taken)
    expect(await check(1)).toMatchObject({ deniedBy: 'CAP DAY' })
  })

  it('keep their count when the plan changes, is edited, or is another', async () => {
    await publish('plan', { limit: 1000, caps: [{ period: 'DAY', limit: 10 }] })
    await publish('small', { limit: 1000, caps: [{ period: 'DAY', limit: 5 }] })
    await publish('free', { limit: 1000 })
    await subscribe('plan')
    await record(8)
    await mutate('changeSubscription(userId: "ann", packageId: "small", when: NOW) { now }')
    expect(await check(1)).toMatchObject({
      deniedBy: 'CAP DAY',
      reason: 'Limit reached: 8 of 5 used today; 1 more requested.',
    })
    await mutate('changeSubscription(userId: "ann", packageId: "free", when: NOW) { now }')
    expect(await record(50)).toEqual(taken)
    await mutate('changeSubscription(userId: "ann", packageId: "plan", when: NOW) { now }')
    expect(await check(3)).toMatchObject({ access: false, deniedBy: 'CAP DAY' })
    await edit('plan', { limit: 1000, caps: [{ period: 'DAY', limit: 12 }] })
    expect(await check(3)).toMatchObject({ access: false })
    await publishDraft('plan')
    expect(await record(4)).toEqual(taken)
    expect(await record(1)).toMatchObject({ recorded: false })
  })

  it('are replaced by a cap of the user for the same window and entity, with one count', async () => {
    await publish('plan', {
      caps: [
        { period: 'DAY', limit: 10 },
        { period: 'HOUR', limit: 3, perEntity: 'agent' },
      ],
    })
    await subscribe('plan')
    await record(10)
    const own = (more: string) => `{ userId: "ann", featureId: "call", ${more} }`
    expect(await mutate(`setCap(input: ${own('period: DAY, limit: 15')}) { used limit }`)).toEqual({
      ...{ used: 10, limit: 15 },
    })
    expect(await record(6)).toMatchObject({ recorded: false })
    expect(await record(5)).toEqual(taken)
    await mutate(`setCap(input: ${own('period: HOUR, limit: 100, entity: "agent:1"')}) { used }`)
    await mutate(`setCap(input: ${own('period: DAY, limit: 100')}) { used }`)
    expect(await record(40, ['agent:1'])).toEqual(taken)
    expect(await record(4, ['agent:2'])).toMatchObject({ recorded: false })
    // Removing one's own refills nothing.
    const remove = 'removeCap(userId: "ann", featureId: "call", period: DAY) { limit used }'
    expect(await mutate(remove)).toEqual({ limit: 100, used: 55 })
    expect(await mutate(remove)).toBeNull()
    expect(await check(1)).toMatchObject({
      reason: 'Limit reached: 55 of 10 used today; 1 more requested.',
    })
    const { caps } = await app.admin.data('{ caps(userId: "ann") { period entity } }')
    expect(caps).toEqual([{ period: 'HOUR', entity: 'agent:1' }])
  })

  it('hold what is reserved, for the entities of the reservation', async () => {
    await publish('plan', { caps: [{ period: 'HOUR', limit: 50, perEntity: 'team' }] })
    await subscribe('plan')
    const reserve = (id: string, amount: number) =>
      mutate(`reserveUsage(input: { id: "${id}", userId: "ann", featureId: "call", amount: ${amount}, atLeast: 5,
        entities: ["team:7"] }) { reserved reason }`)
    expect(await reserve('a', 40)).toMatchObject({ reserved: 40 })
    expect(await reserve('b', 40)).toMatchObject({ reserved: 10 })
    expect(await reserve('c', 5)).toEqual({
      reserved: 0,
      reason: 'Limit reached: 0 of 50 used this hour by "team:7", 50 reserved; 5 requested.',
    })
    expect(await check(50, ['team:8'])).toMatchObject({ access: true })
    expect(await mutate('settleReservation(id: "a", amount: 30) { settled }')).toEqual({ settled: 30 })
    expect(await check(11, ['team:7'])).toMatchObject({
      reason: 'Limit reached: 30 of 50 used this hour by "team:7", 10 reserved; 11 more requested.',
    })
    await record(10, ['team:7'], { idempotencyKey: 'k' })
    expect(await check(1, ['team:7'])).toMatchObject({ access: false })
    const revert =
      'recordUsage(input: { userId: "ann", featureId: "call", delta: 0, revertOf: "k" }) { recorded }'
    expect(await mutate(revert)).toEqual({ recorded: true })
    expect(await check(10, ['team:7'])).toMatchObject({ access: true })
  })

  it('of several subscriptions: the highest of a kind counts, and seats multiply those of the user', async () => {
    await publish('plan', {
      caps: [
        { period: 'DAY', limit: 10 },
        { period: 'HOUR', limit: 4, perEntity: 'agent' },
      ],
    })
    await publish('more', { caps: [{ period: 'DAY', limit: 15 }] }, true)
    await publish('none', {}, true)
    await subscribe('plan')
    expect(await check(11)).toMatchObject({ access: false })
    await subscribe('none')
    expect(await check(11)).toMatchObject({ access: false })
    await subscribe('more')
    expect(await check(15)).toMatchObject({ access: true })
    expect(await check(16)).toMatchObject({ access: false })
    await mutate('changeSubscription(userId: "ann", packageId: "plan", quantity: 2, when: NOW) { now }')
    expect(await check(20)).toMatchObject({ access: true })
    expect(await check(21)).toMatchObject({ access: false })
    expect(await check(5, ['agent:1'])).toMatchObject({ deniedBy: 'CAP HOUR agent:1' })
  })

  it('of a pool limit what others draw on it', async () => {
    await publishPackage(app, 'plan', {
      call: { limit: 1000, caps: [{ period: 'DAY', limit: 24, perEntity: 'agent' }] },
    })
    await app.admin.data(`mutation {
      image: createFeature(input: { id: "image", name: "Image", type: CONSUMABLE }) { id }
      pool: updateFeature(id: "call", input: { costs: [{ featureId: "image", cost: 12 }] }) { id } }`)
    await subscribe('plan')
    const draw = async (delta: number, entities: string[]) =>
      mutate(`recordUsage(input: { userId: "ann", featureId: "image", delta: ${delta},
        entities: ${JSON.stringify(entities)} }) { recorded reason }`)
    expect(await draw(3, ['agent:1'])).toMatchObject({ recorded: false })
    expect(await draw(2, ['agent:1'])).toEqual(taken)
    expect(await draw(1, ['agent:1'])).toMatchObject({ recorded: false })
    expect(await record(1, ['agent:1'])).toMatchObject({ recorded: false })
    expect(await draw(2, ['agent:2'])).toEqual(taken)
    expect(await check(1)).toMatchObject({ consumption: { used: 48 } })
  })

  it('hold for two callers at once, and for calls of one batch', async () => {
    await publish('plan', { caps: [{ period: 'DAY', limit: 30, perEntity: 'agent' }] })
    await subscribe('plan')
    const results = await Promise.all(
      Array.from({ length: 80 }, (_, i) => record(1, [`agent:${i % 2}`, 'team:7'])),
    )
    expect(results.filter(({ recorded }) => recorded)).toHaveLength(60)
  })

  it('are drafts until they are published, are copied to other apps, and stay with older versions', async () => {
    const caps = [
      { period: 'DAY', limit: 10, perEntity: null },
      { period: 'HOUR', limit: 3, perEntity: 'agent' },
    ]
    await publish('plan', { limit: 100 })
    await subscribe('plan')
    // In one order, however they are sent.
    await edit('plan', { limit: 100, overageEnabled: true, overageCap: 7, caps: [...caps].reverse() })
    expect(await grantsOf('plan')).toEqual({
      grants: [{ limit: '100', overageEnabled: false, overageCap: null, caps: [] }],
      draft: {
        grants: [{ overageCap: '7', caps: caps.map((cap) => ({ ...cap, limit: String(cap.limit) })) }],
      },
    })
    expect(await check(90)).toMatchObject({ access: true })
    await publishDraft('plan', 'NEW_ONLY')
    expect(await check(90)).toMatchObject({ access: true, consumption: { overageCap: null } })
    await app.admin.data(`mutation { createUser(input: { id: "bob" }) { id }
      subscribe(userId: "bob", packageIds: ["plan"]) { id } }`)
    const { canUseFeature } = await app.admin.data(
      '{ canUseFeature(userId: "bob", featureId: "call", delta: 11) { deniedBy consumption { overageCap } } }',
    )
    expect(canUseFeature).toEqual({ deniedBy: 'CAP DAY', consumption: { overageCap: 7 } })
    await edit('plan', { limit: 100 })
    await publishDraft('plan', 'NEW_ONLY')
    const still = await app.admin.data(
      '{ canUseFeature(userId: "bob", featureId: "call", delta: 11) { deniedBy } }',
    )
    expect(still.canUseFeature).toEqual({ deniedBy: 'CAP DAY' })
  })

  it('are explained from the rows of the decision', async () => {
    await publish('plan', {
      limit: 100,
      overageEnabled: true,
      overageCap: 7,
      caps: [
        { period: 'DAY', limit: 10 },
        { period: 'HOUR', limit: 3, perEntity: 'agent' },
      ],
    })
    await subscribe('plan')
    await record(2, ['agent:1'])
    const { explain } = await app.dashboard.data(
      `query ($appId: String!) {
        explain(appId: $appId, userId: "ann", featureId: "call", delta: 2, entities: ["agent:1"]) {
          access reason steps { step parts { text } } } }`,
      { appId: app.id },
    )
    expect(explain).toMatchObject({
      access: false,
      reason: 'Limit reached: 2 of 3 used this hour by "agent:1"; 2 more requested.',
    })
    const said = (step: string) =>
      explain.steps
        .find((one: Data) => one.step === step)
        .parts.map(({ text }: Data) => text)
        .join('')
    expect(said('GRANTS')).toContain('(100 per month, overage of up to 7 allowed)')
    expect(said('BUDGET')).toContain('with overage of up to 7.')
    expect(said('SOURCES')).toContain('8 of 10 left per day')
    expect(said('SOURCES')).toContain('1 of 3 left per hour for "agent:1"')
    expect(said('SOURCES')).toContain('3 per hour for each "agent:…"')
  })

  it('reject bad input with its field, and change nothing', async () => {
    await publish('plan', { limit: 5 })
    await app.admin.data(
      'mutation { createFeature(input: { id: "audit", name: "Audit", type: BINARY }) { id } }',
    )
    const rejected = async (entitlement: string, feature = 'call') => {
      const { errors } = await app.admin.ask(`mutation { createPackage(input: { id: "bad", name: "Bad",
        features: [{ id: "${feature}", entitlement: { ${entitlement} } }] }) { id } }`)
      const { code, field } = errors?.[0]?.extensions ?? {}
      return `${code} ${field}`
    }
    const cap = '{ period: DAY, limit: 1 }'
    const bad = 'BAD_USER_INPUT caps'
    expect(await rejected('caps: [{ period: DAY, limit: -1 }]')).toBe(bad)
    expect(await rejected(`caps: [${cap}, ${cap}]`)).toBe(bad)
    expect(await rejected('caps: [{ period: DAY, limit: 1, perEntity: "agent:1" }]')).toBe(bad)
    expect(await rejected('caps: [{ period: DAY, limit: 1, perEntity: "" }]')).toBe(bad)
    const many = Array.from({ length: 11 }, (_, i) => `{ period: DAY, limit: 1, perEntity: "t${i}" }`)
    expect(await rejected(`caps: [${many.join(', ')}]`)).toBe(bad)
    expect(await rejected(`caps: [${cap}]`, 'audit')).toBe(bad)
    const overage = 'BAD_USER_INPUT overageCap'
    expect(await rejected('limit: 1, overageEnabled: true, overageCap: -1')).toBe(overage)
    expect(await rejected('limit: 1, overageCap: 1')).toBe(overage)
    expect(await rejected('overageEnabled: true, overageCap: 1')).toBe(overage)
    expect(await rejected('overageCap: 1', 'audit')).toBe(overage)
    const { packages } = await app.admin.data('{ packages { id } }')
    expect(packages).toEqual([{ id: 'plan' }])
  })
})

describe('a limit of overage', () => {
  it('allows so many units beyond the limit, and no more', async () => {
    await publish('plan', { limit: 100, overageEnabled: true, overageCap: 20 })
    await subscribe('plan')
    expect(await record(90)).toEqual(taken)
    expect(await check(30)).toEqual({
      ...{ access: true, reasonCode: 'OVERAGE', deniedBy: null },
      reason: '90 of 100 used, at most 20 beyond, 30 requested; overage is enabled.',
      consumption: { used: 90, remaining: 10, overageCap: 20 },
    })
    const reason = 'Limit reached: 90 of 100 used, at most 20 beyond; 31 more requested.'
    expect(await check(31)).toMatchObject({
      access: false,
      reasonCode: 'LIMIT_EXCEEDED',
      reason,
      deniedBy: 'PLAN',
    })
    expect(await record(31)).toEqual({ recorded: false, reason })
    expect(await record(30)).toEqual(taken)
    expect(await record(1)).toMatchObject({ recorded: false })
    const results = await Promise.all(Array.from({ length: 20 }, () => record(1)))
    expect(results.every(({ recorded }) => !recorded)).toBe(true)
    // SET states a fact.
    expect(await record(500, [], { action: 'SET' })).toEqual(taken)
  })

  it('counts what is reserved, and comes after credits', async () => {
    await publish('plan', { limit: 10, overageEnabled: true, overageCap: 5 })
    await subscribe('plan')
    await mutate('addCredit(input: { userId: "ann", featureId: "call", amount: 4 }) { id }')
    expect(await check(19)).toMatchObject({ access: true, reasonCode: 'OVERAGE' })
    expect(await check(20)).toMatchObject({ access: false, deniedBy: 'PLAN' })
    const reserved = await mutate(
      'reserveUsage(input: { userId: "ann", featureId: "call", amount: 40, atLeast: 1 }) { id reserved }',
    )
    expect(reserved).toMatchObject({ reserved: 19 })
    expect(await check(1)).toMatchObject({ access: false })
    // What is settled beyond it is owed.
    await mutate(`settleReservation(id: "${reserved.id}", amount: 22) { settled }`)
    await mutate('addCredit(input: { id: "next", userId: "ann", featureId: "call", amount: 5 }) { id }')
    const { credits } = await app.admin.data('{ credits(userId: "ann") { id used } }')
    expect(credits.find(({ id }: Data) => id === 'next')).toEqual({ id: 'next', used: 3 })
  })

  it('adds up with that of other subscriptions; one without a limit lifts it, and so does an override', async () => {
    const grant = { limit: 10, overageEnabled: true, overageCap: 5 }
    await publish('plan', grant)
    await publish('more', grant, true)
    await publish('hard', { limit: 10 }, true)
    await publish('any', { limit: 10, overageEnabled: true }, true)
    await subscribe('plan')
    await subscribe('more')
    expect(await check(30)).toMatchObject({ access: true })
    expect(await check(31)).toMatchObject({ access: false })
    await subscribe('hard')
    expect(await check(40)).toMatchObject({ access: true })
    expect(await check(41)).toMatchObject({ access: false })
    const override = (more: string) =>
      mutate(
        `setOverride(input: { userId: "ann", featureId: "call", mode: REPLACE, limit: 3 ${more} }) { mode }`,
      )
    await override('')
    expect(await check(13)).toMatchObject({ access: true })
    expect(await check(14)).toMatchObject({ access: false })
    await override('overageEnabled: true')
    expect(await check(1000)).toMatchObject({ access: true, consumption: { overageCap: null } })
    await override('overageEnabled: false')
    expect(await check(4)).toMatchObject({ access: false })
    await mutate('removeOverride(userId: "ann", featureId: "call") { mode }')
    await subscribe('any')
    expect(await check(1000)).toMatchObject({ access: true })
  })

  it('is multiplied by the seats', async () => {
    await publish('plan', { limit: 10, overageEnabled: true, overageCap: 5 })
    await mutate('subscribe(userId: "ann", packageIds: ["plan"], quantities: [3]) { id }')
    expect(await check(45)).toMatchObject({ access: true })
    expect(await check(46)).toMatchObject({ access: false })
  })
})

describe('gap: the caps of a user in the dashboard', () => {
  const listed = async (): Promise<Data> =>
    (
      await app.dashboard.data(
        `query ($appId: String!) { userCaps(appId: $appId, userId: "ann") {
          more caps { entity perEntity period limit own planLimit used reserved resetsAt } } }`,
        { appId: app.id },
      )
    ).userCaps
  const preview = async (of: Variables): Promise<Data> =>
    (
      await app.dashboard.data(
        `query ($appId: String!, $entity: String, $period: ResetPeriod!) {
          capPreview(appId: $appId, userId: "ann", featureId: "call", entity: $entity, period: $period) {
            limit planLimit used reserved resetsAt } }`,
        { appId: app.id, ...of },
      )
    ).capPreview

  it('has those of the plan with what is used and reserved, and those that replace them', async () => {
    await publish('plan', {
      limit: 1000,
      caps: [
        { period: 'DAY', limit: 10 },
        { period: 'HOUR', limit: 5, perEntity: 'agent' },
      ],
    })
    await subscribe('plan')
    await record(3, ['agent:1'])
    await mutate('reserveUsage(input: { userId: "ann", featureId: "call", amount: 2 }) { id }')
    const midnight = '2091-03-15T00:00:00.000Z'
    const plans = { entity: null, perEntity: null, period: 'DAY', own: false, planLimit: null }
    const agents = { entity: null, perEntity: 'agent', period: 'HOUR', limit: 5, own: false, planLimit: null }
    const each = { ...agents, used: null, reserved: null, resetsAt: '2091-03-14T23:00:00.000Z' }
    expect(await listed()).toEqual({
      more: 0,
      caps: [{ ...plans, limit: 10, used: 3, reserved: 2, resetsAt: midnight }, each],
    })
    expect(await preview({ period: 'DAY' })).toEqual({
      ...{ limit: null, planLimit: 10, used: 3, reserved: 2, resetsAt: midnight },
    })
    expect(await preview({ entity: 'agent:1', period: 'HOUR' })).toMatchObject({ planLimit: 5, used: 3 })
    expect(await preview({ entity: 'agent:1', period: 'NEVER' })).toEqual({
      ...{ limit: null, planLimit: null, used: 0, reserved: 0, resetsAt: null },
    })

    await mutate('setCap(input: { userId: "ann", featureId: "call", limit: 4, period: DAY }) { limit }')
    expect(await preview({ period: 'DAY' })).toMatchObject({ limit: 4, planLimit: 10, used: 3 })
    expect(await listed()).toMatchObject({
      caps: [{ ...plans, limit: 4, own: true, planLimit: 10, used: 3, reserved: 2 }, each],
    })

    await app.advance('2091-03-15T00:00:00.000Z')
    expect((await listed()).caps[0]).toMatchObject({ used: 0, resetsAt: '2091-03-16T00:00:00.000Z' })
  })

  it('refuses a preview for an entity without a type', async () => {
    await publish('plan', { limit: 1000 })
    const error = await app.dashboard.error(
      `query ($appId: String!) { capPreview(appId: $appId, userId: "ann", featureId: "call", entity: "x", period: DAY) { used } }`,
      { appId: app.id },
    )
    expect(error.extensions).toMatchObject({ code: 'BAD_USER_INPUT', field: 'entity' })
  })
})
