import { describe, expect, it } from 'vitest'
import { anyUser } from '../../../bench/distribution.ts'
import { lossIn } from '../../../bench/loss.ts'
import { estimate, interleave } from '../../../bench/rounds.ts'

describe('bench', () => {
  it('measures the sides as A, B, B, A', async () => {
    const order: string[] = []
    const side = (name: string) => async () => void order.push(name)
    await interleave(3, { a: side('a'), b: side('b') }, () => {})
    expect(order.join('')).toBe('abbaab')
  })

  it('estimates a ratio and its interval as a textbook example does', () => {
    // Hollander and Wolfe, Nonparametric Statistical Methods, table 3.1: estimate 0.46, interval 0.010 to 0.786.
    const before = [1.83, 0.5, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.3]
    const after = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]
    const { ratio, low, high } = estimate(before.map(Math.exp), after.map(Math.exp))
    expect(Math.log(ratio)).toBeCloseTo(0.46, 3)
    expect(Math.log(low)).toBeCloseTo(0.01, 3)
    expect(Math.log(high)).toBeCloseTo(0.786, 3)
  })

  it('does not let one disturbed round decide', () => {
    const quiet = Array.from({ length: 12 }, (_, i) => 1 + (i % 3) / 1_000)
    const { ratio, low, high } = estimate([...quiet, 0.2], [...quiet.map(() => 1), 1])
    expect(ratio).toBeCloseTo(1, 2)
    expect(low).toBeGreaterThan(0.99)
    expect(high).toBeLessThan(1.01)
  })

  it.each([
    [0.95, 0.969, 'too large'],
    [0.95, 0.971, 'unclear'],
    [0.969, 1.02, 'unclear'],
    [0.971, 1.02, 'acceptable'],
    [1.1, 1.2, 'acceptable'],
  ])('a speed between %f and %f of the baseline has a loss that is %s', (low, high, loss) => {
    expect(lossIn({ ratio: (low + high) / 2, low, high })).toBe(loss)
  })

  it('chooses the n-th most frequent user 1/n as often as the first', () => {
    const users = 1_000
    const times = new Array<number>(users + 1).fill(0)
    for (let i = 0; i < 100_000; i++) {
      const user = anyUser(users, 'zipf')
      times[user] = (times[user] ?? 0) + 1
    }
    expect(times.length).toBe(users + 1)
    expect(times[0]).toBe(0)
    const [first = 0, second = 0, , , , , , , , tenth = 0] = times.toSorted((a, b) => b - a)
    expect(first / second).toBeGreaterThan(1.8)
    expect(first / second).toBeLessThan(2.6)
    expect(first / tenth).toBeGreaterThan(8)
    expect(first / tenth).toBeLessThan(13.5)
  })
})
