import fc from 'fast-check'
import { afterEach, beforeEach } from 'vitest'

// That a property does not hold is enough: nobody reads the smallest example of it.
fc.configureGlobal({ endOnFailure: true })

// Nor does anybody ask what else a mutant breaks: the rest of a file is skipped once a test has failed.
const noticed = new Set<string>()
beforeEach(({ task, skip }) => {
  if (noticed.has(task.file.id)) skip()
})
afterEach(({ task }) => {
  if (task.result?.state === 'fail') noticed.add(task.file.id)
})
