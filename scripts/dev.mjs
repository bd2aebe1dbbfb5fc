// The service from its sources, started again whenever one of them changes, and beside it the dashboard's pages from theirs.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { buildDashboard, install, root } from './ready.mjs'

const { PORT = '4000', HOST = '127.0.0.1' } = process.env
process.env.TOLLGATE_URL ??= `http://${HOST}:${PORT}`

install()
buildDashboard()
const service = start('tsx/dist/cli.mjs', 'watch', '--clear-screen=false', 'server/src/main.ts')
const pages = start(
  'vite/bin/vite.js',
  'dashboard',
  '--clearScreen',
  'false',
  '--config',
  'dashboard/vite.config.ts',
)
let ending = false
process.on('SIGTERM', end)
// Of a key press the terminal has told them already; told twice, the service would be cut short.
process.on('SIGINT', () => {
  ending = true
})

/** Each as a process of its own, not through npx: what ends this one ends those. */
function start(program, ...args) {
  const child = spawn(process.execPath, [join(root, 'node_modules', program), ...args], {
    cwd: root,
    stdio: 'inherit',
  })
  // One without the other is of no use.
  child.on('exit', (code) => {
    end()
    process.exitCode ||= code ?? 1
  })
  return child
}

function end() {
  if (ending) return
  ending = true
  service.kill('SIGTERM')
  pages.kill('SIGTERM')
}
