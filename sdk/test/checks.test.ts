import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createUsers } from '../../server/test/harness/catalogue.ts'
import { startTestServer } from '../../server/test/harness/server.ts'
import { shared } from '../../server/test/harness/shared.ts'
import {
  type CanUseFeatureData,
  type Fallback,
  NetworkError,
  type Result,
  type Tollgate,
  type TollgateError,
} from '../src/node.ts'
import { Checks } from '../src/outage/checks.ts'
import { CALL, type SdkApp, sdkApp } from './support/app.ts'
import { FaultyProxy } from './support/faulty-proxy.ts'
import { recordingFetch } from './support/recording-fetch.ts'

// Invariants: a cached answer is never older than its time to live, nor than this client's last change; while the
// service is unreachable a check answers what was declared, and without a declaration the error; a service that
// answers is never overruled.

const server = shared(startTestServer)
let app: SdkApp
let proxy: FaultyProxy
beforeEach(async () => {
  app = await sdkApp(server, 10)
  proxy = await FaultyProxy.before(server.url)
})
afterEach(async () => {
  vi.useRealTimers()
  await proxy.close()
})

type Ask = () => Result<CanUseFeatureData[]> | Promise<Result<CanUseFeatureData[]>>
const FOREVER = { ttl: Number.POSITIVE_INFINITY }
const ASK = { userId: 'ann', featureId: 'calls' }
const used = async (tollgate: Tollgate) => (await tollgate.canUseFeature(ASK)).data?.consumption?.used
/** Another client's record, of which this one hears nothing. */
const useElsewhere = () => app.tollgate().recordUsage(CALL)

describe('cache', () => {
  it('is off until asked for', async () => {
    const { fetch, requests } = recordingFetch()
    const tollgate = app.tollgate({ fetch })
    await used(tollgate)
    await used(tollgate)
    expect(requests).toHaveLength(2)
  })

  it('answers from memory for `ttl`, then asks again', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const { fetch, requests } = recordingFetch()
    const tollgate = app.tollgate({ fetch, cache: { ttl: 1_000 } })
    expect((await tollgate.canUseFeature(ASK)).data).toMatchObject({ source: 'service' })
    await useElsewhere()
    vi.advanceTimersByTime(999)
    expect((await tollgate.canUseFeature(ASK)).data).toMatchObject({
      source: 'cache',
      consumption: { used: 0 },
    })
    expect(requests).toHaveLength(1)
    vi.advanceTimersByTime(1)
    expect((await tollgate.canUseFeature(ASK)).data).toMatchObject({
      source: 'service',
      consumption: { used: 1 },
    })
  })

  it('is for the `delta` that was asked', async () => {
    const tollgate = app.tollgate({ cache: FOREVER })
    await tollgate.canUseFeature(ASK)
    expect((await tollgate.canUseFeature({ ...ASK, delta: 11 })).data).toMatchObject({
      access: false,
      source: 'service',
    })
  })

  it('asks only for what is not cached', async () => {
    const { fetch, requests } = recordingFetch()
    const tollgate = app.tollgate({ fetch, cache: FOREVER })
    await tollgate.canUseFeature(ASK)
    const { data } = await tollgate.canUseFeatures({ userId: 'ann', featureIds: ['none', 'calls'] })
    expect(data?.map(({ featureId, source }) => [featureId, source])).toEqual([
      ['none', 'service'],
      ['calls', 'cache'],
    ])
    expect(requests[1]?.body).not.toContain('calls')
    await tollgate.canUseFeatures({ userId: 'ann', featureIds: ['calls', 'none'] })
    expect(requests).toHaveLength(2)
  })

  it('forgets the answer longest unused beyond `max`', async () => {
    await createUsers(app.admin, ['bob', 'cid'])
    const { fetch, requests } = recordingFetch()
    const tollgate = app.tollgate({ fetch, cache: { ...FOREVER, max: 2 } })
    const ask = (userId: string) => tollgate.canUseFeature({ ...ASK, userId })
    for (const userId of ['ann', 'bob', 'ann', 'cid', 'ann']) await ask(userId)
    expect(requests).toHaveLength(3)
    await ask('bob')
    expect(requests).toHaveLength(4)
  })

  const CHANGES: [what: string, change: (tollgate: Tollgate) => Promise<unknown>, seen: object][] = [
    ['recordUsage', (t) => t.recordUsage(CALL), { consumption: { used: 1 } }],
    ['recordUsages', (t) => t.recordUsages([CALL, CALL]), { consumption: { used: 2 } }],
    [
      'updateUser',
      (t) => t.updateUser({ id: 'ann', input: { id: 'eve' } }),
      { reasonCode: 'USER_NOT_FOUND' },
    ],
  ]
  it.each(CHANGES)('is not older than this client’s own %s', async (_, change, seen) => {
    const tollgate = app.tollgate({ cache: FOREVER })
    await used(tollgate)
    await change(tollgate)
    expect((await tollgate.canUseFeature(ASK)).data).toMatchObject({ ...seen, source: 'service' })
  })

  it('is not older than this client’s own subscribe', async () => {
    await createUsers(app.admin, ['bob'])
    const tollgate = app.tollgate({ cache: FOREVER })
    const ask = { userId: 'bob', featureId: 'calls' }
    expect((await tollgate.canUseFeature(ask)).data?.access).toBe(false)
    await tollgate.subscribe({ userId: 'bob', packageIds: ['plan'] })
    expect((await tollgate.canUseFeature(ask)).data?.access).toBe(true)
  })

  it('is not older than this client’s own createUser', async () => {
    const tollgate = app.tollgate({ cache: FOREVER })
    const ask = { userId: 'bob', featureId: 'calls' }
    expect((await tollgate.canUseFeature(ask)).data?.reasonCode).toBe('USER_NOT_FOUND')
    await tollgate.createUser({ id: 'bob' })
    expect((await tollgate.canUseFeature(ask)).data?.reasonCode).toBe('NO_SUBSCRIPTION')
  })

  it('keeps no answer that a record has overtaken on its way', async () => {
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    let answered = () => {}
    const hasAnswer = new Promise<void>((resolve) => {
      answered = resolve
    })
    const slowChecks: typeof fetch = async (input, init) => {
      const response = await fetch(input, init)
      if (!String(init?.body).includes('query canUseFeature')) return response
      answered()
      await held
      return response
    }
    const tollgate = app.tollgate({ fetch: slowChecks, cache: FOREVER })
    const before = used(tollgate)
    await hasAnswer
    await tollgate.recordUsage(CALL)
    release()
    expect(await before).toBe(0)
    expect(await used(tollgate)).toBe(1)
  })

  it('an answer that comes after that of a later question is not kept, not even as the last known', async () => {
    const checks = new Checks(FOREVER, { default: 'last-known' }, () => performance.now())
    const check = (ask: Ask) =>
      checks.check({ userId: 'ann', featureIds: ['calls'], delta: 1 }, async () => ask())
    const says = (access: boolean) => {
      const answer = {
        featureId: 'calls',
        access,
        reason: '',
        reasonCode: 'GRANTED',
        consumption: null,
      } as const
      return { data: [answer], error: null }
    }
    let release = () => {}
    const early = check(
      () =>
        new Promise((resolve) => {
          release = () => resolve(says(false))
        }),
    )
    checks.changed('ann')
    await check(() => says(true))
    release()
    expect((await early).data).toMatchObject([{ access: false }])
    expect((await check(() => says(false))).data).toMatchObject([{ access: true, source: 'cache' }])
    checks.changed('ann')
    const error = new NetworkError('down', { code: 'TIMEOUT', status: 0 })
    expect((await check(() => ({ data: null, error }))).data).toMatchObject([
      { access: true, source: 'fallback' },
    ])
  })
})

describe('fallback', () => {
  const ask = async (fallback: Fallback | undefined, featureId = 'calls', delta = 1) => {
    const errors: TollgateError[] = []
    const tollgate = app.tollgate({
      baseUrl: proxy.url,
      fallback,
      onError: (error) => {
        errors.push(error)
      },
    })
    await tollgate.canUseFeature(ASK)
    proxy.down()
    const result = await tollgate.canUseFeature({ userId: 'ann', featureId, delta })
    return { ...result, errors }
  }

  it('is off until asked for: the check answers with the error', async () => {
    const { data, error } = await ask(undefined)
    expect(data).toBeNull()
    expect(error).toMatchObject({ name: 'NetworkError' })
  })

  const ROWS: [what: string, fallback: Fallback, featureId: string, delta: number, access: boolean][] = [
    ['allow', { calls: 'allow' }, 'calls', 1, true],
    ['deny', { calls: 'deny' }, 'calls', 1, false],
    ['a feature’s own before the default', { calls: 'deny', default: 'allow' }, 'calls', 1, false],
    ['the default', { calls: 'deny', default: 'allow' }, 'seats', 1, true],
    ['a name that every object has', { default: 'deny' }, 'constructor', 1, false],
    ['last known', { calls: 'last-known' }, 'calls', 1, true],
    ['last known, for as much as was left', { calls: 'last-known' }, 'calls', 10, true],
    ['last known, for more than was left', { calls: 'last-known' }, 'calls', 11, false],
    ['last known, of what was never asked', { default: 'last-known' }, 'seats', 1, false],
  ]
  it.each(ROWS)('%s', async (_, fallback, featureId, delta, access) => {
    const { data, error, errors } = await ask(fallback, featureId, delta)
    expect(error).toBeNull()
    expect(data).toMatchObject({ featureId, access, reasonCode: 'FALLBACK', source: 'fallback' })
    expect(data?.reason).toContain(access ? 'allowed' : 'denied')
    expect(errors).toMatchObject([{ name: 'NetworkError' }])
  })

  it('several at once: all as declared, or the error', async () => {
    proxy.down()
    const featureIds = ['calls', 'seats']
    const both = app.tollgate({ baseUrl: proxy.url, fallback: { calls: 'allow', default: 'deny' } })
    const { data } = await both.canUseFeatures({ userId: 'ann', featureIds })
    expect(data?.map(({ access }) => access)).toEqual([true, false])
    const one = app.tollgate({ baseUrl: proxy.url, fallback: { calls: 'allow' } })
    expect((await one.canUseFeatures({ userId: 'ann', featureIds })).error).toMatchObject({
      name: 'NetworkError',
    })
  })

  it('a fault of the service counts as unreachable, a refusal does not', async () => {
    const fallback: Fallback = { default: 'allow' }
    const answer = (code: string, status: number) =>
      JSON.stringify({ errors: [{ message: 'm', extensions: { code, type: 'Error', status } }] })
    const faulty = app.tollgate({
      fallback,
      fetch: async () => new Response(answer('INTERNAL_SERVER_ERROR', 500)),
    })
    expect((await faulty.canUseFeature(ASK)).data).toMatchObject({ access: true, source: 'fallback' })
    expect((await app.tollgate({ fallback, apiKey: 'wrong' }).canUseFeature(ASK)).error).toMatchObject({
      name: 'AuthenticationError',
    })
    expect(
      (await app.tollgate({ fallback }).canUseFeature({ userId: 'nobody', featureId: 'calls' })).data,
    ).toMatchObject({ access: false, source: 'service' })
  })

  it('ends when the service is back', async () => {
    const tollgate = app.tollgate({ baseUrl: proxy.url, fallback: { default: 'deny' } })
    proxy.down()
    expect((await tollgate.canUseFeature(ASK)).data?.access).toBe(false)
    proxy.up(server.url)
    expect((await tollgate.canUseFeature(ASK)).data).toMatchObject({ access: true, source: 'service' })
  })
})
