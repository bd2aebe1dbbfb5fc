import { describe, expect, it } from 'vitest'
import { deliveryOutcome, withAttempt } from './delivery-outcome.ts'
import { MAX_LOGGED_ATTEMPTS } from './limits.ts'

const after = (status: number | null, made = 1, retryAfter: number | null = null) =>
  deliveryOutcome({ status, retryAfter }, made, 0.5)

describe('gap: the outcome of an attempt at a delivery', () => {
  it.each([200, 201, 202, 204, 299])('%i is success', (status) => {
    expect(after(status)).toEqual({ state: 'SUCCEEDED', nextIn: null, gone: false })
    expect(after(status, 10)).toEqual({ state: 'SUCCEEDED', nextIn: null, gone: false })
  })

  it.each([
    null,
    100,
    199,
    300,
    301,
    302,
    307,
    308,
    400,
    401,
    404,
    429,
    500,
    503,
  ])('%s is retried', (status) => {
    expect(after(status)).toEqual({ state: 'PENDING', nextIn: 5, gone: false })
    expect(after(status, 9)).toEqual({ state: 'PENDING', nextIn: 86_400, gone: false })
    expect(after(status, 10)).toEqual({ state: 'FAILED', nextIn: null, gone: false })
  })

  it('410 is final, and ends everything for its endpoint', () => {
    expect(after(410)).toEqual({ state: 'FAILED', nextIn: null, gone: true })
  })

  it('waits as long as the receiver asks', () => {
    expect(after(429, 1, 120).nextIn).toBe(120)
    expect(after(503, 2, 120).nextIn).toBe(300)
  })
})

describe('gap: the log of a delivery', () => {
  it('keeps the latest attempts', () => {
    let log: number[] = []
    for (let attempt = 1; attempt <= MAX_LOGGED_ATTEMPTS; attempt++) log = withAttempt(log, attempt)
    expect(log).toHaveLength(MAX_LOGGED_ATTEMPTS)
    expect(log[0]).toBe(1)
    expect(withAttempt(log, 99)).toEqual([...log.slice(1), 99])
  })
})
