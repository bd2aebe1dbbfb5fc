import { afterEach, describe, expect, it, vi } from 'vitest'
import { waitBefore } from '../src/back-off.ts'
import { type CallError, NetworkError, Tollgate, TollgateError, type TollgateOptions } from '../src/node.ts'
import { CALL } from './support/app.ts'
import {
  answers,
  proxySays,
  refuses,
  type ScriptedService,
  type Step,
  scriptedService,
} from './support/scripted-service.ts'

let service: ScriptedService | undefined
afterEach(async () => {
  vi.useRealTimers()
  await service?.close()
})

async function clientOf(script: Step[], options: TollgateOptions = {}) {
  service = await scriptedService(...script)
  const tollgate = new Tollgate({ apiKey: 'k', baseUrl: service.url, ...options })
  return { tollgate, requests: service.requests }
}

const RECORDED = answers({ data: { recordUsage: { recorded: true, reason: null, consumption: null } } })
const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toUTCString()

const PASSING: [what: string, refusal: Step, leastMs: number][] = [
  ['RATE_LIMITED', refuses('RATE_LIMITED', 429, 0.1), 100],
  ['UNAVAILABLE', refuses('UNAVAILABLE', 503, 0.1), 100],
  ['a proxy’s 429', proxySays(429, { 'Retry-After': '0.1' }), 100],
  ['a proxy’s 503 with Retry-After', proxySays(503, { 'Retry-After': '0.1' }), 100],
  ['a Retry-After that is a time', proxySays(503, { 'Retry-After': inSeconds(-5) }), 0],
  ['no word about when', refuses('UNAVAILABLE', 503), 250],
]

describe('a call that came at a bad time', () => {
  it.each(PASSING)('%s: is tried again after a wait, as the same request', async (_, refusal, leastMs) => {
    const { tollgate, requests } = await clientOf([refusal, RECORDED])
    const { data, error } = await tollgate.recordUsage(CALL)
    expect({ error, recorded: data?.recorded }).toEqual({ error: null, recorded: true })
    const [first, second, ...others] = requests
    expect(others).toEqual([])
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(leastMs - 1)
    expect(second?.headers['idempotency-key']).toBe(first?.headers['idempotency-key'])
    expect(second?.body).toBe(first?.body)
  })

  it('is retried twice, then returned', async () => {
    const { tollgate, requests } = await clientOf([refuses('RATE_LIMITED', 429, 0.01)])
    const { error } = await tollgate.recordUsage(CALL)
    expect(error).toMatchObject({ name: 'Error', code: 'RATE_LIMITED', response: { status: 429 } })
    expect(requests).toHaveLength(3)
  })

  it.each([
    ['than is left of the time', 25, 10_000],
    ['than anybody waits', 61, Number.POSITIVE_INFINITY],
  ])('is returned at once if the wait is longer %s', async (_, retryAfter, timeout) => {
    const { tollgate, requests } = await clientOf([refuses('RATE_LIMITED', 429, retryAfter)], { timeout })
    const { error } = await tollgate.recordUsage(CALL)
    expect(error).toMatchObject({ code: 'RATE_LIMITED', retryAfter })
    expect(requests).toHaveLength(1)
  })

  it('counts the time that attempts took', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const slow: typeof fetch = (...request) => {
      vi.advanceTimersByTime(12_000)
      return fetch(...request)
    }
    const { tollgate, requests } = await clientOf([refuses('UNAVAILABLE', 503, 0.01)], { fetch: slow })
    await tollgate.recordUsage(CALL)
    expect(requests).toHaveLength(2)
  })

  it('can be aborted while it waits', async () => {
    const controller = new AbortController()
    const refusal: Step = (response, request) => {
      response.on('finish', () => setTimeout(() => controller.abort(), 20))
      refuses('RATE_LIMITED', 429, 15)(response, request)
    }
    const { tollgate, requests } = await clientOf([refusal])
    const { error } = await tollgate.recordUsage(CALL, { signal: controller.signal })
    expect(error).toMatchObject({ code: 'ABORTED' })
    expect(requests).toHaveLength(1)
  })

  it('can be aborted while `retry` waits: nothing more is sent', async () => {
    const controller = new AbortController()
    const { tollgate, requests } = await clientOf([refuses('UNAVAILABLE', 503, 0)], {
      retry: () => {
        controller.abort()
        return new Promise(() => {})
      },
    })
    const { error } = await tollgate.recordUsage(CALL, { signal: controller.signal })
    expect(error).toMatchObject({ code: 'ABORTED' })
    expect(requests).toHaveLength(1)
  })

  it('`retry` decides there too, for how often and how long', async () => {
    const { tollgate, requests } = await clientOf([refuses('RATE_LIMITED', 429, 0.02)], {
      timeout: 5,
      retry: (error, n) => error.code === 'RATE_LIMITED' && n <= 3,
    })
    await tollgate.recordUsage(CALL, { timeout: 30_000 })
    expect(requests).toHaveLength(4)
    await tollgate.recordUsage(CALL, { timeout: 30_000, retry: () => false })
    expect(requests).toHaveLength(5)
  })

  it('is never a NetworkError, whose retries come at once', async () => {
    const { tollgate, requests } = await clientOf([proxySays(503)])
    const { error } = await tollgate.recordUsage(CALL, { retry: () => false })
    expect(error).toMatchObject({ name: 'NetworkError', response: { status: 503 } })
    expect(requests).toHaveLength(1)
  })
})

describe('spec §8.1: the wait before a retry', () => {
  const details = { code: 'UNAVAILABLE', status: 503 } as const
  const network = new NetworkError('none', { code: 'NETWORK_ERROR', status: 0, retryAfter: 9 }) as CallError
  const silent = new TollgateError('busy', details) as CallError
  const asking = new TollgateError('busy', { ...details, retryAfter: 2 }) as CallError

  it('is none after a NetworkError', () => {
    expect([1, 2, 3].map((n) => waitBefore(network, n))).toEqual([0, 0, 0])
  })

  it.each([
    ['grows where the service does not say', silent, 1, 250, 500],
    ['grows where the service does not say', silent, 2, 500, 1_000],
    ['is at least what it says', asking, 1, 2_000, 2_250],
    ['is at least what it says', asking, 2, 2_000, 2_500],
  ])('%s, by chance within bounds', (_, error, n, least, most) => {
    const waits = Array.from({ length: 200 }, () => waitBefore(error, n))
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(least)
    expect(Math.max(...waits)).toBeLessThanOrEqual(most)
    expect(new Set(waits).size).toBeGreaterThan(100)
  })
})
