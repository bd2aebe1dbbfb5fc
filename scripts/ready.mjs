import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

const NEEDED_NODE = [20, 19]

/** Exits with one line on an older Node.js, on which installing or loading would fail in many. */
export function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major > NEEDED_NODE[0] || (major === NEEDED_NODE[0] && minor >= NEEDED_NODE[1])) return
  console.error(
    `tollgate: Node.js ${NEEDED_NODE.join('.')} or later is required; this is ${process.versions.node}. Install a newer version from https://nodejs.org.`,
  )
  process.exit(1)
}

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

const above = (path) => join('..', path)

const PARTS = {
  server: { built: 'dist/main.js', from: ['src', 'bundle.ts', 'package.json'], says: 'Building…' },
  dashboard: {
    built: 'dist/index.html',
    from: ['src', 'public', 'index.html', 'vite.config.ts', 'package.json'],
    says: 'Building the dashboard…',
  },
  site: {
    built: 'dist/html/index.html',
    from: [
      '.vitepress/config.ts',
      '.vitepress/theme',
      'reference',
      'build.ts',
      'links.ts',
      'pages.ts',
      'sidebar.ts',
      'tables.ts',
      'package.json',
      // What the pages are made from.
      ...['docs', 'server/schema', 'server/src/domain/errors.ts', 'server/src/domain/limits.ts'].map(above),
      ...['ARCHITECTURE.md', 'CHANGELOG.md', 'SECURITY.md', 'deploy/README.md', 'examples/README.md'].map(
        above,
      ),
    ],
    says: 'Building the documentation…',
  },
}

/** Builds the server with its tools, and the dashboard's pages, unless nothing has changed since they were built. */
export function build(parts = Object.keys(PARTS)) {
  for (const [command, ...args] of outdated(parts)) run(command, args)
}

/** The commands that build what has changed since it was built. */
export function* outdated(parts = Object.keys(PARTS)) {
  for (const part of parts) {
    if (isBuilt(part)) continue
    console.log(PARTS[part].says)
    yield ['npm', 'run', 'build', '--silent', '-w', part]
  }
}

/** Builds the documentation beside this process, which does not wait for it and ends it when it ends itself. */
export function buildDocsBeside() {
  if (isBuilt('site')) return
  const child = spawn(process.execPath, ['--import', 'tsx', 'build.ts'], {
    cwd: join(root, 'site'),
    stdio: 'ignore',
  })
  child.on('spawn', () => setPriority(child.pid, constants.priority.PRIORITY_LOW))
  child.on('exit', (code) => {
    if (code) console.error('The documentation could not be built. To see why, run npm run docs.')
  })
  child.unref()
  process.once('exit', () => child.kill())
}

function isBuilt(part) {
  const { built, from } = PARTS[part]
  const at = (name) => join(root, part, name)
  return fresh(at(built), from.map(at))
}

const fresh = (built, sources) =>
  existsSync(built) && modified(built) >= Math.max(...sources.map((source) => newest(source)))

const modified = (path) => statSync(path).mtimeMs

function newest(path) {
  if (!statSync(path).isDirectory()) return modified(path)
  return Math.max(modified(path), ...readdirSync(path).map((name) => newest(join(path, name))))
}
