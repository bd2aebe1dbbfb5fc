import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startTestServer } from '../../server/test/harness/server.ts'
import { shared } from '../../server/test/harness/shared.ts'
import type { KeyedEvent, RecordedUsage, Result } from '../src/node.ts'
import { CALL, type SdkApp, sdkApp } from './support/app.ts'
import { FaultyProxy } from './support/faulty-proxy.ts'

const server = shared(startTestServer)
let app: SdkApp
let proxy: FaultyProxy
let settled: [event: KeyedEvent, result: Result<RecordedUsage>][]
beforeEach(async () => {
  app = await sdkApp(server, 1_000)
  proxy = await FaultyProxy.before(server.url)
  settled = []
})
afterEach(() => proxy.close())

/** Looks by itself so rarely that the tests decide when. */
const queueing = () =>
  app.tollgate({
    baseUrl: proxy.url,
    retry: () => false,
    queue: { retryEvery: 3_600_000, onSettled: (...one) => settled.push(one) },
  })

const QUEUED = { recorded: false, queued: true, reason: expect.any(String), consumption: null }

describe('reverts in the queue', () => {
  it('a revert waits behind what it reverts, goes alone, and is answered once', async () => {
    const tollgate = queueing()
    const revert = { userId: 'ann', featureId: 'calls', revertOf: 'wrong' }
    expect((await tollgate.recordUsage({ ...CALL, delta: 4 }, { idempotencyKey: 'early' })).error).toBeNull()
    proxy.down()
    await tollgate.recordUsage({ ...CALL, delta: 3 }, { idempotencyKey: 'wrong' })
    expect((await tollgate.revertUsage(revert)).data).toEqual(QUEUED)
    await tollgate.recordUsage({ ...CALL, delta: 2 })
    await tollgate.revertUsage({ ...revert, revertOf: 'early' })
    await tollgate.revertUsage({ ...revert, revertOf: 'unknown' })
    // Its first answer is lost.
    proxy.up(server.url)
    let replies = 0
    proxy.fate = () => (++replies === 3 ? 'cut' : 'pass')
    expect(await tollgate.flush()).toEqual({ waiting: 4 })
    proxy.fate = () => 'pass'
    expect(await tollgate.flush()).toEqual({ waiting: 0 })
    const told = settled.map(([{ delta, revertOf }, { data, error }]) => [
      revertOf ?? delta,
      data?.consumption?.used ?? error?.code,
    ])
    expect(told).toEqual([
      [3, 7],
      ['wrong', 4],
      [2, 6],
      ['early', 2],
      ['unknown', 'BAD_USER_INPUT'],
    ])
    expect((await app.ledger()).sum).toBe(2)
    expect((await tollgate.revertUsage(revert)).data).toMatchObject({ recorded: true, queued: false })
    expect((await app.ledger()).sum).toBe(2)
  })

  it('a revert that names nothing is refused before it is sent or queued', async () => {
    const tollgate = queueing()
    proxy.down()
    const input = { userId: 'ann', featureId: 'calls' } as Parameters<typeof tollgate.revertUsage>[0]
    expect((await tollgate.revertUsage(input)).error).toMatchObject({
      code: 'BAD_USER_INPUT',
      field: 'revertOf',
    })
    expect(await tollgate.flush()).toEqual({ waiting: 0 })
  })
})
