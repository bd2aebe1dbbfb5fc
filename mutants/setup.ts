import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import type { Covered } from './covered.ts'
import { state } from './state.ts'

declare module 'vitest' {
  interface TaskMeta {
    covered?: Covered[]
  }
}

// That a property does not hold is enough: nobody reads the smallest example of it.
fc.configureGlobal({ endOnFailure: true })

// This runs before each test file, which says itself which mutant is on: files that it loads are loaded without any.
state.on = 0
state.last = Infinity
state.asked.fill(0)

let test = 0
let failed = false
let note = (_covered: Covered[]) => {}
const covered = new Map<number, Covered>()

function take(onLoading = false): void {
  for (let number = state.asked.indexOf(1); number !== -1; number = state.asked.indexOf(1, number)) {
    state.asked[number] = 0
    const before = covered.get(number)
    covered.set(number, {
      number,
      last: test,
      tests: (before?.tests ?? 0) + 1,
      onLoading: before?.onLoading || onLoading,
    })
  }
}

beforeAll(() => take(true))
// Nobody asks what else a mutant breaks, nor for tests after the last one that comes past it.
beforeEach(({ task, skip }) => {
  test += 1
  note = (all) => {
    task.file.meta.covered = all
  }
  if (failed || test > state.last) skip()
})
afterEach(({ task }) => {
  take()
  if (task.result?.state === 'fail') failed = true
})
afterAll(() => {
  take()
  note([...covered.values()])
  state.on = 0
})
