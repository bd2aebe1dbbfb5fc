import type { Budget, Coverage } from './coverage.ts'
import type { Judge, Verdict } from './judge.ts'
import type { Numbered } from './mutant.ts'
import type { Trial } from './test-process.ts'

const UNIT_QUIET_MS = 10_000
const SERVICE_QUIET_MS = 45_000

/**
 * Tries several mutants at a time: first by the test that is most likely to notice, then those that survived by the next
 * ones.
 */
export class Jury {
  readonly #judge: Judge
  readonly #coverage: Coverage

  constructor(judge: Judge, coverage: Coverage) {
    this.#judge = judge
    this.#coverage = coverage
  }

  async judge(mutants: readonly Numbered[], budget: Budget): Promise<Verdict[]> {
    const verdicts = mutants.map((): Verdict => 'survived')
    const trials = mutants.map((mutant) => this.#coverage.trialsOf(mutant, budget))
    const most = Math.max(...trials.map((own) => own.length))
    for (let round = 0; round < most; round++) {
      const left = trials.flatMap((own, index) => {
        const trial = own[round]
        return trial && verdicts[index] === 'survived' ? [{ index, trial }] : []
      })
      const found = await this.#try(left.map(({ trial }) => trial))
      for (const [i, { index }] of left.entries()) verdicts[index] = found[i] ?? 'survived'
    }
    return verdicts
  }

  async #try(trials: readonly Trial[]): Promise<Verdict[]> {
    const unit = trials.every(({ test }) => test.startsWith('server/src/'))
    const results = await this.#judge.judge(trials, unit ? UNIT_QUIET_MS : SERVICE_QUIET_MS)
    return results.map((result) => {
      if (result === 'timed out') return result
      return result.failed === null ? 'survived' : { killedBy: result.failed }
    })
  }
}
