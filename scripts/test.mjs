// What must hold after every change: format, lint, types and tests. Arguments go to the test runner.
import { installChromium } from './chromium.mjs'
import { build, install, run } from './ready.mjs'

const files = process.argv.slice(2)

install()
installChromium()
build()
if (files.length === 0) {
  run('npm', ['run', 'check', '--silent'])
  // The check prints the types of the pages again: a test that runs `npm start` would rebuild them under the others.
  build()
}
const chosen = files.length > 0 ? files : ['unit', 'service', 'pages'].map((name) => `--project=${name}`)
run('npx', ['vitest', 'run', ...chosen])
