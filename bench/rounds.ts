/** The quantile of sorted values. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

/**
 * Measures the sides alternately: A, B, A, B. Other load on the machine then affects both, and a ratio is meaningful
 * where a figure alone would not be.
 */
export async function interleave<Side extends string, T>(
  rounds: number,
  sides: Readonly<Record<Side, () => Promise<T>>>,
  tell: (round: number, side: string, result: T) => void,
): Promise<Record<Side, T[]>> {
  const names = Object.keys(sides) as Side[]
  const results = Object.fromEntries(names.map((name) => [name, [] as T[]])) as Record<Side, T[]>
  for (let round = 1; round <= rounds; round++) {
    for (const name of names) {
      const result = await sides[name]()
      results[name].push(result)
      tell(round, name, result)
    }
  }
  return results
}

/** How one side compares with another: the ratio of their medians, and the range of the ratios round by round. */
export interface Comparison {
  a: number
  b: number
  ratio: number
  range: [low: number, high: number]
}

export function compare(a: readonly number[], b: readonly number[]): Comparison {
  const ratios = a.map((value, i) => value / (b[i] ?? Number.NaN))
  const [middleA, middleB] = [median(a), median(b)]
  return {
    a: middleA,
    b: middleB,
    ratio: middleA / middleB,
    range: [Math.min(...ratios), Math.max(...ratios)],
  }
}
