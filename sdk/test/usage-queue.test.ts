import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createDatabase } from '../../server/test/harness/database.ts'
import { PATIENCE_MS } from '../../server/test/harness/patience.ts'
import { startTestServer } from '../../server/test/harness/server.ts'
import { shared } from '../../server/test/harness/shared.ts'
import type {
  KeyedEvent,
  QueueOptions,
  RecordedUsage,
  Result,
  TollgateError,
  TollgateOptions,
} from '../src/node.ts'
import { CALL, type SdkApp, sdkApp } from './support/app.ts'
import { deadUrl, FaultyProxy } from './support/faulty-proxy.ts'
import { recordingFetch } from './support/recording-fetch.ts'

// Invariants: an event that was answered with `queued` is counted once, in its turn, however often it is sent; one
// that was answered otherwise is not sent again.

const server = shared(startTestServer)
let app: SdkApp
let proxy: FaultyProxy
let settled: [event: KeyedEvent, result: Result<RecordedUsage>][]
let errors: TollgateError[]
beforeEach(async () => {
  app = await sdkApp(server, 1_000)
  proxy = await FaultyProxy.before(server.url)
  settled = []
  errors = []
})
afterEach(async () => {
  vi.useRealTimers()
  await proxy.close()
})

/** Looks by itself so rarely that the tests decide when. */
const queueing = (queue: QueueOptions = {}, options: TollgateOptions = {}) =>
  app.tollgate({
    baseUrl: proxy.url,
    onError: (error) => {
      errors.push(error)
    },
    queue: { retryEvery: 3_600_000, onSettled: (...one) => settled.push(one), ...queue },
    ...options,
  })

const QUEUED = { recorded: false, queued: true, reason: expect.any(String), consumption: null }

describe('queue', () => {
  it('is off until asked for: the call answers with the error', async () => {
    proxy.down()
    const { data, error } = await app.tollgate({ baseUrl: proxy.url }).recordUsage(CALL)
    expect(data).toBeNull()
    expect(error).toMatchObject({ name: 'NetworkError' })
  })

  it('leaves calls alone while the service answers', async () => {
    const tollgate = queueing()
    expect((await tollgate.recordUsage(CALL)).data).toMatchObject({ recorded: true, queued: false })
    expect((await tollgate.recordUsages([CALL, CALL])).data).toMatchObject([
      { recorded: true },
      { recorded: true },
    ])
    expect(await app.ledger()).toEqual({ records: 3, sum: 3 })
    expect(settled).toEqual([])
  })

  it('the service down for a while, stopped and started again: nothing lost, nothing doubled', async () => {
    const database = await createDatabase()
    const first = await startTestServer({ databaseUrl: database.url })
    const down = await sdkApp(first)
    const before = await FaultyProxy.before(first.url)
    const tollgate = down.tollgate({
      baseUrl: before.url,
      queue: { retryEvery: 20 },
      fallback: { calls: 'allow' },
    })
    await tollgate.recordUsage(CALL)

    before.down()
    await first.stop()
    const some = (length: number) => Promise.all(Array.from({ length }, () => tollgate.recordUsage(CALL)))
    const answers = [...(await some(50)), ...(await some(250))]
    expect(answers).toEqual(Array.from({ length: 300 }, () => ({ data: QUEUED, error: null })))
    expect((await tollgate.canUseFeature({ userId: 'ann', featureId: 'calls' })).data).toMatchObject({
      access: true,
      source: 'fallback',
    })
    expect(await tollgate.flush()).toEqual({ waiting: 300 })
    expect(await down.ledger()).toEqual({ records: 1, sum: 1 })

    // It notices by itself that the service is back.
    const second = await startTestServer({ databaseUrl: database.url })
    before.up(second.url)
    await vi.waitFor(async () => expect((await down.ledger()).records).toBe(301), PATIENCE_MS)
    expect(await tollgate.close()).toEqual({ waiting: 0 })
    expect(await down.ledger()).toEqual({ records: 301, sum: 301 })
    await before.close()
    await second.stop()
    await database.drop()
  })

  it('replies lost on the first try and while it drains: counted once', async () => {
    const tollgate = queueing({}, { retry: () => false })
    proxy.fate = () => 'cut'
    const first = await Promise.all(Array.from({ length: 50 }, () => tollgate.recordUsage(CALL)))
    expect(first.every(({ data }) => data?.queued)).toBe(true)
    expect(await app.ledger()).toEqual({ records: 50, sum: 50 })
    for (let i = 0; i < 200; i++) await tollgate.recordUsage(CALL)

    // The service is found to be there and takes a batch, but the reply gets lost; and again.
    let replies = 0
    proxy.fate = () => (replies++ % 2 === 0 ? 'pass' : 'cut')
    expect(await tollgate.flush()).toEqual({ waiting: 250 })
    expect(await tollgate.flush()).toEqual({ waiting: 250 })
    proxy.fate = () => 'pass'
    expect(await tollgate.flush()).toEqual({ waiting: 0 })
    expect(await app.ledger()).toEqual({ records: 250, sum: 250 })
    expect(settled).toHaveLength(250)
    // Each was told the count that it made.
    const counts = settled.map(([, { data }]) => data?.consumption?.used ?? 0)
    expect(counts.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 250 }, (_, i) => i + 1))
  })

  it('keeps the order: a SET between ADDs, and calls that come while others wait', async () => {
    const tollgate = queueing()
    proxy.down()
    await tollgate.recordUsage({ ...CALL, delta: 5 })
    await tollgate.recordUsages([
      { ...CALL, action: 'SET', delta: 100 },
      { ...CALL, delta: 7 },
    ])
    proxy.up(server.url)
    expect((await tollgate.recordUsage({ ...CALL, delta: -2 })).data).toEqual(QUEUED)
    expect(await tollgate.flush()).toEqual({ waiting: 0 })
    expect(settled.map(([, { data }]) => data?.consumption?.used)).toEqual([5, 100, 107, 105])
    expect((await tollgate.recordUsage(CALL)).data).toMatchObject({
      queued: false,
      consumption: { used: 106 },
    })
  })

  it('reports the outcome of each: recorded, refused by a limit, or failed for good, without delaying others', async () => {
    const tollgate = queueing()
    proxy.down()
    await tollgate.recordUsage({ ...CALL, delta: 1_000 })
    await tollgate.recordUsage(CALL)
    await tollgate.recordUsage({ ...CALL, delta: 2, idempotencyKey: 'x'.repeat(256) })
    await tollgate.recordUsage({ ...CALL, action: 'SET', delta: 3 })
    errors = []
    proxy.up(server.url)
    expect(await tollgate.flush()).toEqual({ waiting: 0 })
    expect(settled.map(([{ delta }, { data, error }]) => [delta, data?.recorded, error?.code])).toEqual([
      [1_000, true, undefined],
      [1, false, undefined],
      [2, undefined, 'BAD_USER_INPUT'],
      [3, true, undefined],
    ])
    expect(errors).toMatchObject([{ code: 'BAD_USER_INPUT' }])
    expect((await app.ledger()).sum).toBe(3)
  })

  it('is bounded: beyond `max` the call answers with an error, all or nothing', async () => {
    const tollgate = queueing({ max: 2 })
    proxy.down()
    await tollgate.recordUsage(CALL)
    const tooMany = await tollgate.recordUsages([CALL, CALL])
    expect(tooMany.error).toMatchObject({ name: 'NetworkError', code: 'QUEUE_FULL', mayHaveArrived: false })
    await tollgate.recordUsage(CALL)
    expect((await tollgate.recordUsage(CALL)).error).toMatchObject({ code: 'QUEUE_FULL' })
    expect(errors.map(({ code }) => code)).toEqual(['NETWORK_ERROR', 'QUEUE_FULL', 'QUEUE_FULL'])
    proxy.up(server.url)
    await tollgate.flush()
    expect(await app.ledger()).toEqual({ records: 2, sum: 2 })
  })

  it('waits while the key is refused, and says so once', async () => {
    let apiKey = 'wrong'
    const rekeyed: typeof fetch = (input, init) => {
      const headers = new Headers(init?.headers)
      headers.set('Authorization', apiKey)
      return fetch(input, { ...init, headers })
    }
    const tollgate = queueing({}, { fetch: rekeyed })
    proxy.down()
    await tollgate.recordUsage(CALL)
    proxy.up(server.url)
    errors = []
    expect(await tollgate.flush()).toEqual({ waiting: 1 })
    expect(await tollgate.flush()).toEqual({ waiting: 1 })
    expect(errors).toMatchObject([{ name: 'AuthenticationError' }])
    apiKey = app.apiKey
    expect(await tollgate.flush()).toEqual({ waiting: 0 })
    expect(await app.ledger()).toEqual({ records: 1, sum: 1 })
  })

  it('a caller’s own key counts once, queued and asked again', async () => {
    const tollgate = queueing()
    proxy.down()
    await tollgate.recordUsage(CALL, { idempotencyKey: 'mine' })
    await tollgate.recordUsages([CALL, CALL], { idempotencyKey: 'ours' })
    proxy.up(server.url)
    await tollgate.flush()
    await tollgate.recordUsage(CALL, { idempotencyKey: 'mine' })
    await tollgate.recordUsages([CALL, CALL], { idempotencyKey: 'ours' })
    expect(await app.ledger()).toEqual({ records: 3, sum: 3 })
  })

  it('an aborted call is not queued', async () => {
    const tollgate = queueing()
    proxy.down()
    await tollgate.recordUsage(CALL)
    const { error } = await tollgate.recordUsage(CALL, { signal: AbortSignal.abort() })
    expect(error).toMatchObject({ code: 'ABORTED' })
    proxy.up(server.url)
    await tollgate.flush()
    expect(await app.ledger()).toEqual({ records: 1, sum: 1 })
  })

  it('gives up what may have been counted too long ago, and never what was not sent', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const tollgate = queueing({}, { retry: () => false })
    proxy.fate = () => 'cut'
    await tollgate.recordUsage(CALL)
    await tollgate.recordUsage({ ...CALL, delta: 2 })
    proxy.fate = () => 'pass'
    vi.setSystemTime(Date.now() + 24 * 60 * 60 * 1000)
    errors = []
    expect(await tollgate.flush()).toEqual({ waiting: 0 })
    expect(settled.map(([{ delta }, { data, error }]) => [delta, data?.recorded, error?.code])).toEqual([
      [1, undefined, 'QUEUE_EXPIRED'],
      [2, true, undefined],
    ])
    expect(errors).toMatchObject([{ code: 'QUEUE_EXPIRED' }])
    expect(await app.ledger()).toEqual({ records: 2, sum: 3 })
  })

  it('with an endless `retryEvery` it does not look by itself', async () => {
    const { fetch, requests } = recordingFetch()
    const tollgate = app.tollgate({
      baseUrl: await deadUrl(),
      fetch,
      queue: { retryEvery: Number.POSITIVE_INFINITY },
    })
    await tollgate.recordUsage(CALL)
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(requests).toHaveLength(3)
    await tollgate.close()
  })

  it('after close nothing is queued', async () => {
    const tollgate = queueing()
    expect(await tollgate.close()).toEqual({ waiting: 0 })
    proxy.down()
    expect((await tollgate.recordUsage(CALL)).error).toMatchObject({ name: 'NetworkError' })
    expect(await tollgate.close()).toEqual({ waiting: 0 })
  })
})
