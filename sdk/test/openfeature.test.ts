import { OpenFeature as OnServer } from '@openfeature/server-sdk'
import { OpenFeature as InPage, ProviderEvents, ProviderStatus } from '@openfeature/web-sdk'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { furnish } from '../../server/test/harness/furnished.ts'
import { API_KEY, startTestServer } from '../../server/test/harness/server.ts'
import { shared } from '../../server/test/harness/shared.ts'
import { TollgateClient } from '../src/browser.ts'
import { type Recorded, type Result, Tollgate, type TollgateOptions } from '../src/node.ts'
import { TollgateServerProvider } from '../src/openfeature/server.ts'
import { TollgateWebProvider, type TollgateWebProviderOptions } from '../src/openfeature/web.ts'
import { CALL, sdkApp } from './support/app.ts'
import { FaultyProxy } from './support/faulty-proxy.ts'
import { pageClient } from './support/user.ts'

const server = shared(startTestServer)
beforeAll(async () => {
  await furnish(server)
})
afterEach(async () => {
  await OnServer.clearProviders()
  await InPage.clearProviders()
  await InPage.setContext({})
})

/** What both providers answer about the user `ann`, whose plan has 15 calls, 3 of them used. */
const COUNTED = { used: 3, budget: 15, overageEnabled: false }
const BOOLEANS: [flag: string, value: boolean, variant: string, counted?: object][] = [
  ['export', true, 'GRANTED'],
  ['calls', true, 'WITHIN_BUDGET', COUNTED],
  ['seats', true, 'WITHIN_BUDGET'],
  ['storage', true, 'UNLIMITED', { used: 0, overageEnabled: false }],
]
const NUMBERS: [flag: string, value: number][] = [
  ['calls', 12],
  ['seats', 2],
  ['storage', Number.POSITIVE_INFINITY],
]

describe('OpenFeature on the server', () => {
  async function flags(options: TollgateOptions = {}) {
    const tollgate = new Tollgate({ apiKey: API_KEY, baseUrl: server.url, ...options })
    await OnServer.setProviderAndWait(new TollgateServerProvider(tollgate))
    return OnServer.getClient()
  }
  const ANN = { targetingKey: 'ann' }

  it.each(BOOLEANS)('%s is %s, for the reason %s', async (flag, value, variant, counted = {}) => {
    expect(await (await flags()).getBooleanDetails(flag, !value, ANN)).toMatchObject({
      value,
      variant,
      reason: 'TARGETING_MATCH',
      flagMetadata: { explanation: expect.any(String), ...counted },
    })
  })

  it.each(NUMBERS)('%s has %d left', async (flag, value) => {
    expect(await (await flags()).getNumberDetails(flag, -1, ANN)).toMatchObject({
      value,
      reason: 'TARGETING_MATCH',
    })
  })

  it('somebody without a subscription has no access and nothing left', async () => {
    const client = await flags()
    const bob = { targetingKey: 'bob' }
    expect(await client.getBooleanDetails('calls', true, bob)).toMatchObject({
      value: false,
      variant: 'NO_SUBSCRIPTION',
    })
    expect(await client.getNumberValue('calls', 9, bob)).toBe(0)
  })

  it('the context’s delta is how much they mean to use', async () => {
    const client = await flags()
    expect(await client.getBooleanValue('calls', false, { ...ANN, delta: 12 })).toBe(true)
    expect(await client.getBooleanDetails('calls', true, { ...ANN, delta: 13 })).toMatchObject({
      value: false,
      variant: 'LIMIT_EXCEEDED',
    })
  })

  it('a cached answer and a fallback say so', async () => {
    const cached = await flags({ cache: {} })
    await cached.getBooleanValue('calls', false, ANN)
    expect((await cached.getBooleanDetails('calls', false, ANN)).reason).toBe('CACHED')
    const proxy = await FaultyProxy.before(server.url)
    proxy.down()
    const alone = await flags({ baseUrl: proxy.url, fallback: { default: 'allow' } })
    expect(await alone.getBooleanDetails('calls', false, ANN)).toMatchObject({
      value: true,
      reason: 'STALE',
      variant: 'FALLBACK',
    })
    expect(await alone.getNumberDetails('calls', 7, ANN)).toMatchObject({ value: 7, errorCode: 'GENERAL' })
    await proxy.close()
  })

  it.each([
    [
      'an unknown feature',
      'FLAG_NOT_FOUND',
      (c: Awaited<ReturnType<typeof flags>>) => c.getBooleanDetails('none', true, ANN),
    ],
    ['nobody', 'TARGETING_KEY_MISSING', (c) => c.getBooleanDetails('calls', true, {})],
    ['a number of what is not counted', 'TYPE_MISMATCH', (c) => c.getNumberDetails('export', 1, ANN)],
    ['a string', 'TYPE_MISMATCH', (c) => c.getStringDetails('calls', 'text', ANN)],
    ['an object', 'TYPE_MISMATCH', (c) => c.getObjectDetails('calls', { a: 1 }, ANN)],
    [
      'a delta that the service refuses',
      'GENERAL',
      (c) => c.getBooleanDetails('calls', true, { ...ANN, delta: -1 }),
    ],
  ] as [
    string,
    string,
    (client: Awaited<ReturnType<typeof flags>>) => Promise<{ value: unknown; errorCode?: string }>,
  ][])('%s is the default, and %s', async (_, errorCode, ask) => {
    const details = await ask(await flags())
    expect(details).toMatchObject({ reason: 'ERROR', errorCode, errorMessage: expect.any(String) })
    expect([true, 1, 'text', { a: 1 }]).toContainEqual(details.value)
  })

  it('track records usage, and tells what became of it', async () => {
    const app = await sdkApp(server, 3)
    const told: ((result: Result<Recorded>) => void)[] = []
    const next = () => new Promise<Result<Recorded>>((resolve) => told.push(resolve))
    const provider = new TollgateServerProvider(app.tollgate(), {
      onTracked: (_, result) => told.shift()?.(result),
    })
    await OnServer.setProviderAndWait(provider)
    const client = OnServer.getClient()
    for (const [details, recorded] of [
      [{}, true],
      [{ value: 2 }, true],
      [{ value: 1 }, false],
    ] as const) {
      const result = next()
      client.track('calls', ANN, details)
      expect((await result).data?.recorded).toBe(recorded)
    }
    expect(await app.ledger()).toEqual({ records: 2, sum: 3 })
    expect(() => provider.track('calls', {})).toThrow(/targetingKey/)
  })

  it('closing sends what is queued', async () => {
    const app = await sdkApp(server)
    const proxy = await FaultyProxy.before(server.url)
    proxy.down()
    const tollgate = app.tollgate({ baseUrl: proxy.url, queue: { retryEvery: 3_600_000 } })
    await tollgate.recordUsage(CALL)
    await OnServer.setProviderAndWait(new TollgateServerProvider(tollgate))
    proxy.up(server.url)
    await OnServer.clearProviders()
    expect(await app.ledger()).toEqual({ records: 1, sum: 1 })
    await tollgate.close()
    await proxy.close()
  })
})

describe('OpenFeature in a page', () => {
  let userId = 'ann'
  const token = async () => {
    const tollgate = new Tollgate({ apiKey: API_KEY, baseUrl: server.url })
    return (await tollgate.generateUserToken({ userId })).data?.token ?? ''
  }
  async function flags(options?: TollgateWebProviderOptions) {
    userId = 'ann'
    const client = new TollgateClient({ baseUrl: server.url, token, refreshEvery: 0 })
    await InPage.setProviderAndWait(new TollgateWebProvider(client, options))
    return InPage.getClient()
  }

  it.each(BOOLEANS)('%s is %s, for the reason %s', async (flag, value, variant, counted = {}) => {
    expect((await flags()).getBooleanDetails(flag, !value)).toMatchObject({
      value,
      variant,
      reason: 'TARGETING_MATCH',
      flagMetadata: counted,
    })
  })

  it.each(NUMBERS)('%s has %d left', async (flag, value) => {
    expect((await flags()).getNumberValue(flag, -1)).toBe(value)
  })

  it('only listed features, or those in a published package, are there', async () => {
    const client = await flags({ features: ['export', 'none'] })
    expect(client.getBooleanValue('export', false)).toBe(true)
    for (const flag of ['calls', 'none'])
      expect(client.getBooleanDetails(flag, true)).toMatchObject({ value: true, errorCode: 'FLAG_NOT_FOUND' })
    expect(client.getStringDetails('export', 'text')).toMatchObject({
      value: 'text',
      errorCode: 'TYPE_MISMATCH',
    })
    expect(client.getObjectDetails('export', { a: 1 })).toMatchObject({ errorCode: 'TYPE_MISMATCH' })
  })

  it('another targeting key is another user', async () => {
    const client = await flags()
    userId = 'bob'
    await InPage.setContext({ targetingKey: 'bob' })
    expect(client.getBooleanDetails('export', true)).toMatchObject({
      value: false,
      variant: 'NO_SUBSCRIPTION',
    })
  })

  it('a reset of the client leaves no flag of the previous user', async () => {
    userId = 'ann'
    let down = false
    const client = new TollgateClient({
      baseUrl: server.url,
      token,
      refreshEvery: 0,
      fetch: (input, init) => (down ? Promise.reject(new Error('down')) : fetch(input, init)),
    })
    await InPage.setProviderAndWait(new TollgateWebProvider(client))
    const flagsOf = InPage.getClient()
    expect(flagsOf.getBooleanValue('export', false)).toBe(true)
    userId = 'bob'
    down = true
    await client.reset()
    expect(flagsOf.getBooleanValue('export', false)).toBe(false)
    down = false
    await client.refresh()
    await expect.poll(() => flagsOf.getBooleanDetails('export', true).variant).toBe('NO_SUBSCRIPTION')
  })

  it('track hands on to the backend, then the flags change', async () => {
    const app = await sdkApp(server, 2)
    const { client } = pageClient(app, server.url)
    const track = ({ featureId, delta }: { featureId: string; delta: number }) =>
      app.tollgate().recordUsage({ userId: 'ann', featureId, delta })
    await InPage.setProviderAndWait(new TollgateWebProvider(client, { track }))
    const flagsOf = InPage.getClient()
    const changed = new Promise<string[] | undefined>((resolve) =>
      flagsOf.addHandler(ProviderEvents.ConfigurationChanged, (event) => resolve(event?.flagsChanged)),
    )
    flagsOf.track('calls', { value: 2 })
    expect(await changed).toEqual(['calls'])
    expect(flagsOf.getBooleanDetails('calls', true)).toMatchObject({
      value: false,
      variant: 'LIMIT_EXCEEDED',
    })
    expect(flagsOf.getNumberValue('calls', -1)).toBe(0)
    await InPage.clearProviders()
    const silent = new TollgateWebProvider(client)
    expect(() => silent.track('calls', {})).toThrow(/backend/)
  })

  it('is stale through an outage, ready after it; not ready before the first answer', async () => {
    const app = await sdkApp(server)
    const proxy = await FaultyProxy.before(server.url)
    proxy.down()
    const { client } = pageClient(app, proxy.url, { timeout: 5_000 })
    const flagsOf = InPage.getClient()
    await expect(InPage.setProviderAndWait(new TollgateWebProvider(client))).rejects.toThrow(/No response/)
    expect(flagsOf.providerStatus).toBe(ProviderStatus.ERROR)
    const next = (event: ProviderEvents) =>
      new Promise<void>((resolve) => {
        const handler = () => {
          flagsOf.removeHandler(event, handler)
          resolve()
        }
        flagsOf.addHandler(event, handler)
      })
    proxy.up(server.url)
    const ready = next(ProviderEvents.Ready)
    await client.refresh()
    await ready
    expect(flagsOf.getBooleanValue('calls', false)).toBe(true)
    proxy.down()
    const stale = next(ProviderEvents.Stale)
    await client.refresh()
    await stale
    expect(flagsOf.getBooleanValue('calls', false)).toBe(true)
    proxy.up(server.url)
    const again = next(ProviderEvents.Ready)
    await client.refresh()
    await again
    await proxy.close()
  })
})
