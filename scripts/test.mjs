// What must hold after every change: format, lint, types and tests. Arguments go to the test runner.
import { installChromium } from './chromium.mjs'
import { install, outdated, run, runTogether } from './ready.mjs'

const files = process.argv.slice(2)

install()
installChromium()
// The types are a source of the pages. The check prints them too: were they not there yet, the pages would then be out of
// date, and a test that runs `npm start` would rebuild them under the others.
run('npx', ['tsx', 'dashboard/print-types.ts'])
const check = files.length === 0 ? [['node', 'scripts/check.mjs', '--printed']] : []
await runTogether([...outdated(), ...check])
const chosen = files.length > 0 ? files : ['unit', 'service', 'pages'].map((name) => `--project=${name}`)
run('npx', ['vitest', 'run', ...chosen])
