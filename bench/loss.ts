import type { Estimate } from './rounds.ts'

/** The share of its speed that a hot path may lose in all, from the baseline on. */
export const MOST_LOSS = 0.03

/** Whether a ratio of speeds shows a loss that is too large: surely, not at all, or the noise does not allow a conclusion. */
export function lossIn({ low, high }: Estimate): 'too large' | 'acceptable' | 'unclear' {
  const least = 1 - MOST_LOSS
  if (high < least) return 'too large'
  return low < least ? 'unclear' : 'acceptable'
}
