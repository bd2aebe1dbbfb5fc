// The service from its sources, started again whenever one of them changes, and beside it the dashboard's pages from theirs.
import { spawn } from 'node:child_process'
import { buildDashboard, install, root } from './ready.mjs'

install()
buildDashboard()
const service = start(['tsx', 'watch', '--clear-screen=false', 'server/src/main.ts'])
const pages = start(['vite', 'dashboard', '--clearScreen', 'false', '--config', 'dashboard/vite.config.ts'])
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => end(signal))

function start(command) {
  const child = spawn('npx', command, { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' })
  // One without the other is of no use.
  child.on('exit', (code) => {
    end('SIGTERM')
    process.exitCode ||= code ?? 1
  })
  return child
}

function end(signal) {
  service.kill(signal)
  pages.kill(signal)
}
