import type { Scenario } from './scenario.ts'
import { Trial, type TrialOptions } from './trial.ts'

export interface Verdict {
  scenario: Scenario
  trial: Trial
  /** why it did not finish, or could not run at all */
  failure: string | null
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

/** A sound product shows no fault; a broken one has to show one. */
export function holds({ trial, failure, skipped }: Verdict): boolean {
  if (skipped !== null) return true
  if (failure !== null) return false
  return trial.breakage ? trial.red : !trial.red
}
