import { beforeAll, describe, expect, it, vi } from 'vitest'
import { furnish } from '../../server/test/harness/furnished.ts'
import { API_KEY, startTestServer } from '../../server/test/harness/server.ts'
import { shared } from '../../server/test/harness/shared.ts'
import type { CLIENT_DOCUMENTS } from '../src/browser/documents.ts'
import { type Result, TollgateClient, type TollgateClientOptions } from '../src/browser.ts'
import { Tollgate } from '../src/node.ts'
import { CALL, type SdkApp, sdkApp } from './support/app.ts'
import { FaultyProxy } from './support/faulty-proxy.ts'
import { pageClient, tokenOf } from './support/user.ts'

const server = shared(startTestServer)
let app: SdkApp
let ann: TollgateClient
beforeAll(async () => {
  await furnish(server)
  app = await sdkApp(server, 100)
  const tollgate = new Tollgate({ apiKey: API_KEY, baseUrl: server.url })
  const { data } = await tollgate.generateUserToken({ userId: 'ann' })
  ann = new TollgateClient({ baseUrl: server.url, token: data?.token ?? '' })
})

const COUNTED = { budget: 15, used: 3, overageEnabled: false }
type Row = [method: string, call: () => Promise<Result<unknown>>, data: object | null]
const ROWS: Row[] = [
  [
    'canUse',
    () => ann.canUse('export'),
    { featureId: 'export', access: true, reasonCode: 'GRANTED', consumption: null },
  ],
  ['canUse', () => ann.canUse('calls'), { access: true, reasonCode: 'WITHIN_BUDGET', consumption: COUNTED }],
  ['canUse', () => ann.canUse('calls', { delta: 12 }), { access: true, consumption: COUNTED }],
  ['canUse', () => ann.canUse('calls', { delta: 13 }), { access: false, reasonCode: 'LIMIT_EXCEEDED' }],
  ['canUse', () => ann.canUse('none'), { access: false, reasonCode: 'FEATURE_NOT_FOUND' }],
  ['usage', () => ann.usage('calls'), { periodStart: expect.any(String), consumption: COUNTED }],
  ['usage', () => ann.usage('export'), null],
  [
    'packages',
    () => ann.packages(),
    [{ id: 'plan', features: [{ id: 'calls', limit: '10' }, {}, {}, {}] }, { id: 'extra' }],
  ],
  [
    'subscriptions',
    () => ann.subscriptions(),
    [{ userId: 'ann', package: { id: 'plan' } }, { package: { id: 'extra' } }],
  ],
]

describe('spec §5.5: a page with a user’s token', () => {
  it.each(ROWS)('%s', async (_, call, data) => {
    const result = await call()
    expect(result.error).toBeNull()
    if (data === null) expect(result.data).toBeNull()
    else expect(result.data).toMatchObject(data)
  })

  it('every operation has its row here', () => {
    const methods: Record<keyof typeof CLIENT_DOCUMENTS, string> = {
      canUseFeature: 'canUse',
      canUseFeatures: 'canUse',
      showUsage: 'usage',
      packages: 'packages',
      subscriptions: 'subscriptions',
    }
    expect(new Set(ROWS.map(([method]) => method))).toEqual(new Set(Object.values(methods)))
  })

  it('an error is the one that the Node client has', async () => {
    const { data, error } = await ann.usage('none')
    expect(data).toBeNull()
    expect(error).toMatchObject({
      name: 'FeatureNotFoundError',
      code: 'FEATURE_NOT_FOUND',
      response: { status: 404 },
    })
  })

  const WRONG: [what: string, options: Partial<TollgateClientOptions>, message: RegExp][] = [
    ['an Admin key for a token', { token: API_KEY }, /generateUserToken.*Admin API key/],
    ['no token', { token: '' }, /generateUserToken/],
    ['a base that is no URL', { baseUrl: 'tollgate' }, /baseUrl.*"tollgate"/],
    ['a timeout of 0', { timeout: 0 }, /timeout must be a positive number of milliseconds/],
    ['a timeout below 0', { timeout: -1 }, /timeout must be/],
    ['a timeout that is no number', { timeout: Number.NaN }, /timeout must be/],
    ['a timeout as text', { timeout: '10' as never }, /timeout must be/],
  ]
  it.each(WRONG)('%s is refused at once', (_, options, message) => {
    expect(() => new TollgateClient({ baseUrl: 'http://a.example', token: 'a.b.c', ...options })).toThrow(
      message,
    )
  })
})

describe('requests', () => {
  it('calls made together share one, equal ones an answer; a delta and usage are separate', async () => {
    const { client, sent } = pageClient(app, server.url)
    const [first, second, same] = await Promise.all([
      client.canUse('calls'),
      client.canUse('none'),
      client.canUse('calls'),
      client.canUse('calls', { delta: 2 }),
      client.usage('calls'),
    ])
    expect(sent.map(({ query }) => query).toSorted()).toEqual([
      'canUseFeature',
      'canUseFeatures',
      'showUsage',
    ])
    expect(sent.find(({ query }) => query === 'canUseFeatures')?.variables).toEqual({
      featureIds: ['calls', 'none'],
    })
    expect([first.data?.access, second.data?.access]).toEqual([true, false])
    expect(same.data).toBe(first.data)
  })

  it('more checks than the service takes at once go in several', async () => {
    const { client, sent } = pageClient(app, server.url)
    const ids = Array.from({ length: 205 }, (_, i) => (i === 204 ? 'calls' : `none-${i}`))
    const answers = await Promise.all(ids.map((id) => client.canUse(id)))
    expect(answers.map(({ data }) => data?.featureId)).toEqual(ids)
    expect(answers.filter(({ data }) => data?.access)).toHaveLength(1)
    expect(sent).toHaveLength(3)
  })

  it('one caller may give up, the others get the answer', async () => {
    const { client } = pageClient(app, server.url)
    const controller = new AbortController()
    const given = client.canUse('calls', { signal: controller.signal })
    const kept = client.canUse('calls')
    controller.abort()
    expect((await given).error?.code).toBe('ABORTED')
    expect((await kept).data?.access).toBe(true)
    expect((await client.canUse('calls', { signal: AbortSignal.abort() })).error?.code).toBe('ABORTED')
  })

  it('a lost reply is asked for again', async () => {
    const proxy = await FaultyProxy.before(server.url)
    const { client } = pageClient(app, proxy.url, { token: await tokenOf(app) })
    proxy.fate = () => (proxy.lost < 2 ? 'cut' : 'pass')
    expect((await client.canUse('calls')).data?.access).toBe(true)
    expect(proxy.lost).toBe(2)
    await proxy.close()
  })

  it('onError hears of what a call came to, and changes nothing', async () => {
    const heard: string[] = []
    const { client } = pageClient(app, server.url, { onError: (error) => heard.push(error.code) })
    expect((await client.usage('none')).error?.code).toBe('FEATURE_NOT_FOUND')
    expect(heard).toEqual(['FEATURE_NOT_FOUND'])
  })
})

describe('changes', () => {
  it('a refresh asks again, and reports differences', async () => {
    const own = await sdkApp(server, 2)
    const { client, sent } = pageClient(own, server.url)
    let told = 0
    const stop = client.onChange(() => told++)
    expect((await client.usage('calls')).data?.consumption.used).toBe(0)
    await client.canUse('calls')
    const before = told
    await client.refresh()
    expect(told).toBe(before)
    await own.tollgate().recordUsage({ ...CALL, delta: 2 })
    sent.length = 0
    expect(await client.refresh()).toEqual({ error: null })
    expect(sent.map(({ query }) => query).toSorted()).toEqual(['canUseFeatures', 'showUsage'])
    expect(told).toBeGreaterThan(before)
    stop()
    const after = told
    await own.tollgate().recordUsage({ ...CALL, delta: -2 })
    await client.refresh()
    expect(told).toBe(after)
  })

  it('are polled for while there is a listener, and only then', async () => {
    const own = await sdkApp(server)
    const { client, sent } = pageClient(own, server.url, { refreshEvery: 20 })
    await client.usage('calls')
    const heard = new Promise<void>((resolve) => {
      const stop = client.onChange(() => {
        stop()
        resolve()
      })
    })
    await own.tollgate().recordUsage(CALL)
    await heard
    const count = sent.length
    expect((await client.usage('calls')).data?.consumption.used).toBe(1)
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(sent.length).toBe(count + 1)
  })

  it('an answer that comes after a later one is not taken', async () => {
    const own = await sdkApp(server)
    const held: (() => void)[] = []
    let holding = true
    const { client } = pageClient(own, server.url, {
      token: await tokenOf(own),
      async fetch(input, init) {
        const response = await fetch(input, init)
        if (holding) await new Promise<void>((resolve) => held.push(resolve))
        return response
      },
    })
    const key = '{"about":"usage","featureId":"calls"}'
    const early = client.usage('calls')
    while (held.length === 0) await new Promise((resolve) => setTimeout(resolve, 1))
    holding = false
    await own.tollgate().recordUsage(CALL)
    await client.refresh()
    held[0]?.()
    await early
    expect(client.known(key).data).toMatchObject({ consumption: { used: 1 } })
  })

  it('during an outage the last answer is kept, and the error shows; a refusal drops it', async () => {
    const proxy = await FaultyProxy.before(server.url)
    let token = await tokenOf(app)
    const { client } = pageClient(app, proxy.url, { token: () => token })
    const key = '{"about":"check","featureId":"calls","delta":1}'
    await client.canUse('calls')
    proxy.down()
    expect((await client.refresh()).error?.name).toBe('NetworkError')
    expect(client.known(key)).toMatchObject({ data: { access: true }, error: { name: 'NetworkError' } })
    proxy.up(server.url)
    await client.refresh()
    expect(client.known(key)).toMatchObject({ data: { access: true }, error: null })
    token = 'not.one.ours'
    await client.reset()
    expect(client.known(key)).toMatchObject({ data: undefined, error: { name: 'AuthenticationError' } })
    await proxy.close()
  })

  it('a listener that throws fails no call, and keeps nothing from the others', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue()
    const { client } = pageClient(app, server.url)
    let told = 0
    client.onChange(() => {
      throw new Error('a fault in the page')
    })
    client.onChange(() => told++)
    expect((await client.canUse('calls')).data?.access).toBe(true)
    expect(told).toBe(1)
    expect(warn).toHaveBeenCalledOnce()
    warn.mockRestore()
  })

  it('a call made just before the user changes is not answered about the other one', async () => {
    const { client, sent } = pageClient(app, server.url)
    const late = client.canUse('calls')
    await client.reset()
    expect((await late).error?.code).toBe('ABORTED')
    expect(sent).toHaveLength(1)
    expect((await client.canUse('calls')).data?.access).toBe(true)
  })

  it('another user: nothing of the previous one is left, or arrives later', async () => {
    await server.admin.data('mutation { createUser(input: { id: "eve" }) { id } }')
    const tollgate = new Tollgate({ apiKey: API_KEY, baseUrl: server.url })
    let userId = 'ann'
    const token = async () => (await tollgate.generateUserToken({ userId })).data?.token ?? ''
    const client = new TollgateClient({ baseUrl: server.url, token, refreshEvery: 0 })
    const key = '{"about":"check","featureId":"export","delta":1}'
    expect((await client.canUse('export')).data?.access).toBe(true)
    const late = client.canUse('export')
    await Promise.resolve()
    userId = 'eve'
    const reset = client.reset()
    expect(client.known(key).data).toBeUndefined()
    await reset
    expect((await late).data?.access).not.toBe(true)
    expect(client.known(key).data).toMatchObject({ access: false, reasonCode: 'NO_SUBSCRIPTION' })
  })
})
