import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Pulse } from '../src/browser/pulse.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** How long it was until each of the beats, which go as told. */
async function intervals(outcomes: boolean[], every = 100): Promise<number[]> {
  const found: number[] = []
  let last = Date.now()
  const pulse = new Pulse(every, async () => {
    found.push(Date.now() - last)
    last = Date.now()
    return outcomes[found.length - 1] ?? true
  })
  pulse.start()
  pulse.start()
  await vi.advanceTimersByTimeAsync(20_000)
  pulse.stop()
  const count = found.length
  await vi.advanceTimersByTimeAsync(20_000)
  expect(found.length).toBe(count)
  return found.slice(0, outcomes.length + 1)
}

describe('gap: a page looks for changes', () => {
  const ROWS: [what: string, outcomes: boolean[], intervals: number[]][] = [
    ['at even intervals', [true, true, true], [100, 100, 100, 100]],
    [
      'half as often after each failure, to a sixteenth',
      Array(6).fill(false),
      [100, 200, 400, 800, 1600, 1600, 1600],
    ],
    ['as before once it goes well again', [false, false, true, true], [100, 200, 400, 100, 100]],
  ]
  it.each(ROWS)('%s', async (_, outcomes, expected) => {
    expect(await intervals(outcomes)).toEqual(expected)
  })

  it.each([0, Number.POSITIVE_INFINITY, -1])('never, at an interval of %d', async (every) => {
    expect(await intervals([], every)).toEqual([])
  })
})
