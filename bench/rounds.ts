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
 * Measures the sides in turn, every other round in reverse: A, B, B, A. Other load on the machine and slow drift then affect
 * all sides, and a ratio is meaningful where a figure alone would not be.
 */
export async function interleave<Side extends string, T>(
  rounds: number,
  sides: Readonly<Record<Side, () => Promise<T>>>,
  tell: (round: number, side: string, result: T) => void,
): Promise<Record<Side, T[]>> {
  const names = Object.keys(sides) as Side[]
  const results = Object.fromEntries(names.map((name) => [name, [] as T[]])) as Record<Side, T[]>
  for (let round = 1; round <= rounds; round++) {
    for (const name of round % 2 === 1 ? names : names.toReversed()) {
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

/** A ratio with its confidence interval. */
export interface Estimate {
  ratio: number
  low: number
  high: number
}

/**
 * a ÷ b from pairs of rounds: the Hodges–Lehmann estimate of the logarithm, with the interval of Wilcoxon's signed-rank test. One
 * disturbed round widens it less than it would the interval of a mean.
 */
export function estimate(a: readonly number[], b: readonly number[]): Estimate {
  const logs = a.map((value, i) => Math.log(value / (b[i] ?? Number.NaN)))
  const means = logs.flatMap((x, i) => logs.slice(i).map((y) => (x + y) / 2)).sort((x, y) => x - y)
  const n = logs.length
  const outside = Math.floor((n * (n + 1)) / 4 - 1.96 * Math.sqrt((n * (n + 1) * (2 * n + 1)) / 24))
  const at = (index: number) => Math.exp(means.at(index) ?? Number.NaN)
  const skipped = Math.max(0, outside)
  return { ratio: Math.exp(median(means)), low: at(skipped), high: at(-1 - skipped) }
}

export const estimateText = ({ ratio, low, high }: Estimate): string =>
  `${ratio.toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)})`

/** Fewer than six pairs cannot give 95 %: the interval is then their whole range. */
export const intervalText = (pairs: number): string =>
  pairs < 6 ? 'lowest to highest' : '95 % confidence interval'
