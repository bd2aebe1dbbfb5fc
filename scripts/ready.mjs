import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

/** Runs a command in the repository, its output shown; ends this process when it fails. */
export function run(command, args, env = {}) {
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...env },
    shell: process.platform === 'win32',
  })
  if (error) throw error
  if (status !== 0) process.exit(status ?? 1)
}

/** Installs what the lockfile names, unless that has been done. */
export function install() {
  const installed = join(root, 'node_modules/.package-lock.json')
  if (existsSync(installed) && modified(installed) >= modified(join(root, 'package-lock.json'))) return
  console.log('Installing dependencies…')
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'])
}

/** Builds the server, unless nothing has changed since it was built. */
export function build() {
  const built = join(root, 'server/dist/main.js')
  const sources = [join(root, 'server/src'), join(root, 'server/package.json')]
  if (existsSync(built) && modified(built) >= Math.max(...sources.map(newest))) return
  console.log('Building…')
  run('npm', ['run', 'build', '--silent'])
}

const modified = (path) => statSync(path).mtimeMs

function newest(path) {
  if (!statSync(path).isDirectory()) return modified(path)
  return Math.max(modified(path), ...readdirSync(path).map((name) => newest(join(path, name))))
}
