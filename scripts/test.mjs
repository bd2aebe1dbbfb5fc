// What must hold after every change: format, lint, types and tests. Arguments go to the test runner.
import { installChromium } from './chromium.mjs'
import { build, install, run } from './ready.mjs'

const files = process.argv.slice(2)

install()
installChromium()
// The types are a source of the pages. The check prints them too: were they not there yet, the pages would then be out of
// date, and a test that runs `npm start` would rebuild them under the others.
run('npx', ['tsx', 'dashboard/print-types.ts'])
build()
if (files.length === 0) run('node', ['scripts/check.mjs', '--printed'])
const chosen = files.length > 0 ? files : ['unit', 'service', 'pages'].map((name) => `--project=${name}`)
run('npx', ['vitest', 'run', ...chosen])
