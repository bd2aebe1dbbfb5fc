import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import { createVitest, type Reporter, type TestModule } from 'vitest/node'
import { copies } from './copies.ts'
import type { Covered } from './covered.ts'

// A process with Vitest in it, which runs tests against several mutants at a time. Where one of them never comes to an
// end, it says which, and its parent kills it.

export interface Order {
  trials: Trial[]
  /** how long no test may come to an end */
  quietMs: number
}

/** A test file, run once. */
export interface Trial {
  /** from the root */
  test: string
  /** the number of a mutant; or a file, from the root, as one that acts on loading has it; null: nothing is changed */
  mutant: number | { file: string; text: string } | null
  /** the last of its tests that needs to be run, counted from 1 */
  last: number
}

export interface Outcome {
  done: Done[]
  /** whether the trial after those that are done hangs */
  hangs: boolean
  /** Whose it is cannot be told where there are several. */
  uncaught: string | null
}

export interface Done {
  /** the first test that failed; null: all of them passed */
  failed: string | null
  ms: number
  covered: Covered[]
}

const START_MS = 30_000
const ROOT = fileURLToPath(new URL('..', import.meta.url))

let onProgress = (_finished?: TestModule) => {}
const progress: Reporter = {
  onTestCaseResult: () => onProgress(),
  onTestModuleEnd: (module) => onProgress(module),
}
const vitest = await createVitest('test', {
  config: join(ROOT, 'mutants/vitest.config.ts'),
  watch: false,
  reporters: [progress],
})
await vitest.standalone()
const specificationsOf = new Map((await vitest.globTestSpecifications()).map((s) => [s.moduleId, s]))
let runs = 0

process.on('message', (order: Order) => {
  run(order).then(
    (outcome) => process.send?.(outcome),
    (error) => process.send?.(`the tests could not be run: ${error}`),
  )
})
process.on('disconnect', () => void vitest.close().finally(() => process.exit()))
process.send?.('ready')

async function run({ trials, quietMs }: Order): Promise<Outcome> {
  copies().clear()
  vitest.state.filesMap.clear()
  vitest.state.idMap.clear()
  vitest.state.clearErrors()
  const specifications = trials.map((trial) => {
    const found = specificationsOf.get(join(ROOT, trial.test))
    if (!found) throw new Error(`there is no test ${trial.test}`)
    return found.project.createSpecification(found.moduleId + suffixOf(trial))
  })
  const finished = new Map<string, TestModule>()
  const done = (): Done[] => {
    const modules = specifications.map(({ moduleId }) => finished.get(moduleId))
    const missing = modules.indexOf(undefined)
    return modules
      .slice(0, missing === -1 ? undefined : missing)
      .flatMap((module) => (module ? [doneOf(module)] : []))
  }
  let timer: NodeJS.Timeout | undefined
  let giveUp = () => {}
  const quiet = new Promise<Outcome>((resolve) => {
    giveUp = () => resolve({ done: done(), hangs: true, uncaught: null })
  })
  // The first of them waits for all that is loaded, and for the database to be made ready.
  timer = setTimeout(giveUp, quietMs + START_MS)
  onProgress = (module) => {
    if (module) finished.set(module.moduleId, module)
    clearTimeout(timer)
    timer = setTimeout(giveUp, quietMs)
  }
  const whole = async (): Promise<Outcome> => {
    const { unhandledErrors } = await vitest.runTestSpecifications(specifications)
    if (finished.size < specifications.length) throw new Error('not all tests were run')
    const [error] = unhandledErrors
    return { done: done(), hangs: false, uncaught: error === undefined ? null : inspect(error) }
  }
  return Promise.race([whole(), quiet]).finally(() => clearTimeout(timer))
}

/** No two modules have the same name, or the second would be taken for the first. */
function suffixOf({ mutant, last }: Trial): string {
  runs += 1
  if (mutant === null || typeof mutant === 'number') return `?run=${runs}&on=${mutant ?? 0}&last=${last}`
  const suffix = `?copy=${runs}`
  copies().set(suffix, { file: join(ROOT, mutant.file), text: mutant.text })
  return suffix
}

function doneOf(module: TestModule): Done {
  return {
    failed: module.ok() ? null : nameOf(module),
    ms: module.diagnostic().duration + module.diagnostic().collectDuration,
    covered: module.meta().covered ?? [],
  }
}

function nameOf(module: TestModule): string {
  const path = module.moduleId.slice(ROOT.length).replace(/\?.*$/, '')
  for (const test of module.children.allTests('failed')) return `${path} > ${test.fullName}`
  return `${path}: ${module.errors()[0]?.message ?? 'it failed as a whole'}`
}
