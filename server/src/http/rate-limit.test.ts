/**
 * Invariants
 * - In any interval a source gets at most its burst plus what refills during that interval.
 * - A refused request costs nothing, and is allowed after `retryAfter`.
 * - One source never takes from another, as long as both are remembered.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RateLimit } from './rate-limit.ts'

function limited(perSecond: number, burst: number) {
  let now = 1_000
  const limit = new RateLimit({ perSecond, burst }, () => now)
  return {
    limit,
    wait: (ms: number) => {
      now += ms
    },
  }
}

describe('gap: rate limits', () => {
  it('lets the burst through, then as much as flows in', () => {
    const { limit, wait } = limited(2, 3)
    const asked = () => limit.take('a').allowed
    expect([asked(), asked(), asked(), asked()]).toEqual([true, true, true, false])
    wait(499)
    expect(asked()).toBe(false)
    wait(1)
    expect([asked(), asked()]).toEqual([true, false])
    wait(60_000)
    expect([asked(), asked(), asked(), asked()]).toEqual([true, true, true, false])
  })

  it('says what is left and when to retry', () => {
    const { limit, wait } = limited(0.5, 2)
    expect(limit.take('a')).toEqual({ allowed: true, limit: 2, remaining: 1, reset: 2, retryAfter: 0 })
    expect(limit.take('a')).toEqual({ allowed: true, limit: 2, remaining: 0, reset: 4, retryAfter: 0 })
    expect(limit.take('a')).toEqual({ allowed: false, limit: 2, remaining: 0, reset: 4, retryAfter: 2 })
    wait(2_000)
    expect(limit.take('a').allowed).toBe(true)
  })

  it('tells sources apart', () => {
    const { limit } = limited(1, 1)
    expect([limit.take('a').allowed, limit.take('a').allowed, limit.take('b').allowed]).toEqual([
      true,
      false,
      true,
    ])
  })

  it('charges what a request turned out to cost, and never more than there is', () => {
    const { limit, wait } = limited(1, 10)
    limit.charge('a', 8)
    expect(limit.take('a').remaining).toBe(1)
    limit.charge('a', 1_000)
    wait(10_000)
    expect(limit.take('a').remaining).toBe(9)
  })

  it('never lets more through than burst and rate allow, however long anyone waits', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 1, max: 100 }),
        fc.array(fc.integer({ min: 0, max: 3_000 }), { maxLength: 200 }),
        (perSecond, burst, waits) => {
          const { limit, wait } = limited(perSecond, burst)
          let [passed, elapsed] = [0, 0]
          for (const ms of waits) {
            wait(ms)
            elapsed += ms
            const { allowed, retryAfter } = limit.take('a')
            if (allowed) passed += 1
            else expect(retryAfter).toBeGreaterThan(0)
            expect(passed).toBeLessThanOrEqual(burst + (elapsed / 1_000) * perSecond + 1e-6)
          }
        },
      ),
    )
  })

  it('allows after retryAfter what it refused', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 20 }), (perSecond, burst) => {
        const { limit, wait } = limited(perSecond, burst)
        let state = limit.take('a')
        while (state.allowed) state = limit.take('a')
        wait(state.retryAfter * 1_000)
        expect(limit.take('a').allowed).toBe(true)
      }),
    )
  })
})

describe('gap: what is remembered of unknown sources', () => {
  it('is bounded, and pushes out nobody who keeps coming', () => {
    const { limit } = limited(0.001, 2)
    for (let i = 0; i < 2; i++) expect(limit.take('regular').allowed).toBe(true)
    expect(limit.take('stranger').allowed).toBe(true)
    for (let i = 0; i < 120_000; i++) {
      limit.take(`one of many ${i}`)
      if (i % 20_000 === 0) expect(limit.take('regular').allowed).toBe(false)
    }
    expect(limit.sources).toBe(100_000)
    expect(limit.take('regular').allowed).toBe(false)
    expect(limit.take('stranger').remaining).toBe(1)
  })
})
