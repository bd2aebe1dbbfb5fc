import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cleanUp, cleanUpOnSignals, isEnding } from '../bench/cleanup.ts'
import { checkedOut, checkUnchanged } from '../bench/commit.ts'
import { say } from '../bench/progress.ts'
import { ownTempFolder } from '../server/test/harness/temp-folder.ts'
import { ROOT } from './harness/build.ts'
import { type Options, readOptions, USAGE } from './options.ts'
import { prove, resultOf, type Verdict } from './prove.ts'
import { figures, findings, markdown, resultText } from './report.ts'
import type { Scenario } from './scenario.ts'
import { SCENARIOS } from './scenarios.ts'
import type { Trial } from './trial.ts'

/** The share of the time for runs against a broken product. */
const SHARE_OF_BREAKING = 0.25

async function main(options: Options): Promise<boolean> {
  const chosen = SCENARIOS.filter(({ name }) => options.only.length === 0 || options.only.includes(name))
  const commit = options.write ? await checkedOut(ROOT) : null
  say(`seed ${options.seed}`)
  const began = performance.now()
  const sound = options.sound ? await runAll(chosen, options, false) : []
  const broken = options.broken ? await runAll(chosen, options, true) : []
  const seconds = (performance.now() - began) / 1_000
  if (commit) {
    await checkUnchanged(ROOT, commit)
    const names = SCENARIOS.map(({ name }) => name)
    const text = await markdown({ commit, options, sound, broken, seconds, names })
    await writeFile(join(ROOT, 'docs/proof.md'), text)
    say('wrote docs/proof.md')
  }
  const red = [...sound, ...broken].filter((verdict) => resultOf(verdict) === 'red')
  const partial = sound.filter((verdict) => resultOf(verdict) === 'partial')
  if (partial.length > 0) say(`partial: ${partial.map(nameOf).join(', ')}`)
  say(
    red.length === 0
      ? `no faults found, seed ${options.seed}, ${seconds.toFixed(0)} s`
      : `RED: ${red.map(nameOf).join(', ')}; repeat with --seed ${options.seed}`,
  )
  return red.length === 0
}

async function runAll(chosen: readonly Scenario[], options: Options, broken: boolean): Promise<Verdict[]> {
  const verdicts: Verdict[] = []
  let weights = 0
  for (const { weight, unavailable } of chosen)
    if (!(await unavailable?.(options.previous))) weights += weight
  const share = !options.sound || !options.broken ? 1 : broken ? SHARE_OF_BREAKING : 1 - SHARE_OF_BREAKING
  for (const scenario of chosen) {
    const { seed, previous } = options
    const part = broken ? 1 / chosen.length : scenario.weight / weights
    const seconds = options.seconds === null ? (broken ? 60 : null) : options.seconds * share * part
    const breakage = broken ? scenario.breakage : null
    const verdict = await prove(scenario, { seed, seconds, breakage, previous }, progress(scenario))
    // An interrupted run has shown nothing, and gets no report.
    if (isEnding()) throw new Error('the run was interrupted')
    verdicts.push(verdict)
    progress(scenario)(verdict.trial)
    say(verdictLine(verdict))
  }
  return verdicts
}

const progress = (scenario: Scenario) => (trial: Trial) =>
  say(
    `${scenario.name}${trial.breakage ? ' (broken)' : ''}: ${figures(trial)}, ${trial.elapsedSeconds.toFixed(0)} s`,
  )

const nameOf = ({ scenario, trial }: Verdict) => `${scenario.name}${trial.breakage ? ' (broken)' : ''}`

function verdictLine(verdict: Verdict): string {
  const { trial, failure, skipped } = verdict
  const result = `${nameOf(verdict)}: ${resultText(verdict)}`
  if (skipped !== null) return `${result}: ${skipped}`
  if (failure !== null) return `${result}: it did not complete: ${failure}`
  if (!trial.breakage) return `${result}: ${findings(trial, { all: true })}`
  return `${result}: ${trial.breakage.what}: ${findings(trial, { all: false }) || 'no faults found'}`
}

ownTempFolder()
cleanUpOnSignals('proof')
try {
  const options = readOptions(
    process.argv.slice(2),
    SCENARIOS.map(({ name }) => name),
  )
  if (!options) process.stdout.write(USAGE)
  else if (!(await main(options))) process.exitCode = 1
} catch (error) {
  if (!isEnding()) {
    process.stderr.write(`proof: ${(error as Error).message}\n`)
    process.exitCode = 1
  }
} finally {
  if (!isEnding()) await cleanUp()
}
