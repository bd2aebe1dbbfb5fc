import { beforeEach, describe, expect, it } from 'vitest'
import { publishPackage } from '../harness/catalogue.ts'
import type { Data, Variables } from '../harness/client.ts'
import { type ClockedApp, clockedApp } from '../harness/clocked-app.ts'
import { rowsOf } from '../harness/database.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'
import { unbalanced } from '../harness/spending.ts'

// Invariants: a check grants what a record takes, from the same sources; the ledger adds up for each source; nothing that
// happens to a plan changes a credit.

const CHECK = `query ($featureId: String!, $delta: Int) {
  canUseFeature(userId: "ann", featureId: $featureId, delta: $delta) {
    access reasonCode deniedBy consumption { budget used reserved remaining } sources { kind id left expiresAt }
  }
}`
const RECORD = `mutation ($input: CreateUsageEventInput!) {
  recordUsage(input: $input) { recorded reason consumption { budget used reserved remaining } }
}`
const ADD = `mutation ($input: CreditInput!) {
  addCredit(input: $input) { id userId featureId amount used reserved kind priority effectiveAt expiresAt state reason }
}`

const server = shared(startTestServer)
let app: ClockedApp
const start = Date.UTC(2091, 2, 10)
const DAY = 86_400_000
const iso = (at: number) => new Date(at).toISOString()

beforeEach(async () => {
  app = await clockedApp(server)
  await app.admin.data(`mutation {
    image: createFeature(input: { id: "image", name: "Image", type: CONSUMABLE }) { id }
    audit: createFeature(input: { id: "audit", name: "Audit", type: BINARY }) { id }
  }`)
  await publishPackage(app, 'plan', { call: { limit: 10 } })
  await publishPackage(app, 'small', { call: { limit: 4 } })
  await app.advance(iso(start))
  await app.admin.data(`mutation { subscribe(userId: "ann", packageIds: ["plan"]) { id } }`)
})

const add = async (id: string, amount: number, more: Variables = {}): Promise<Data> =>
  (await app.admin.data(ADD, { input: { id, userId: 'ann', featureId: 'call', amount, ...more } })).addCredit
const check = async (delta = 1, featureId = 'call'): Promise<Data> =>
  (await app.admin.data(CHECK, { featureId, delta })).canUseFeature
const record = async (delta: number, more: Variables = {}): Promise<Data> =>
  (await app.admin.data(RECORD, { input: { userId: 'ann', featureId: 'call', delta, ...more } })).recordUsage
const credits = async (args = ''): Promise<Data[]> =>
  (await app.admin.data(`{ credits(userId: "ann"${args}) { id amount used reserved state } }`)).credits
const used = async (): Promise<Record<string, number>> =>
  Object.fromEntries((await credits()).map(({ id, used }) => [id, used]))

describe('credits', () => {
  it('pay for usage in order: priority, expiry, then PROMOTIONAL, PLAN and PAID', async () => {
    await add('paid', 5, { kind: 'PAID', expiresAt: iso(start + 400 * DAY) })
    await add('gift', 5, { expiresAt: iso(start + 400 * DAY) })
    await add('soon', 5, { kind: 'PAID', expiresAt: iso(start + 3 * DAY) })
    await add('last', 5, { priority: 60, expiresAt: iso(start + 2 * DAY) })
    await add('first', 5, { kind: 'PAID', priority: 1 })
    expect((await check()).sources.map(({ kind, id, left }: Data) => [kind, id, left])).toEqual([
      ['CREDIT', 'first', 5],
      ['CREDIT', 'soon', 5],
      ['PLAN', null, 10],
      ['CREDIT', 'gift', 5],
      ['CREDIT', 'paid', 5],
      ['CREDIT', 'last', 5],
    ])
    expect(await record(22)).toEqual({
      recorded: true,
      reason: null,
      consumption: { budget: 10, used: 10, reserved: 0, remaining: 13 },
    })
    expect(await used()).toEqual({ paid: 0, gift: 2, soon: 5, last: 0, first: 5 })
    expect(await check(13)).toMatchObject({ access: true, reasonCode: 'WITHIN_BUDGET' })
    expect(await check(14)).toMatchObject({ access: false, reasonCode: 'LIMIT_EXCEEDED', deniedBy: 'PLAN' })
    expect(await record(14)).toMatchObject({
      recorded: false,
      reason: 'Limit reached: 10 of 10 used, 13 left in credits; 14 more requested.',
    })
    expect(await record(13)).toMatchObject({ recorded: true, consumption: { used: 10, remaining: 0 } })
    expect(await unbalanced(server.databaseUrl, app.id)).toEqual([])
  })

  it('are burnt by a call that was decided from memory before there were any', async () => {
    for (let i = 0; i < 3; i++) await record(3)
    await add('more', 10)
    expect(await record(3)).toMatchObject({ recorded: true, consumption: { used: 10 } })
    expect(await used()).toEqual({ more: 2 })
  })

  it('suffice without a plan, until they expire', async () => {
    await add('gift', 5, { featureId: 'image', expiresAt: iso(start + DAY) })
    expect(await check(5, 'image')).toMatchObject({ access: true, consumption: { budget: 0, remaining: 5 } })
    expect(await record(3, { featureId: 'image' })).toMatchObject({ recorded: true })
    expect(await record(3, { featureId: 'image' })).toMatchObject({ recorded: false })
    await app.advance(iso(start + DAY - 1))
    expect(await check(2, 'image')).toMatchObject({ access: true })
    await app.advance(iso(start + DAY))
    expect(await check(1, 'image')).toMatchObject({ access: false, reasonCode: 'NOT_IN_PACKAGE' })
    expect(await credits()).toEqual([{ id: 'gift', amount: 5, used: 3, reserved: 0, state: 'EXPIRED' }])
  })

  it('wait for their start, and are void for good', async () => {
    await add('later', 5, { effectiveAt: iso(start + DAY) })
    await add('void', 5)
    expect(await check(15)).toMatchObject({ access: true })
    await app.admin.data(`mutation { voidCredit(id: "void", reason: "mistake") { state reason } }`)
    expect(await check(15)).toMatchObject({ access: false })
    expect((await credits()).map(({ state }) => state)).toEqual(['SCHEDULED', 'VOIDED'])
    await app.advance(iso(start + DAY))
    expect(await check(15)).toMatchObject({ access: true })
    expect(await record(16)).toMatchObject({ recorded: false })
    expect(await credits(', state: LIVE')).toMatchObject([{ id: 'later' }])
  })

  it('are refilled by a negative delta in reverse order, at most what was used in this period', async () => {
    await add('a', 5, { priority: 1 })
    await add('b', 5, { priority: 60 })
    await record(18)
    expect(await record(-4)).toMatchObject({ recorded: true, consumption: { used: 9 } })
    expect(await used()).toEqual({ a: 5, b: 0 })
    expect(await record(-15)).toMatchObject({
      recorded: false,
      reason: 'Cannot revert 15: only 14 used in this period.',
    })
    expect(await record(-14)).toMatchObject({ recorded: true, consumption: { used: 0 } })
    await record(3)
    await app.advance(iso(start + 40 * DAY))
    expect(await record(-1)).toMatchObject({ recorded: false })
    expect(await unbalanced(server.databaseUrl, app.id)).toEqual([])
  })

  it('are kept when the plan changes or ends', async () => {
    await add('mine', 5)
    await record(6)
    await app.admin.data(
      `mutation { changeSubscription(userId: "ann", packageId: "small", when: NOW) { now } }`,
    )
    expect(await check()).toMatchObject({ consumption: { budget: 4, remaining: 5 } })
    expect(await used()).toEqual({ mine: 0 })
    const [{ id }] = (
      await app.admin.data('{ subscriptions(userId: "ann") { id status } }')
    ).subscriptions.filter(({ status }: Data) => status === 'ACTIVE')
    await app.admin.data(`mutation { cancelSubscription(id: "${id}", atPeriodEnd: false) { status } }`)
    expect(await check(5)).toMatchObject({ access: true, consumption: { remaining: 5 } })
    expect(await record(5)).toMatchObject({ recorded: true })
    expect(await check()).toMatchObject({ access: false })
  })

  it('pay first for what a SET left unpaid', async () => {
    await add('old', 5)
    expect(await record(22, { action: 'SET' })).toMatchObject({ recorded: true, consumption: { used: 17 } })
    expect(await used()).toEqual({ old: 5 })
    expect(await add('new', 20)).toMatchObject({ used: 7, state: 'LIVE' })
    expect(await check()).toMatchObject({ consumption: { used: 10, remaining: 13 } })
    expect(await record(3, { action: 'SET' })).toMatchObject({ recorded: true })
    expect(await check(32)).toMatchObject({ access: true })
    expect(await unbalanced(server.databaseUrl, app.id)).toEqual([])
  })

  it('pay first for what a SET left unpaid before there were any', async () => {
    expect(await record(7)).toMatchObject({ recorded: true })
    expect(await record(16, { action: 'SET' })).toMatchObject({ recorded: true })
    expect(await record(-1)).toMatchObject({ recorded: true })
    expect(await add('new', 3)).toMatchObject({ used: 3, state: 'SPENT' })
    expect(await add('next', 20)).toMatchObject({ used: 2 })
    expect(await check()).toMatchObject({ consumption: { used: 10, remaining: 18 } })
    expect(await unbalanced(server.databaseUrl, app.id)).toEqual([])
  })

  it('do not pay for what a lower limit no longer covers', async () => {
    expect(await record(8, { action: 'SET' })).toMatchObject({ recorded: true })
    await app.advance(iso(start + 1_000))
    await app.admin.call('changeSubscription { now }', { userId: 'ann', packageId: 'small', when: 'NOW' })
    expect(await add('new', 3)).toMatchObject({ used: 0 })
    expect(await check()).toMatchObject({ consumption: { used: 8, remaining: 3 } })
  })

  it('do not pay for what a higher limit covers by now', async () => {
    await add('spent', 1)
    expect(await record(10, { action: 'SET' })).toMatchObject({ recorded: true })
    const change = (packageId: string) =>
      app.admin.call('changeSubscription { now }', { userId: 'ann', packageId, when: 'NOW' })
    await change('small')
    expect(await record(13, { action: 'SET' })).toMatchObject({ recorded: true })
    await change('plan')
    // 12 of 10 were used: two of those that nothing has paid for.
    expect(await add('new', 20)).toMatchObject({ used: 2 })
    expect(await check()).toMatchObject({ consumption: { used: 10, remaining: 18 } })
    expect(await unbalanced(server.databaseUrl, app.id)).toEqual([])
  })

  it('are added once under one id, also if they have expired since', async () => {
    const order = { expiresAt: iso(start + DAY), effectiveAt: iso(start) }
    await add('order', 5, order)
    await app.advance(iso(start + 2 * DAY))
    expect(await add('order', 5, order)).toMatchObject({ state: 'EXPIRED', amount: 5 })
    expect(await credits()).toHaveLength(1)
  })

  it('are added once under one id', async () => {
    const first = await add('one', 5, { reason: 'welcome' })
    expect(first).toMatchObject({
      userId: 'ann',
      amount: 5,
      priority: 50,
      kind: 'PROMOTIONAL',
      state: 'LIVE',
    })
    expect(await add('one', 5, { reason: 'welcome' })).toEqual(first)
    const other = await app.admin.ask(ADD, {
      input: { id: 'one', userId: 'ann', featureId: 'call', amount: 6 },
    })
    expect(other.errors?.[0]?.extensions).toMatchObject({ code: 'CONFLICT', status: 409 })
    expect(await credits()).toHaveLength(1)
  })

  it.each([
    ['amount', { amount: 0 }],
    ['amount', { amount: -5 }],
    ['amount', { amount: 1.5 }],
    ['amount', { amount: '5' }],
    ['priority', { priority: -1 }],
    ['expiresAt', { expiresAt: iso(start) }],
    ['expiresAt', { effectiveAt: iso(start + 2 * DAY), expiresAt: iso(start + DAY) }],
    ['featureId', { featureId: 'audit' }],
    ['id', { id: '' }],
  ])('bad input in %s changes nothing: %j', async (field, more) => {
    const { errors } = await app.admin.ask(ADD, {
      input: { id: 'bad', userId: 'ann', featureId: 'call', amount: 5, ...more },
    })
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', field })
    expect(await credits()).toEqual([])
  })

  it.each([
    ['FEATURE_NOT_FOUND', { featureId: 'none' }],
    ['USER_NOT_FOUND', { userId: 'none' }],
  ])('%s', async (code, more) => {
    const input = { userId: 'ann', featureId: 'call', amount: 5, ...more }
    expect((await app.admin.ask(ADD, { input })).errors?.[0]?.extensions).toMatchObject({ code })
  })

  it('an unknown credit is CREDIT_NOT_FOUND', async () => {
    const { errors } = await app.admin.ask('mutation { voidCredit(id: "none") { id } }')
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'CREDIT_NOT_FOUND', status: 404 })
  })

  it('a spent credit keeps its indexes until another is added', async () => {
    const ended = async () =>
      rowsOf<Data>(
        { connectionString: server.databaseUrl },
        `select id, ended from credit where app_id = $1 order by seq`,
        [app.id],
      )
    await add('first', 5)
    await record(15)
    expect(await ended()).toEqual([{ id: 'first', ended: false }])
    await add('second', 5)
    expect(await ended()).toEqual([
      { id: 'first', ended: true },
      { id: 'second', ended: false },
    ])
    await record(-3)
    expect(await ended()).toContainEqual({ id: 'first', ended: false })
  })

  it('a deleted user leaves no credits', async () => {
    await add('mine', 5, { reason: 'for Ann' })
    await record(12)
    await app.admin.data('mutation { deleteUser(id: "ann") { id } }')
    const rows = await rowsOf<Data>(
      { connectionString: server.databaseUrl },
      `select used::int, voided_at is not null as voided, reason from credit where app_id = $1`,
      [app.id],
    )
    expect(rows).toEqual([{ used: 2, voided: true, reason: null }])
    expect(await unbalanced(server.databaseUrl, app.id)).toEqual([])
  })
})
