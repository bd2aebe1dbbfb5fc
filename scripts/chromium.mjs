import { spawnSync } from 'node:child_process'
import { run } from './ready.mjs'

/** The names that Chromium goes by on the PATH. */
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']

const succeeds = (command, args) => spawnSync(command, args, { stdio: 'ignore' }).status === 0

/** The page tests run in a real Chromium: an installed one, or Debian's if it can be installed. */
export function installChromium() {
  const named = process.env.TOLLGATE_CHROMIUM
  if ((named ? [named] : NAMES).some((name) => succeeds(name, ['--version']))) return
  if (named) fail(`TOLLGATE_CHROMIUM is ${named}, which cannot be executed.`)
  const sudo = process.getuid?.() === 0 ? [] : ['sudo', '-n']
  const [may, ...rest] = [...sudo, 'apt-get']
  if (!succeeds(may, [...rest, '--version'])) {
    fail('The tests require Chromium. Install it, or set TOLLGATE_CHROMIUM to its path.')
  }
  console.log('Installing Chromium…')
  const env = { DEBIAN_FRONTEND: 'noninteractive' }
  run(may, [...rest, '-qq', 'update'], env)
  // The one without windows is quicker to install and to run; older systems have only the other.
  const name = succeeds('apt-cache', ['show', 'chromium-headless-shell'])
    ? 'chromium-headless-shell'
    : 'chromium'
  run(may, [...rest, '-qq', 'install', '--yes', '--no-install-recommends', name, 'fonts-liberation'], env)
}

function fail(message) {
  console.error(message)
  process.exit(1)
}
