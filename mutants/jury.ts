import type { Judge, Verdict } from './judge.ts'
import { applied, type Mutant } from './mutant.ts'
import type { Trial } from './test-process.ts'
import type { TestPicker } from './tests-of.ts'

export interface Case {
  mutant: Mutant
  /** of its whole file, as it is */
  text: string
}

const UNIT_QUIET_MS = 10_000
const SERVICE_QUIET_MS = 60_000

/**
 * Tries several mutants at a time: first by the test that is most likely to notice, then those that survived by the next
 * ones. Each test is run once without any change, and must pass.
 */
export class Jury {
  readonly #judge: Judge
  readonly #picker: TestPicker
  readonly #sound = new Set<string>()

  constructor(judge: Judge, picker: TestPicker) {
    this.#judge = judge
    this.#picker = picker
  }

  async judge(cases: readonly Case[]): Promise<Verdict[]> {
    const verdicts = cases.map((): Verdict => 'survived')
    const rounds = cases.map(({ mutant }) => this.#picker.roundsFor(mutant.path))
    const most = Math.max(...rounds.map((own) => own.length))
    for (let round = 0; round < most; round++) {
      const left = cases.flatMap(({ mutant, text }, index) => {
        const tests = rounds[index]?.[round]
        const trial = tests && { file: mutant.path, text: applied(text, mutant), tests }
        return trial && verdicts[index] === 'survived' ? [{ index, trial }] : []
      })
      const found = await this.#try(left.map(({ trial }) => trial))
      for (const [i, { index }] of left.entries()) verdicts[index] = found[i] ?? 'survived'
    }
    return verdicts
  }

  async #try(trials: readonly Trial[]): Promise<Verdict[]> {
    const tests = [...new Set(trials.flatMap((trial) => trial.tests))]
    const unproven = tests.filter((test) => !this.#sound.has(test))
    const controls = unproven.map((test): Trial => ({ file: null, text: '', tests: [test] }))
    const unit = tests.every((test) => test.startsWith('server/src/'))
    const verdicts = await this.#judge.judge(
      [...controls, ...trials],
      unit ? UNIT_QUIET_MS : SERVICE_QUIET_MS,
    )
    for (const [index, test] of unproven.entries()) {
      const verdict = verdicts[index]
      if (verdict !== 'survived')
        throw new Error(`${test} fails without any change: ${JSON.stringify(verdict)}`)
      this.#sound.add(test)
    }
    return verdicts.slice(controls.length)
  }
}
