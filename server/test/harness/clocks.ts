import type { Clocks, Monotonic } from '../../src/domain/clocks.ts'

export const monotonic: Monotonic = () => performance.now()

export const REAL_CLOCKS: Clocks = { wall: () => Date.now(), monotonic }

/** A monotonic clock that only a test moves on, however busy the machine is. */
export function movable(): { monotonic: Monotonic; passes: (ms: number) => void } {
  // Whole, so that steps add up.
  let now = Math.round(performance.now())
  return {
    monotonic: () => now,
    passes: (ms) => {
      now += ms
    },
  }
}
