import { beforeEach, describe, expect, it } from 'vitest'
import { publishPackage } from '../harness/catalogue.ts'
import type { Data, Variables } from '../harness/client.ts'
import { type ClockedApp, clockedApp } from '../harness/clocked-app.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'
import { unbalanced } from '../harness/spending.ts'

// Invariants: what a reservation holds nobody else can use, until it is settled or released, or has expired by the app's
// clock; what is settled is in the ledger once.

const FIELDS = 'id userId featureId reserved settled state expiresAt late reason'
const RESERVE = `mutation ($input: ReservationInput!) { reserveUsage(input: $input) { ${FIELDS} } }`
const SETTLE = `mutation ($id: String!, $amount: SafeInt!, $final: Boolean, $ifOver: IfOver) {
  settleReservation(id: $id, amount: $amount, final: $final, ifOver: $ifOver) { ${FIELDS} }
}`
const EXTEND = `mutation ($id: String!, $ttlSeconds: Int, $add: SafeInt) {
  extendReservation(id: $id, ttlSeconds: $ttlSeconds, add: $add) { ${FIELDS} }
}`
const RELEASE = `mutation ($id: String!) { releaseReservation(id: $id) { ${FIELDS} } }`

const server = shared(startTestServer)
let app: ClockedApp
const start = Date.UTC(2091, 2, 10)
const [SECOND, DAY] = [1_000, 86_400_000]
const iso = (at: number) => new Date(at).toISOString()

beforeEach(async () => {
  app = await clockedApp(server)
  await publishPackage(app, 'plan', { call: { limit: 100 } })
  await publishPackage(app, 'open', { call: { limit: 10, overageEnabled: true } })
  await app.advance(iso(start))
  await app.admin.data(`mutation { subscribe(userId: "ann", packageIds: ["plan"]) { id } }`)
})

const reserve = async (id: string, amount: number, more: Variables = {}): Promise<Data> =>
  (await app.admin.data(RESERVE, { input: { id, userId: 'ann', featureId: 'call', amount, ...more } }))
    .reserveUsage
const settle = async (id: string, amount: number, more: Variables = {}): Promise<Data> =>
  (await app.admin.data(SETTLE, { id, amount, ...more })).settleReservation
const extend = async (id: string, more: Variables): Promise<Data> =>
  (await app.admin.data(EXTEND, { id, ...more })).extendReservation
const release = async (id: string): Promise<Data> =>
  (await app.admin.data(RELEASE, { id })).releaseReservation
const add = async (id: string, amount: number, more: Variables = {}): Promise<void> => {
  const input = { id, userId: 'ann', featureId: 'call', amount, ...more }
  await app.admin.data('mutation ($input: CreditInput!) { addCredit(input: $input) { id } }', { input })
}
const code = async (query: string, variables: Variables): Promise<unknown> =>
  (await app.admin.ask(query, variables)).errors?.[0]?.extensions.code
const record = async (delta: number): Promise<boolean> => {
  const input = { userId: 'ann', featureId: 'call', delta }
  return (await app.admin.call('recordUsage { recorded }', { input })).recorded
}
/** Used of the plan, reserved, and remaining. */
const figures = async (): Promise<number[]> => {
  const { consumption } = await app.admin.call('canUseFeature { consumption { used reserved remaining } }', {
    userId: 'ann',
    featureId: 'call',
  })
  return [consumption.used, consumption.reserved, consumption.remaining]
}

describe('reservations', () => {
  it('hold units, record what was used and return the rest', async () => {
    expect(await reserve('r', 75)).toEqual({
      ...{ id: 'r', userId: 'ann', featureId: 'call', reserved: 75, settled: 0, state: 'HELD' },
      ...{ expiresAt: iso(start + 300 * SECOND), late: false, reason: null },
    })
    expect(await figures()).toEqual([0, 75, 25])
    expect(await record(26)).toBe(false)
    expect(await record(25)).toBe(true)
    expect(await reserve('s', 1)).toMatchObject({
      ...{ reserved: 0, state: 'RELEASED' },
      reason: 'Limit reached: 0 left in the sources of the feature; 1 requested.',
    })
    expect(await settle('r', 50)).toMatchObject({
      reserved: 0,
      settled: 50,
      state: 'SETTLED',
      late: false,
      reason: null,
    })
    expect(await figures()).toEqual([75, 0, 25])
    expect(await code(SETTLE, { id: 'r', amount: 50 })).toBe('CONFLICT')
    expect(await code(RELEASE, { id: 'r' })).toBe('CONFLICT')
    expect(await unbalanced(server.databaseUrl, app.id)).toEqual([])
  })

  it('take what there is, if that is at least `atLeast`', async () => {
    await record(60)
    expect(await reserve('r', 75, { atLeast: 41 })).toMatchObject({ reserved: 0 })
    expect(await reserve('r', 75, { atLeast: 40 })).toMatchObject({ reserved: 40 })
    expect(await reserve('r', 75, { atLeast: 40 })).toMatchObject({ reserved: 40 })
    expect(
      await code(RESERVE, { input: { id: 'r', userId: 'ann', featureId: 'call', amount: 74, atLeast: 40 } }),
    ).toBe('CONFLICT')
  })

  it('are the same if only the order of entities and of the keys of metadata differs', async () => {
    const metadata = [
      { model: 'm', options: { a: 1, b: [2] } },
      { options: { b: [2], a: 1 }, model: 'm' },
    ]
    const entities = [
      ['team:7', 'agent:42'],
      ['agent:42', 'team:7'],
    ]
    for (const i of [0, 1])
      expect(await reserve('r', 75, { metadata: metadata[i], entities: entities[i] })).toMatchObject({
        reserved: 75,
      })
    const other = (more: Variables) =>
      code(RESERVE, { input: { id: 'r', userId: 'ann', featureId: 'call', amount: 75, ...more } })
    expect(await other({ metadata: metadata[0], entities: ['team:7'] })).toBe('CONFLICT')
    expect(
      await other({ metadata: { ...metadata[0], options: { a: 1, b: [3] } }, entities: entities[0] }),
    ).toBe('CONFLICT')
  })

  it('count as calls for their feature when they are settled or refused', async () => {
    await reserve('r', 75)
    await settle('r', 30, { final: false })
    await reserve('none', 50)
    await settle('r', 200, { ifOver: 'REJECT' })
    await app.advance(iso(start + 400 * SECOND))
    await settle('r', 10)
    const { featureTotals } = await app.dashboard.data(
      'query ($appId: String!) { featureTotals(appId: $appId) { featureId records units } }',
      { appId: app.id },
    )
    expect(featureTotals).toEqual([{ featureId: 'call', records: 2, units: 40 }])
    const to = Date.now()
    const { featureActivity } = await app.dashboard.data(
      `query ($appId: String!, $from: String!, $to: String!) {
        featureActivity(appId: $appId, id: "call", from: $from, to: $to, interval: DAY) { refused }
      }`,
      { appId: app.id, from: iso(to - DAY), to: iso(to) },
    )
    expect(featureActivity.map(({ refused }: Data) => refused)).toContain(2)
  })

  it('are settled in parts, with the same answer to a repeated key', async () => {
    await reserve('r', 75)
    const keyed = app.admin.with({ 'Idempotency-Key': 'part one' })
    for (let i = 0; i < 2; i++) {
      const { settleReservation } = await keyed.data(SETTLE, { id: 'r', amount: 30, final: false })
      expect(settleReservation).toMatchObject({ reserved: 45, settled: 30, state: 'HELD' })
    }
    expect(await figures()).toEqual([30, 45, 25])
    expect(await settle('r', 45)).toMatchObject({ reserved: 0, settled: 75, state: 'SETTLED' })
    expect(await figures()).toEqual([75, 0, 25])
  })

  it('use credits in order, plan and all', async () => {
    await add('first', 10, { priority: 1 })
    await add('last', 10, { priority: 60 })
    await record(95)
    expect(await reserve('r', 16)).toMatchObject({ reserved: 16 })
    expect(await reserve('s', 10)).toMatchObject({ reserved: 0 })
    expect(await settle('r', 3, { final: false })).toMatchObject({ reserved: 13, settled: 3 })
    const list = '{ credits(userId: "ann") { id used reserved } }'
    expect((await app.admin.data(list)).credits).toEqual([
      { id: 'first', used: 10, reserved: 0 },
      { id: 'last', used: 0, reserved: 1 },
    ])
    expect(await figures()).toEqual([88, 13, 9])
    expect(await unbalanced(server.databaseUrl, app.id)).toEqual([])
  })

  it('settle in the period in which they were reserved', async () => {
    await app.advance(iso(start + 30 * DAY + SECOND))
    await record(10)
    await reserve('r', 40, { ttlSeconds: 86_400 })
    await app.advance(iso(Date.UTC(2091, 3, 10)))
    expect(await figures()).toEqual([0, 0, 100])
    expect(await settle('r', 40)).toMatchObject({ settled: 40, late: false })
    expect(await figures()).toEqual([0, 0, 100])
    const { current, past } = await app.showUsage()
    expect([current?.[2], past[0]?.[2]]).toEqual([0, 50])
    expect(await unbalanced(server.databaseUrl, app.id)).toEqual([])
  })

  it('keep their part of a credit that has expired or was voided', async () => {
    await add('soon', 10, { priority: 1, expiresAt: iso(start + 10 * SECOND) })
    await add('void', 10, { priority: 2 })
    await reserve('r', 20)
    await app.admin.data('mutation { voidCredit(id: "void") { id } }')
    await app.advance(iso(start + 20 * SECOND))
    await add('other', 1)
    expect(await settle('r', 20)).toMatchObject({ settled: 20 })
    expect(await figures()).toEqual([0, 0, 101])
    expect(await unbalanced(server.databaseUrl, app.id)).toEqual([])
  })

  it.each([
    [
      'RECORD',
      { settled: 30, state: 'SETTLED', reason: '20 units were recorded more than reserved.' },
      [110, 0, 0],
    ],
    [
      'CAP',
      {
        settled: 20,
        state: 'SETTLED',
        reason: '10 of 20 units more than reserved were recorded: no more are left.',
      },
      [100, 0, 0],
    ],
    ['REJECT', { settled: 0, state: 'HELD', reserved: 10 }, [80, 10, 10]],
  ])('more than reserved: %s', async (ifOver, answer, after) => {
    await record(80)
    await reserve('r', 10)
    expect(await settle('r', 30, { ifOver })).toMatchObject(answer)
    expect(await figures()).toEqual(after)
    expect(await unbalanced(server.databaseUrl, app.id)).toEqual([])
  })

  it('expire by the clock of the app, and are late then', async () => {
    await reserve('r', 75, { ttlSeconds: 60 })
    await app.advance(iso(start + 60 * SECOND - 1))
    expect(await figures()).toEqual([0, 75, 25])
    expect(await extend('r', { ttlSeconds: 60 })).toMatchObject({ expiresAt: iso(start + 120 * SECOND - 1) })
    await app.advance(iso(start + 120 * SECOND - 1))
    expect(await figures()).toEqual([0, 0, 100])
    expect(await code(EXTEND, { id: 'r', ttlSeconds: 60 })).toBe('CONFLICT')
    const list = '{ reservations(userId: "ann", state: EXPIRED) { id state reserved } }'
    expect((await app.admin.data(list)).reservations).toEqual([{ id: 'r', state: 'EXPIRED', reserved: 0 }])
    expect(await settle('r', 75)).toMatchObject({ settled: 75, state: 'SETTLED', late: true })
    expect(await figures()).toEqual([75, 0, 25])
  })

  it('are extended by units, all or none', async () => {
    await reserve('r', 50)
    expect(await extend('r', { add: 30 })).toMatchObject({ reserved: 80, reason: null })
    expect(await extend('r', { add: 30 })).toMatchObject({
      ...{ reserved: 80, reason: 'Limit reached: 20 left in the sources of the feature; 30 requested.' },
    })
    expect(await figures()).toEqual([0, 80, 20])
  })

  it('return everything when released, once', async () => {
    await reserve('r', 50)
    expect(await release('r')).toMatchObject({ reserved: 0, state: 'RELEASED' })
    expect(await release('r')).toMatchObject({ state: 'RELEASED' })
    expect(await figures()).toEqual([0, 0, 100])
    expect(await code(SETTLE, { id: 'r', amount: 1 })).toBe('CONFLICT')
  })

  it('go into overage where the plan allows it', async () => {
    await app.admin.data(
      'mutation { changeSubscription(userId: "ann", packageId: "open", when: NOW) { now } }',
    )
    expect(await reserve('r', 50)).toMatchObject({ reserved: 50 })
    expect(await settle('r', 60)).toMatchObject({ settled: 60 })
    expect(await figures()).toEqual([60, 0, 0])
    expect(await record(1)).toBe(true)
  })

  it('hold nothing of a feature that is not granted', async () => {
    await app.admin.data('mutation { createUser(input: { id: "bob" }) { id } }')
    const input = { userId: 'bob', featureId: 'call', amount: 1 }
    expect((await app.admin.data(RESERVE, { input })).reserveUsage).toMatchObject({
      ...{ reserved: 0, reason: 'The user has no active subscription.' },
    })
  })

  it.each([
    ['amount', { amount: 0 }],
    ['atLeast', { atLeast: 0 }],
    ['atLeast', { atLeast: 11 }],
    ['ttlSeconds', { ttlSeconds: 0 }],
    ['ttlSeconds', { ttlSeconds: 86_401 }],
  ])('bad input in %s: %j', async (field, more) => {
    const { errors } = await app.admin.ask(RESERVE, {
      input: { id: 'r', userId: 'ann', featureId: 'call', amount: 10, ...more },
    })
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', field })
  })

  it('an unknown one is RESERVATION_NOT_FOUND', async () => {
    expect(await code(RELEASE, { id: 'none' })).toBe('RESERVATION_NOT_FOUND')
    expect(await code(SETTLE, { id: 'no\u0000ne', amount: 1 })).toBe('RESERVATION_NOT_FOUND')
  })
})
