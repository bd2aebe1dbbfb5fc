import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

/** Runs a command in the repository, showing its output; exits if it fails. */
export function run(command, args, env = {}) {
  const { status, error } = spawnSync(command, args, shown(env))
  if (error) throw error
  if (status !== 0) process.exit(status ?? 1)
}

/** Runs commands in parallel; exits if one of them has failed, once all are done. */
export async function runTogether(commands) {
  const ends = await Promise.all(
    commands.map(([command, ...args]) => once(spawn(command, args, shown()), 'close')),
  )
  if (ends.some(([status]) => status !== 0)) process.exit(1)
}

const shown = (env = {}) => ({
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, ...env },
  shell: process.platform === 'win32',
})

/** Installs the packages of the lockfile, unless already done. */
export function install() {
  const installed = join(root, 'node_modules/.package-lock.json')
  if (existsSync(installed) && modified(installed) >= modified(join(root, 'package-lock.json'))) return
  console.log('Installing dependencies…')
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'])
}

/** Builds the server and the dashboard, unless nothing has changed since it was built. */
export function build() {
  buildServer()
  buildDashboard()
}

/** Builds the server and its tools, unless nothing has changed since they were built. */
export function buildServer() {
  const built = join(root, 'server/dist/main.js')
  const sources = ['src', 'bundle.ts', 'package.json'].map((name) => join(root, 'server', name))
  if (!fresh(built, sources)) {
    console.log('Building…')
    run('npm', ['run', 'build', '--silent', '-w', 'server'])
  }
}

/** Builds the dashboard's pages, unless nothing has changed since they were built. */
export function buildDashboard() {
  const folder = join(root, 'dashboard')
  const sources = ['src', 'public', 'index.html', 'vite.config.ts', 'package.json']
  if (
    fresh(
      join(folder, 'dist/index.html'),
      sources.map((name) => join(folder, name)),
    )
  )
    return
  console.log('Building the dashboard…')
  run('npm', ['run', 'build', '--silent', '-w', 'dashboard'])
}

const fresh = (built, sources) =>
  existsSync(built) && modified(built) >= Math.max(...sources.map((source) => newest(source)))

const modified = (path) => statSync(path).mtimeMs

function newest(path) {
  if (!statSync(path).isDirectory()) return modified(path)
  return Math.max(modified(path), ...readdirSync(path).map((name) => newest(join(path, name))))
}
