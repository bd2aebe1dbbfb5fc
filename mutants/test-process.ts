import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createVitest, type Reporter, type TestModule } from 'vitest/node'
import { served } from './served.ts'

// A process with Vitest in it, which runs tests against several mutants at a time. Where one of them never comes to an
// end, it says which, and its parent kills it.

export interface Order {
  trials: Trial[]
  /** how long no test may come to an end */
  quietMs: number
}

export interface Trial {
  /** what is changed, from the root; null: nothing */
  file: string | null
  text: string
  tests: string[]
}

export interface Outcome {
  /** for each trial the first test that failed; null: all of them passed */
  failed: (string | null)[]
  /** the trial that hangs: it is the last that anything is known of */
  hanging: number | null
  /** Whose it is cannot be told where there are several. */
  uncaught: string | null
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
let trials = 0

process.on('message', (order: Order) => {
  run(order).then(
    (outcome) => process.send?.(outcome),
    (error) => process.send?.(`the tests could not be run: ${error}`),
  )
})
process.on('disconnect', () => void vitest.close().finally(() => process.exit()))
process.send?.('ready')

async function run({ trials: order, quietMs }: Order): Promise<Outcome> {
  served().clear()
  vitest.state.filesMap.clear()
  vitest.state.idMap.clear()
  vitest.state.clearErrors()
  const numbered = order.map((trial) => ({ ...trial, number: ++trials }))
  for (const { number, file, text } of numbered) {
    served().set(number, { number, file: file && join(ROOT, file), text })
  }
  const specifications = numbered.flatMap(({ number, tests }) =>
    tests.map((test) => {
      const found = specificationsOf.get(join(ROOT, test))
      if (!found) throw new Error(`there is no test ${test}`)
      return found.project.createSpecification(`${found.moduleId}?mutant=${number}`)
    }),
  )
  const finished: TestModule[] = []
  const outcomeOf = ({ number, tests }: (typeof numbered)[number]) => {
    const own = finished.filter(({ moduleId }) => moduleId.endsWith(`?mutant=${number}`))
    const module = own.find((one) => !one.ok())
    return { failed: module ? nameOf(module) : null, done: own.length === tests.length }
  }
  let timer: NodeJS.Timeout | undefined
  let giveUp = () => {}
  const quiet = new Promise<Outcome>((resolve) => {
    giveUp = () => resolve(soFar())
  })
  const soFar = (): Outcome => {
    const outcomes = numbered.map(outcomeOf)
    const hanging = outcomes.findIndex(({ done }) => !done)
    return { failed: outcomes.slice(0, hanging).map(({ failed }) => failed), hanging, uncaught: null }
  }
  // The first of them waits for all that is loaded, and for the database to be made ready.
  timer = setTimeout(giveUp, quietMs + START_MS)
  onProgress = (module) => {
    if (module) finished.push(module)
    clearTimeout(timer)
    timer = setTimeout(giveUp, quietMs)
  }
  const whole = async (): Promise<Outcome> => {
    const { unhandledErrors } = await vitest.runTestSpecifications(specifications)
    const outcomes = numbered.map(outcomeOf)
    if (outcomes.some(({ done }) => !done)) throw new Error('not all tests were run')
    const [error] = unhandledErrors
    const uncaught = error === undefined ? null : String(error)
    return { failed: outcomes.map(({ failed }) => failed), hanging: null, uncaught }
  }
  return Promise.race([whole(), quiet]).finally(() => clearTimeout(timer))
}

function nameOf(module: TestModule): string {
  const path = module.moduleId.slice(ROOT.length).replace(/\?.*$/, '')
  for (const test of module.children.allTests('failed')) return `${path} > ${test.fullName}`
  return `${path}: ${module.errors()[0]?.message ?? 'it failed as a whole'}`
}
