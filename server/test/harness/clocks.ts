import type { Clocks, Monotonic } from '../../src/domain/clocks.ts'

export const monotonic: Monotonic = () => performance.now()

export const REAL_CLOCKS: Clocks = { wall: () => Date.now(), monotonic }

/** A monotonic clock that a test moves on. */
export function movable(): { monotonic: Monotonic; passes: (ms: number) => void } {
  let ahead = 0
  return {
    monotonic: () => performance.now() + ahead,
    passes: (ms) => {
      ahead += ms
    },
  }
}
