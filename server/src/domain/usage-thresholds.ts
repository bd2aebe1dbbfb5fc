import { badUserInput } from './errors.ts'
import { MAX_THRESHOLD, MAX_THRESHOLDS } from './limits.ts'

/**
 * Percentages of a budget at which usage is reported.
 *
 * Invariants (usage-thresholds.test.ts): a threshold is reached when `used >= budget * threshold / 100`, exactly; a move of a
 * counter crosses it only from below; so each is crossed once per period, and again only after usage has fallen below it.
 */
export const DEFAULT_THRESHOLDS: readonly number[] = [80, 100]

/** The usage at which a threshold is reached. Without rounding errors, for budgets up to 2^53-1. */
export function levelOf(budget: number, threshold: number): number {
  const hundreds = Math.floor(budget / 100)
  return hundreds * threshold + Math.ceil(((budget % 100) * threshold) / 100)
}

/** The thresholds that usage crosses when it moves from one value to another, lowest first. */
export function crossedThresholds(
  from: number,
  to: number,
  budget: number | null,
  thresholds: readonly number[] = DEFAULT_THRESHOLDS,
): number[] {
  if (budget === null || to <= from) return []
  return thresholds.filter((threshold) => {
    const level = levelOf(budget, threshold)
    return from < level && level <= to
  })
}

/** Checks the thresholds of a feature. */
export function checkThresholds(thresholds: readonly number[]): void {
  if (thresholds.length > MAX_THRESHOLDS)
    throw badUserInput(`thresholds must contain at most ${MAX_THRESHOLDS} percentages`, 'thresholds')
  for (const threshold of thresholds)
    if (!Number.isInteger(threshold) || threshold < 1 || threshold > MAX_THRESHOLD)
      throw badUserInput(`thresholds must be percentages from 1 to ${MAX_THRESHOLD}`, 'thresholds')
}

/** Lowest first, each once. */
export const sortedThresholds = (thresholds: readonly number[]): number[] =>
  [...new Set(thresholds)].sort((a, b) => a - b)
