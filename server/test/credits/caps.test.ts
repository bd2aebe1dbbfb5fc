import { beforeEach, describe, expect, it } from 'vitest'
import { publishPackage } from '../harness/catalogue.ts'
import type { Data } from '../harness/client.ts'
import { type ClockedApp, clockedApp } from '../harness/clocked-app.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'
import { callsOfAnn } from '../harness/spending.ts'

// Invariants: a cap refuses and pays nothing; it counts in windows of the UTC calendar, whatever happens to the plan.

const server = shared(startTestServer)
let app: ClockedApp

beforeEach(async () => {
  app = await clockedApp(server)
  await app.admin.data(
    `mutation { createFeature(input: { id: "audit", name: "Audit", type: BINARY }) { id } }`,
  )
  await publishPackage(app, 'plan', { call: { limit: 1000, overageEnabled: true } })
  await publishPackage(app, 'large', { call: {} })
  await app.advance('2091-03-14T22:30:00.000Z')
  await app.admin.data(`mutation { subscribe(userId: "ann", packageIds: ["plan"]) { id } }`)
})

const of = { userId: 'ann', featureId: 'call' }
const setCap = async (limit: number, period: string, entity: string | null = null): Promise<Data> =>
  (
    await app.admin.data(
      'mutation ($input: CapInput!) { setCap(input: $input) { entity limit period used reserved resetsAt } }',
      { input: { ...of, limit, period, entity } },
    )
  ).setCap
const { check, record, mutate } = callsOfAnn(() => app)
const used = async (): Promise<Record<string, number>> => {
  const { caps } = await app.admin.data('{ caps(userId: "ann") { entity period used reserved } }')
  return Object.fromEntries(
    caps.map(({ entity, period, used, reserved }: Data) => [
      `${period} ${entity ?? ''}`.trim(),
      used + reserved,
    ]),
  )
}

describe('gap: caps', () => {
  it('refuse beyond their limit until midnight UTC, also where the plan allows overage or is unlimited', async () => {
    expect(await setCap(10, 'DAY')).toEqual({
      ...{ entity: null, limit: 10, period: 'DAY', used: 0, reserved: 0 },
      resetsAt: '2091-03-15T00:00:00.000Z',
    })
    expect(await record(8)).toEqual({ recorded: true, reason: null })
    expect(await check(2)).toMatchObject({
      access: true,
      deniedBy: null,
      consumption: { used: 8, remaining: 2 },
    })
    const denied = {
      ...{ access: false, reasonCode: 'LIMIT_EXCEEDED', deniedBy: 'CAP DAY' },
      reason: 'Limit reached: 8 of 10 used today; 3 more requested.',
    }
    expect(await check(3)).toMatchObject(denied)
    expect(await record(3)).toEqual({ recorded: false, reason: denied.reason })

    await mutate('changeSubscription(userId: "ann", packageId: "large", when: NOW) { now }')
    expect(await check(3)).toMatchObject(denied)
    expect(await check(2)).toMatchObject({ access: true, reasonCode: 'UNLIMITED' })
    await app.advance('2091-03-14T23:59:59.999Z')
    expect(await record(3)).toMatchObject({ recorded: false })
    await app.advance('2091-03-15T00:00:00.000Z')
    expect(await record(10)).toMatchObject({ recorded: true })
    expect(await used()).toEqual({ DAY: 10 })
  })

  it('keep their count when they are edited, and are gone once they are removed', async () => {
    await setCap(10, 'DAY')
    await record(8)
    expect(await setCap(5, 'DAY')).toMatchObject({ limit: 5, used: 8 })
    expect(await check(0)).toMatchObject({ access: true })
    expect(await check(1)).toMatchObject({ access: false, consumption: { remaining: 0 } })
    expect(await setCap(20, 'DAY')).toMatchObject({ used: 8 })
    expect(await record(12)).toMatchObject({ recorded: true })
    const remove = 'removeCap(userId: "ann", featureId: "call", period: DAY) { limit used }'
    expect(await mutate(remove)).toEqual({ limit: 20, used: 20 })
    expect(await mutate(remove)).toBeNull()
    expect(await record(50)).toMatchObject({ recorded: true })
  })

  it('of four entities all have to have room; each counts its own usage', async () => {
    const all = ['team:7', 'team:8', 'agent:42', 'agent:43']
    await setCap(100, 'MONTH')
    await setCap(30, 'HOUR', 'team:7')
    await setCap(20, 'DAY', 'agent:42')
    await setCap(25, 'NEVER', 'agent:42')
    expect(await record(15, all)).toMatchObject({ recorded: true })
    expect(await check(6, all)).toMatchObject({ access: false, deniedBy: 'CAP DAY agent:42' })
    expect(await record(6, ['agent:42'])).toEqual({
      recorded: false,
      reason: 'Limit reached: 15 of 20 used today by "agent:42"; 6 more requested.',
    })
    expect(await check(16, ['team:7', 'agent:43'])).toMatchObject({ deniedBy: 'CAP HOUR team:7' })
    expect(await record(15, ['team:7', 'agent:43'])).toMatchObject({ recorded: true })
    expect(await record(40, ['team:9'])).toMatchObject({ recorded: true })
    expect(await used()).toEqual({
      ...{ MONTH: 70, 'HOUR team:7': 30, 'DAY agent:42': 15, 'NEVER agent:42': 15 },
    })
    expect(await record(-10, ['agent:42'])).toMatchObject({ recorded: true })
    await app.advance('2091-03-15T00:00:00.000Z')
    expect(await used()).toEqual({ MONTH: 60, 'HOUR team:7': 0, 'DAY agent:42': 0, 'NEVER agent:42': 5 })
  })

  it('hold what is reserved, and let it be settled under a lower limit', async () => {
    await setCap(50, 'HOUR', 'team:7')
    const reserve = (id: string, amount: number) =>
      mutate(`reserveUsage(input: { id: "${id}", userId: "ann", featureId: "call", amount: ${amount}, atLeast: 5,
        ttlSeconds: 7200, entities: ["team:7"] }) { reserved reason }`)
    expect(await reserve('a', 40)).toMatchObject({ reserved: 40 })
    expect(await reserve('b', 40)).toMatchObject({ reserved: 10 })
    expect(await reserve('c', 40)).toEqual({
      ...{
        reserved: 0,
        reason: 'Limit reached: 0 of 50 used this hour by "team:7", 50 reserved; 5 requested.',
      },
    })
    expect(await check(1)).toMatchObject({ access: true })
    expect(await check(1, ['team:7'])).toMatchObject({ access: false, deniedBy: 'CAP HOUR team:7' })
    const { errors } = await app.admin.ask(`mutation { reserveUsage(input: { id: "a", userId: "ann",
      featureId: "call", amount: 40, atLeast: 5, ttlSeconds: 7200, entities: ["team:8"] }) { reserved } }`)
    expect(errors?.[0]?.extensions.code).toBe('CONFLICT')

    await app.advance('2091-03-14T23:00:00.000Z')
    expect(await check(1, ['team:7'])).toMatchObject({ access: false })
    await setCap(10, 'HOUR', 'team:7')
    expect(await mutate('settleReservation(id: "a", amount: 30) { settled state }')).toEqual({
      ...{ settled: 30, state: 'SETTLED' },
    })
    expect(await used()).toEqual({ 'HOUR team:7': 40 })
    expect(
      await mutate('settleReservation(id: "b", amount: 12, ifOver: REJECT) { reserved settled }'),
    ).toEqual({
      ...{ reserved: 10, settled: 0 },
    })
    expect(await mutate('settleReservation(id: "b", amount: 12, ifOver: CAP) { settled }')).toEqual({
      settled: 10,
    })
    expect(await used()).toEqual({ 'HOUR team:7': 40 })
  })

  it('reject bad input with its field, and change nothing', async () => {
    const rejected = async (call: string, kind = 'mutation') => {
      const { errors } = await app.admin.ask(`${kind} { ${call} }`)
      const { code, field } = errors?.[0]?.extensions ?? {}
      return `${code} ${field}`
    }
    const cap = 'userId: "ann", featureId: "call", period: DAY'
    expect(await rejected(`setCap(input: { ${cap}, limit: -1 }) { limit }`)).toBe('BAD_USER_INPUT limit')
    for (const entity of ['team', 'team:', ':7'])
      expect(await rejected(`setCap(input: { ${cap}, limit: 1, entity: "${entity}" }) { limit }`)).toBe(
        'BAD_USER_INPUT entity',
      )
    expect(
      await rejected('setCap(input: { userId: "ann", featureId: "audit", limit: 1, period: DAY }) { limit }'),
    ).toBe('BAD_USER_INPUT featureId')
    expect(
      await rejected('setCap(input: { userId: "ann", featureId: "none", limit: 1, period: DAY }) { limit }'),
    ).toBe('FEATURE_NOT_FOUND undefined')
    for (const entities of ['["team"]', '["a:1", "a:2", "a:3", "a:4", "a:5"]']) {
      const call = `userId: "ann", featureId: "call", entities: ${entities}`
      for (const each of [
        `recordUsage(input: { ${call}, delta: 1 }) { recorded }`,
        `reserveUsage(input: { ${call}, amount: 1 }) { reserved }`,
      ])
        expect(await rejected(each)).toBe('BAD_USER_INPUT entities')
      expect(await rejected(`canUseFeature(${call}) { access }`, 'query')).toBe('BAD_USER_INPUT entities')
    }
    expect(await used()).toEqual({})
    expect(await check(1)).toMatchObject({ consumption: { used: 0 } })
    // Nothing was enrolled: the feature can be deleted like any other without credits.
    expect(await mutate('removeCap(userId: "ann", featureId: "call", period: DAY) { limit }')).toBeNull()
  })
})
