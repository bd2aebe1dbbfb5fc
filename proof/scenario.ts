import type { Breakage } from './breakage.ts'
import type { Trial, TrialPlan } from './trial.ts'

/** One thing that must hold under one kind of trouble. */
export interface Scenario extends TrialPlan {
  /** what is done, for the report */
  what: string
  /** its share of the time */
  weight: number
  /** how the product is broken to see the scenario turn red */
  breakage: Breakage
  /** Why it cannot run on this machine; null where it can. */
  unavailable?(previous: string | null): Promise<string | null>
  run(trial: Trial): Promise<void>
}
