// This version and another commit, measured alternately: what a change costs the hot paths.
import { parseArgs } from 'node:util'
import { runScript } from './cleanup.ts'
import { COMPARE_OPTIONS, COMPARE_USAGE, compareHotPaths } from './hot-paths.ts'

const USAGE = `npm run bench:against -- COMMIT [options]

  Compares the speed of check, record and lone in this version and in COMMIT, in alternating rounds. Each version has its
  own PostgreSQL with its own schema.
${COMPARE_USAGE}`

await runScript(async () => {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: COMPARE_OPTIONS })
  const [commit] = positionals
  if (commit) await compareHotPaths(commit, values)
  else process.stdout.write(USAGE)
})
