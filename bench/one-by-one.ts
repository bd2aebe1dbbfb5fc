import type { LoadResult } from './load.ts'
import { quantile } from './rounds.ts'

/** Repeats a call, each after the last one is answered. */
export async function oneByOne(seconds: number, call: () => Promise<void>): Promise<LoadResult> {
  const times: number[] = []
  const began = performance.now()
  for (let now = began; now < began + seconds * 1e3; ) {
    await call()
    const then = now
    now = performance.now()
    times.push(now - then)
  }
  const sorted = Float64Array.from(times).sort()
  return {
    requests: times.length,
    perSecond: times.length / seconds,
    p50: quantile(sorted, 0.5),
    p99: quantile(sorted, 0.99),
    bytesPerAnswer: 0,
  }
}
