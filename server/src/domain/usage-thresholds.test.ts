import { describe, expect, it } from 'vitest'
import { checkThresholds, crossedThresholds, levelOf, sortedThresholds } from './usage-thresholds.ts'

describe('levelOf', () => {
  it.each([
    [10, 80, 8],
    [10, 100, 10],
    [7, 80, 6],
    [1, 1, 1],
    [0, 80, 0],
    [3, 50, 2],
    [Number.MAX_SAFE_INTEGER, 100, Number.MAX_SAFE_INTEGER],
  ])('of %d at %d %% is %d', (budget, threshold, level) => {
    expect(levelOf(budget, threshold)).toBe(level)
  })

  it('is the least whole number at or above the percentage, without rounding errors', () => {
    for (let i = 0; i < 2_000; i++) {
      const budget = Math.floor(((i * 7_919) % 1_999) ** 4)
      const threshold = 1 + ((i * 31) % 200)
      const exact = (BigInt(budget) * BigInt(threshold) + 99n) / 100n
      expect(BigInt(levelOf(budget, threshold))).toBe(exact)
    }
  })
})

describe('crossedThresholds', () => {
  it.each([
    [0, 7, []],
    [0, 8, [80]],
    [7, 8, [80]],
    [8, 9, []],
    [8, 10, [100]],
    [0, 10, [80, 100]],
    [0, 25, [80, 100]],
    [10, 10, []],
    [10, 5, []],
    [5, 9, [80]],
  ])('from %d to %d of 10 are %j', (from, to, crossed) => {
    expect(crossedThresholds(from, to, 10)).toEqual(crossed)
  })

  it('are none without a limit, or without thresholds', () => {
    expect(crossedThresholds(0, 1_000, null)).toEqual([])
    expect(crossedThresholds(0, 1_000, 10, [])).toEqual([])
  })

  it('are crossed once on the way up, in whatever steps, and again after a fall', () => {
    for (let seed = 1; seed < 50; seed++) {
      let used = 0
      let above = false
      for (let step = 0; step < 40; step++) {
        const to = Math.max(0, used + (((seed * 37 + step * 101) % 41) - 15))
        const crossed = crossedThresholds(used, to, 50, [60])
        expect(crossed).toEqual(!above && to >= 30 ? [60] : [])
        above = to >= 30
        used = to
      }
    }
  })
})

describe('thresholds of a feature', () => {
  it('are sorted, each once', () => {
    expect(sortedThresholds([100, 50, 50])).toEqual([50, 100])
  })

  it.each([
    [[0]],
    [[1_001]],
    [[1.5]],
    [Array.from({ length: 11 }, (_, i) => i + 1)],
  ])('are refused: %j', (given) => {
    expect(() => checkThresholds(given)).toThrow(/thresholds must/)
  })
})
