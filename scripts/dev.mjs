// The service from its sources, restarted on every change, and beside it the dashboard's pages from theirs.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { build, install, root } from './ready.mjs'

const { PORT = '4000', HOST = '127.0.0.1' } = process.env
process.env.TOLLGATE_URL ??= `http://${HOST}:${PORT}`

install()
build(['dashboard'])
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
// On Ctrl-C the terminal has already signalled them; a second signal would cut the shutdown short.
process.on('SIGINT', () => {
  ending = true
})

/** Separate processes, not through npx, so that stopping this one stops them. */
function start(program, ...args) {
  const child = spawn(process.execPath, [join(root, 'node_modules', program), ...args], {
    cwd: root,
    stdio: 'inherit',
  })
  // One without the other is useless.
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
