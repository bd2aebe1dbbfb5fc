import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { startTestServer } from '../../server/test/harness/server.ts'
import { shared } from '../../server/test/harness/shared.ts'
import { DOCUMENTS, isMutation, type Operation } from '../src/documents.ts'
import { NetworkError, type Tollgate, type TollgateError } from '../src/node.ts'
import { CALL, type SdkApp, sdkApp } from './support/app.ts'
import { deadUrl, FaultyProxy } from './support/faulty-proxy.ts'
import { recordingFetch } from './support/recording-fetch.ts'

const server = shared(startTestServer)
let app: SdkApp
let proxy: FaultyProxy
beforeEach(async () => {
  app = await sdkApp(server)
  proxy = await FaultyProxy.before(server.url)
})
afterEach(() => proxy.close())

/** Lets so many replies get lost, and no more. */
function loseReplies(count: number): void {
  proxy.fate = () => (proxy.lost < count ? 'cut' : 'pass')
}

describe('spec §8.1: retries', () => {
  it.each([0, 1, 2])('a call whose first %i replies get lost is answered, and counted once', async (lost) => {
    loseReplies(lost)
    const { data, error } = await app.tollgate({ baseUrl: proxy.url }).recordUsage(CALL)
    expect({ error, recorded: data?.recorded, lost: proxy.lost }).toEqual({
      error: null,
      recorded: true,
      lost,
    })
    expect(await app.ledger()).toEqual({ records: 1, sum: 1 })
  })

  it('a third lost reply is a NetworkError', async () => {
    loseReplies(3)
    const { data, error } = await app.tollgate({ baseUrl: proxy.url }).recordUsage(CALL)
    expect(data).toBeNull()
    expect(error).toBeInstanceOf(NetworkError)
    expect(error).toMatchObject({ mayHaveArrived: true })
    expect(proxy.lost).toBe(3)
  })

  it('half a reply is a NetworkError like none', async () => {
    proxy.fate = () => (proxy.lost < 1 ? 'half' : 'pass')
    const { data } = await app.tollgate({ baseUrl: proxy.url }).recordUsage(CALL)
    expect(data).toMatchObject({ recorded: true })
    expect(await app.ledger()).toEqual({ records: 1, sum: 1 })
  })

  it('only a NetworkError is tried again', async () => {
    const { fetch, requests } = recordingFetch()
    await app.tollgate({ fetch }).user({ id: 'nobody' })
    expect(requests).toHaveLength(1)
  })

  it('nothing that was never taken may have arrived', async () => {
    const { error } = await app.tollgate({ baseUrl: await deadUrl() }).recordUsage(CALL)
    expect(error).toMatchObject({ name: 'NetworkError', mayHaveArrived: false })
  })

  it('`retry` overrides: it is asked about every error, with the retry’s number, and decides', async () => {
    const asked: [string, number][] = []
    const retry = async (error: TollgateError, n: number) => {
      asked.push([error.name, n])
      return n < 4
    }
    const tollgate = app.tollgate({ baseUrl: proxy.url, retry })
    loseReplies(3)
    expect((await tollgate.users()).error).toBeNull()
    await tollgate.user({ id: 'nobody' })
    expect(asked).toEqual([
      ...[1, 2, 3].map((n) => ['NetworkError', n]),
      ...[1, 2, 3, 4].map((n) => ['UserNotFoundError', n]),
    ])
  })

  it('a `retry` that throws means no, and is heard of once', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    const retry = () => {
      throw new Error('broken hook')
    }
    const tollgate = app.tollgate({ retry })
    expect((await tollgate.user({ id: 'nobody' })).error).toMatchObject({ name: 'UserNotFoundError' })
    await tollgate.user({ id: 'nobody' })
    expect(warn).toHaveBeenCalledTimes(1)
    warn.mockRestore()
  })
})

describe('gap: idempotency', () => {
  const MUTATIONS: Partial<Record<Operation, (tollgate: Tollgate, key?: string) => Promise<unknown>>> = {
    createFeature: (t, idempotencyKey) =>
      t.createFeature({ id: 'f', name: 'F', type: 'BINARY' }, { idempotencyKey }),
    updateFeature: (t, idempotencyKey) => t.updateFeature({ id: 'calls', input: {} }, { idempotencyKey }),
    createPackage: (t, idempotencyKey) => t.createPackage({ id: 'p', name: 'P' }, { idempotencyKey }),
    updatePackage: (t, idempotencyKey) => t.updatePackage({ id: 'plan', input: {} }, { idempotencyKey }),
    createUser: (t, idempotencyKey) => t.createUser({ id: 'u' }, { idempotencyKey }),
    updateUser: (t, idempotencyKey) => t.updateUser({ id: 'ann', input: {} }, { idempotencyKey }),
    deleteUser: (t, idempotencyKey) => t.deleteUser({ id: 'ann' }, { idempotencyKey }),
    subscribe: (t, idempotencyKey) =>
      t.subscribe({ userId: 'ann', packageIds: ['plan'] }, { idempotencyKey }),
    cancelSubscription: (t, idempotencyKey) => t.cancelSubscription({ id: 's' }, { idempotencyKey }),
    keepSubscription: (t, idempotencyKey) => t.keepSubscription({ id: 's' }, { idempotencyKey }),
    setOverride: (t, idempotencyKey) =>
      t.setOverride({ userId: 'ann', featureId: 'calls', mode: 'UNLIMITED' }, { idempotencyKey }),
    removeOverride: (t, idempotencyKey) =>
      t.removeOverride({ userId: 'ann', featureId: 'calls' }, { idempotencyKey }),
    migrateSubscriptions: (t, idempotencyKey) =>
      t.migrateSubscriptions({ packageId: 'plan', fromVersion: 1, toVersion: 2 }, { idempotencyKey }),
    undoMigration: (t, idempotencyKey) => t.undoMigration({ id: 'm' }, { idempotencyKey }),
    changeSubscription: (t, idempotencyKey) =>
      t.changeSubscription({ userId: 'ann', packageId: 'plan' }, { idempotencyKey }),
    cancelScheduledChange: (t, idempotencyKey) =>
      t.cancelScheduledChange({ userId: 'ann' }, { idempotencyKey }),
    startTrial: (t, idempotencyKey) =>
      t.startTrial({ userId: 'ann', packageId: 'plan', days: 1 }, { idempotencyKey }),
    extendTrial: (t, idempotencyKey) =>
      t.extendTrial({ id: 's', until: '2099-01-01T00:00:00Z' }, { idempotencyKey }),
    recordUsage: (t, idempotencyKey) => t.recordUsage(CALL, { idempotencyKey }),
    recordUsages: (t, idempotencyKey) => t.recordUsages([CALL], { idempotencyKey }),
    addCredit: (t, idempotencyKey) =>
      t.addCredit({ userId: 'ann', featureId: 'calls', amount: 1 }, { idempotencyKey }),
    voidCredit: (t, idempotencyKey) => t.voidCredit({ id: 'c' }, { idempotencyKey }),
    generateCreditLink: (t, idempotencyKey) =>
      t.generateCreditLink(
        { userId: 'ann', priceId: 'p', successUrl: 'https://a.example', cancelUrl: 'https://a.example' },
        { idempotencyKey },
      ),
    reserveUsage: (t, idempotencyKey) =>
      t.reserveUsage({ userId: 'ann', featureId: 'calls', amount: 1 }, { idempotencyKey }),
    extendReservation: (t, idempotencyKey) => t.extendReservation({ id: 'r', add: 1 }, { idempotencyKey }),
    settleReservation: (t, idempotencyKey) => t.settleReservation({ id: 'r', amount: 1 }, { idempotencyKey }),
    releaseReservation: (t, idempotencyKey) => t.releaseReservation({ id: 'r' }, { idempotencyKey }),
    setCap: (t, idempotencyKey) =>
      t.setCap({ userId: 'ann', featureId: 'calls', limit: 1, period: 'DAY' }, { idempotencyKey }),
    setAutoRecharge: (t, idempotencyKey) =>
      t.setAutoRecharge(
        { userId: 'ann', featureId: 'calls', below: 1, upTo: 2, priceId: 'p' },
        { idempotencyKey },
      ),
    removeAutoRecharge: (t, idempotencyKey) =>
      t.removeAutoRecharge({ userId: 'ann', featureId: 'calls' }, { idempotencyKey }),
    removeCap: (t, idempotencyKey) =>
      t.removeCap({ userId: 'ann', featureId: 'calls', period: 'DAY' }, { idempotencyKey }),
    generateUserToken: (t, idempotencyKey) => t.generateUserToken({ userId: 'ann' }, { idempotencyKey }),
    createWebhookEndpoint: (t, idempotencyKey) =>
      t.createWebhookEndpoint({ url: 'https://hooks.example.com' }, { idempotencyKey }),
    updateWebhookEndpoint: (t, idempotencyKey) =>
      t.updateWebhookEndpoint({ id: 'we', input: {} }, { idempotencyKey }),
    rotateWebhookSecret: (t, idempotencyKey) => t.rotateWebhookSecret({ id: 'we' }, { idempotencyKey }),
    deleteWebhookEndpoint: (t, idempotencyKey) => t.deleteWebhookEndpoint({ id: 'we' }, { idempotencyKey }),
    sendTestEvent: (t, idempotencyKey) => t.sendTestEvent({ endpointId: 'we' }, { idempotencyKey }),
    resendEvents: (t, idempotencyKey) =>
      t.resendEvents({ endpointId: 'we', eventIds: ['evt_1'] }, { idempotencyKey }),
    resendFailedEvents: (t, idempotencyKey) => t.resendFailedEvents({ endpointId: 'we' }, { idempotencyKey }),
  }

  it('every mutation has its row here', () => {
    const operations = Object.keys(DOCUMENTS) as Operation[]
    expect(Object.keys(MUTATIONS).toSorted()).toEqual(operations.filter(isMutation).toSorted())
  })

  it.each(
    Object.entries(MUTATIONS),
  )('%s carries one key and the same bytes across its retries', async (_, call) => {
    const { fetch, requests } = recordingFetch()
    const tollgate = app.tollgate({ baseUrl: proxy.url, fetch })
    loseReplies(2)
    await call(tollgate)
    expect(requests).toHaveLength(3)
    expect(new Set(requests.map((request) => JSON.stringify(request))).size).toBe(1)
    expect(requests[0]?.key).toMatch(/^[0-9a-f-]{36}$/)

    await call(tollgate, 'a key of mine')
    await call(tollgate)
    const [, , first, mine, other] = requests.map(({ key }) => key)
    expect(mine).toBe('a key of mine')
    expect(other).not.toBe(first)
  })

  it('an event’s own key is the one that guards it', async () => {
    const { fetch, requests } = recordingFetch()
    const tollgate = app.tollgate({ fetch })
    await tollgate.recordUsage({ ...CALL, idempotencyKey: 'mine' })
    await tollgate.recordUsage({ ...CALL, idempotencyKey: 'mine' })
    expect(requests.map(({ key }) => key)).toEqual([null, null])
    expect(await app.ledger()).toEqual({ records: 1, sum: 1 })
  })

  it('queries carry none', async () => {
    const { fetch, requests } = recordingFetch()
    await app.tollgate({ fetch }).users()
    expect(requests[0]?.key).toBeNull()
  })
})

describe('spec §7: onError', () => {
  it('is awaited, once for each call that fails, with its error', async () => {
    const seen: TollgateError[] = []
    const onError = async (error: TollgateError) => {
      await new Promise((resolve) => setTimeout(resolve, 5))
      seen.push(error)
    }
    const tollgate = app.tollgate({ baseUrl: proxy.url, onError })
    loseReplies(3)
    const lost = await tollgate.users()
    expect(seen).toEqual([lost.error])
    const unknown = await tollgate.user({ id: 'nobody' })
    expect(seen).toEqual([lost.error, unknown.error])
    await tollgate.users()
    expect(seen).toHaveLength(2)
  })

  it('cannot change the outcome; what it throws is said once', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    const thrown = new Error('broken hook')
    const tollgate = app.tollgate({ onError: () => Promise.reject(thrown) })
    for (let i = 0; i < 2; i++) {
      expect((await tollgate.user({ id: 'nobody' })).error).toMatchObject({ name: 'UserNotFoundError' })
    }
    expect(warn.mock.calls).toEqual([[expect.stringContaining('hook'), thrown]])
    warn.mockRestore()
  })
})

describe('a call that takes too long', () => {
  it('is a NetworkError after each attempt’s `timeout`', async () => {
    const { fetch, requests } = recordingFetch()
    proxy.fate = () => 'hold'
    const { error } = await app.tollgate({ baseUrl: proxy.url, timeout: 50, fetch }).users()
    expect(error).toMatchObject({ name: 'NetworkError', code: 'TIMEOUT', response: { status: 0 } })
    expect(requests).toHaveLength(3)
  })

  it('can be aborted by its signal, and is not retried', async () => {
    const { fetch, requests } = recordingFetch()
    const controller = new AbortController()
    proxy.fate = () => {
      controller.abort()
      return 'hold'
    }
    const tollgate = app.tollgate({ baseUrl: proxy.url, fetch, retry: () => true })
    const { error } = await tollgate.users({}, { signal: controller.signal })
    expect(error).toMatchObject({ name: 'Error', code: 'ABORTED', response: { status: 0 } })
    await tollgate.users({}, { signal: controller.signal })
    expect(requests).toHaveLength(1)
  })

  it('leaves no listener on the signal', async () => {
    const { signal } = new AbortController()
    const added = vi.spyOn(signal, 'addEventListener')
    const removed = vi.spyOn(signal, 'removeEventListener')
    await app.tollgate().users({}, { signal })
    expect(added).toHaveBeenCalledTimes(1)
    expect(removed.mock.calls[0]?.[1]).toBe(added.mock.calls[0]?.[1])
  })
})

describe('what answers is not the service', () => {
  const REPLIES: [what: string, status: number, body: string][] = [
    ['a proxy’s page', 502, '<html>Bad Gateway</html>'],
    ['JSON of another kind', 503, '{"message":"down"}'],
    ['null', 200, 'null'],
    ['nothing', 200, ''],
  ]
  it.each(REPLIES)('%s is a NetworkError with its status', async (_, status, body) => {
    const fetch = async () => new Response(body, { status })
    const { error } = await app.tollgate({ fetch }).users()
    expect(error).toMatchObject({ name: 'NetworkError', response: { status } })
  })

  it('a redirect is not followed: the key would go along', async () => {
    const urls: string[] = []
    const redirecting: typeof fetch = (input, init) => {
      urls.push(String(input))
      if (init?.redirect !== 'error') throw new Error('would follow')
      return Promise.reject(new TypeError('fetch failed', { cause: new Error('unexpected redirect') }))
    }
    const { error } = await app.tollgate({ fetch: redirecting, retry: () => false }).users()
    expect(error?.message).toContain('unexpected redirect')
    expect(urls).toEqual([`${server.url}/graphql`])
  })
})
