import { describe, expect, it } from 'vitest'
import { createDatabase } from '../../server/test/harness/database.ts'
import { startTestServer } from '../../server/test/harness/server.ts'
import { shared } from '../../server/test/harness/shared.ts'
import type { LiveReservation } from '../src/node.ts'
import { sdkApp } from './support/app.ts'
import { FaultyProxy } from './support/faulty-proxy.ts'

const server = shared(startTestServer)

const ASK = { userId: 'ann', featureId: 'calls' }

const use = (most: number) => async (reservation: LiveReservation) => {
  while (reservation.used < most && (await reservation.add(1))) if (reservation.used > most) break
}

describe('withReservation on a service', () => {
  it('uses what there is: partial room, no room, and what others hold', async () => {
    const app = await sdkApp(server, 500)
    const tollgate = app.tollgate()
    const first = await tollgate.withReservation({ ...ASK, amount: 120, atLeast: 1 }, async (reservation) => {
      await use(300)(reservation)
      const { data } = await tollgate.withReservation({ ...ASK, amount: 600 }, () => expect.unreachable())
      expect(data).toMatchObject({ reserved: false, reason: expect.stringMatching(/^Limit reached: /) })
    })
    expect(first.data).toMatchObject({
      used: 300,
      reservation: { state: 'SETTLED', settled: 300, late: false },
    })
    const second = await tollgate.withReservation({ ...ASK, amount: 120, atLeast: 1 }, use(300))
    expect(second.data).toMatchObject({ used: 200, reservation: { settled: 200 }, reason: null })
    const third = await tollgate.withReservation({ ...ASK, amount: 120, atLeast: 1 }, () =>
      expect.unreachable(),
    )
    expect(third.data?.reserved).toBe(false)
    expect(await app.ledger()).toEqual({ records: 2, sum: 500 })
    expect((await tollgate.reservations({ ...ASK, state: 'HELD' })).data).toEqual([])
  })

  it('ten at once on one budget never use more than there is', async () => {
    const app = await sdkApp(server, 500)
    const tollgate = app.tollgate()
    const work = await Promise.all(
      Array.from({ length: 10 }, () => tollgate.withReservation({ ...ASK, amount: 40, atLeast: 1 }, use(80))),
    )
    expect(work.map(({ error }) => error)).toEqual(work.map(() => null))
    const used = work.reduce((sum, { data }) => sum + (data?.used ?? 0), 0)
    expect(used).toBeLessThanOrEqual(500)
    expect((await app.ledger()).sum).toBe(used)
  })

  it('survives a restart of the service in the middle, and lost answers of every call', async () => {
    const database = await createDatabase()
    const first = await startTestServer({ databaseUrl: database.url })
    const app = await sdkApp(first, 1_000)
    const proxy = await FaultyProxy.before(first.url)
    const tollgate = app.tollgate({ baseUrl: proxy.url })
    let lost = 0
    // Each answer is lost twice before one gets through.
    proxy.fate = () => (lost++ % 3 === 2 ? 'pass' : 'cut')
    const restarted = (async () => {
      const { data, error } = await tollgate.withReservation({ ...ASK, amount: 50 }, async (reservation) => {
        await use(120)(reservation)
        proxy.down()
        await first.stop()
        const waiting = use(300)(reservation)
        const second = await startTestServer({ databaseUrl: database.url })
        proxy.up(second.url)
        await waiting
        return second
      })
      expect(error).toBeNull()
      return data
    })()
    const done = await restarted
    expect(done).toMatchObject({ reserved: true, used: 300, reservation: { settled: 300, late: false } })
    expect(lost).toBeGreaterThan(10)
    const second = done?.reserved ? done.value : expect.unreachable()
    proxy.fate = () => 'pass'
    expect((await tollgate.showUsage(ASK)).data?.consumption.used).toBe(300)
    expect((await tollgate.reservations({ ...ASK, state: 'HELD' })).data).toEqual([])
    await proxy.close()
    await second.stop()
    await database.drop()
  }, 120_000)
})
