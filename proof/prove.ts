import type { Scenario } from './scenario.ts'
import { Trial, type TrialOptions } from './trial.ts'

export interface Verdict {
  scenario: Scenario
  trial: Trial
  /** why it did not finish */
  failure: string | null
  /** why it cannot run on this machine */
  skipped: string | null
}

/** Runs a scenario, and stops everything it started. `report` is called with its progress. */
export async function prove(
  scenario: Scenario,
  options: TrialOptions,
  report: (trial: Trial) => void = () => {},
): Promise<Verdict> {
  const trial = new Trial(scenario, options)
  const skipped = (await scenario.unavailable?.(options.previous)) ?? null
  if (skipped !== null) return { scenario, trial, failure: null, skipped }
  const progress = setInterval(() => report(trial), 5_000)
  let failure: string | null = null
  try {
    await scenario.run(trial)
  } catch (error) {
    failure = (error as Error).stack ?? String(error)
  } finally {
    clearInterval(progress)
    await trial.cleanUp()
  }
  return { scenario, trial, failure, skipped }
}

export type Result = 'holds' | 'partial' | 'detected' | 'red' | 'not run'

/**
 * A sound product shows no fault, and holds once a scenario has run at its full size; before, it is partial. A broken
 * product must be detected.
 */
export function resultOf(verdict: Verdict): Result {
  const { trial, failure, skipped } = verdict
  if (skipped !== null) return 'not run'
  if (failure !== null) return 'red'
  if (trial.breakage) return trial.red ? 'detected' : 'red'
  if (trial.red) return 'red'
  return shareOf(verdict) === 1 ? 'holds' : 'partial'
}

/** How much of its full size a scenario has reached: the least of its counts, at most 1. */
export function shareOf({ scenario, trial }: Verdict): number {
  const shares = Object.entries(scenario.full).map(([name, full]) => (trial.counts.get(name) ?? 0) / full)
  return Math.min(1, ...shares)
}
