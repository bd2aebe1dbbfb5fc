import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createUsers, publishPackage } from '../harness/catalogue.ts'
import type { Data } from '../harness/client.ts'
import { openServers, type Servers } from '../harness/servers.ts'
import { unbalanced } from '../harness/spending.ts'

// Invariants, whatever runs at the same time and wherever: used and reserved units never exceed the budget and the
// credits; every source is the sum of its ledger rows.

const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))

const RESERVE = 'reserveUsage { id reserved reason }'
const RECORD = 'recordUsage { recorded consumption { used remaining } }'

describe.each([{ processes: 1 }, { processes: 2 }])('spending with $processes server process(es)', ({
  processes,
}) => {
  let servers: Servers
  beforeAll(async () => {
    servers = await openServers(processes, { TOLLGATE_REQUEST_TIMEOUT_MS: '60000' })
    await publishPackage(servers.app, 'plan', { call: { limit: 500 } })
  })
  afterAll(() => servers.close())

  async function subscriber(userId: string): Promise<string> {
    await createUsers(servers.admin(0), [userId])
    await servers.admin(0).call('subscribe { id }', { userId, packageIds: ['plan'] })
    return userId
  }

  const figures = async (userId: string): Promise<Data> =>
    (
      await servers.admin(0).call('canUseFeature { consumption { used reserved remaining } }', {
        userId,
        featureId: 'call',
      })
    ).consumption

  it.each([
    1, 3, 20,
  ])('of 20 reservations of 75 on a budget of 500, %i at a time, exactly 6 are granted', async (lanes) => {
    const userId = await subscriber(`reserver-${lanes}`)
    const input = { userId, featureId: 'call', amount: 75 }
    const made: Data[] = []
    let asked = 0
    await Promise.all(
      times(lanes, async () => {
        while (asked < 20) made.push(await servers.admin(asked++).call(RESERVE, { input }))
      }),
    )
    expect(made.filter(({ reserved }) => reserved === 75)).toHaveLength(6)
    expect(made.filter(({ reserved }) => reserved === 0)).toHaveLength(14)
    expect(await figures(userId)).toEqual({ used: 0, reserved: 450, remaining: 50 })
  })

  it('of 20 records of 75 by a team with a cap of 500, exactly 6 are recorded', async () => {
    const userId = await subscriber('capped')
    await servers.admin(0).call('addCredit { id }', { input: { userId, featureId: 'call', amount: 5_000 } })
    const cap = { userId, featureId: 'call', entity: 'team:7', limit: 500, period: 'YEAR' }
    await servers.admin(0).call('setCap { limit }', { input: cap })
    const input = { userId, featureId: 'call', delta: 75, entities: ['team:7', 'agent:1'] }
    const made = await Promise.all(times(20, (i) => servers.admin(i).call(RECORD, { input })))
    expect(made.filter(({ recorded }) => recorded)).toHaveLength(6)
    expect(await servers.admin(1).call('caps { used reserved }', { userId })).toEqual([
      { used: 450, reserved: 0 },
    ])
    expect(await unbalanced(servers.database.url)).toEqual([])
  })

  it('the first reservation is not overtaken by records decided before it', async () => {
    const users = await Promise.all(times(6, (i) => subscriber(`first-${processes}-${i}`)))
    for (const userId of users) {
      const record = { userId, featureId: 'call', delta: 60 }
      const reserve = { userId, featureId: 'call', amount: 250 }
      const [reserved, ...recorded] = await Promise.all([
        servers.admin(0).call(RESERVE, { input: reserve }),
        ...times(10, (i) => servers.admin(i).call(RECORD, { input: record })),
      ])
      const { used, reserved: held } = await figures(userId)
      expect(used).toBe(60 * recorded.filter((one) => one.recorded).length)
      expect(held).toBe(reserved.reserved)
      expect(used + held).toBeLessThanOrEqual(500)
      expect(used + held).toBeGreaterThan(440)
    }
    expect(await unbalanced(servers.database.url)).toEqual([])
  })

  it('every process sees what another one changed, although each remembers credits', async () => {
    const userId = await subscriber('remembered')
    const add = (id: string) =>
      servers.admin(0).call('addCredit { id }', {
        input: { id: `${processes} ${id}`, userId, featureId: 'call', amount: 30, priority: 1 },
      })
    const left = async () => {
      const figures = await Promise.all(
        times(4, (i) =>
          servers.admin(i).call('canUseFeature { consumption { remaining } }', { userId, featureId: 'call' }),
        ),
      )
      return figures.map(({ consumption }) => consumption.remaining)
    }
    const record = async (i: number, delta: number) =>
      expect(
        await servers.admin(i).call(RECORD, { input: { userId, featureId: 'call', delta } }),
      ).toMatchObject({ recorded: true })
    await add('first')
    await add('second')
    expect(await left()).toEqual([560, 560, 560, 560])
    await servers.admin(1).call('voidCredit { id }', { id: `${processes} first` })
    expect(await left()).toEqual([530, 530, 530, 530])
    for (const [i, rest] of [525, 520, 515, 510].entries()) {
      await record(i, 5)
      expect(await left()).toEqual([rest, rest, rest, rest])
    }
    expect(await servers.admin(2).call('credits { used }', { userId })).toEqual([{ used: 0 }, { used: 20 }])
    await record(3, -20)
    await servers.admin(0).call('deleteUser', { id: userId })
    await subscriber(userId)
    await add('of another user')
    expect(await left()).toEqual([530, 530, 530, 530])
    await record(1, 30)
    expect(await servers.admin(0).call('credits { used }', { userId })).toEqual([{ used: 30 }])
    expect(await left()).toEqual([500, 500, 500, 500])
  })

  it('records, credits, reservations and settlements at once never exceed what there is', {
    timeout: 120_000,
  }, async () => {
    const userId = await subscriber('busy')
    const admin = (i: number) => servers.admin(i)
    const add = (i: number) =>
      admin(i).call('addCredit { id }', {
        input: { id: `credit-${i}`, userId, featureId: 'call', amount: 30, priority: (i * 37) % 100 },
      })
    await Promise.all(times(10, add))
    let settled = 0
    let recorded = 0
    await Promise.all(
      times(24, async (lane) => {
        for (let i = 0; i < 6; i++) {
          const turn = lane * 6 + i
          if (turn % 3 === 0) {
            const input = { userId, featureId: 'call', delta: 1 + (turn % 9) }
            if ((await admin(turn).call(RECORD, { input })).recorded) recorded += input.delta
            continue
          }
          const input = { userId, featureId: 'call', amount: 10 + (turn % 20) }
          const { id, reserved } = await admin(turn).call(RESERVE, { input })
          if (reserved === 0) continue
          if (turn % 3 === 1) await admin(turn + 1).call('releaseReservation { id }', { id })
          else {
            await admin(turn + 1).call('settleReservation { settled }', { id, amount: 7 })
            settled += 7
          }
        }
      }),
    )
    const { used, reserved, remaining } = await figures(userId)
    const credits = (await admin(0).call('credits { used amount }', { userId })) as Data[]
    const burnt = credits.reduce((sum, credit) => sum + credit.used, 0)
    expect(reserved).toBe(0)
    expect(used + burnt).toBe(recorded + settled)
    expect(used + burnt + remaining).toBe(800)
    expect(credits.every((credit) => credit.used <= credit.amount)).toBe(true)
    expect(await unbalanced(servers.database.url)).toEqual([])
  })
})
