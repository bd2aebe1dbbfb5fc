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

const PARTS = {
  server: { built: 'dist/main.js', from: ['src', 'bundle.ts', 'package.json'], says: 'Building…' },
  dashboard: {
    built: 'dist/index.html',
    from: ['src', 'public', 'index.html', 'vite.config.ts', 'package.json'],
    says: 'Building the dashboard…',
  },
}

/** Builds the server with its tools, and the dashboard's pages, unless nothing has changed since they were built. */
export function build(parts = Object.keys(PARTS)) {
  for (const [command, ...args] of outdated(parts)) run(command, args)
}

/** The commands that build what has changed since it was built. */
export function* outdated(parts = Object.keys(PARTS)) {
  for (const part of parts) {
    const { built, from, says } = PARTS[part]
    const at = (name) => join(root, part, name)
    if (fresh(at(built), from.map(at))) continue
    console.log(says)
    yield ['npm', 'run', 'build', '--silent', '-w', part]
  }
}

const fresh = (built, sources) =>
  existsSync(built) && modified(built) >= Math.max(...sources.map((source) => newest(source)))

const modified = (path) => statSync(path).mtimeMs

function newest(path) {
  if (!statSync(path).isDirectory()) return modified(path)
  return Math.max(modified(path), ...readdirSync(path).map((name) => newest(join(path, name))))
}
