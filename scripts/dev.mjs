// The service from its sources, started again whenever one of them changes.
import { spawn } from 'node:child_process'
import { install, root } from './ready.mjs'

install()
const child = spawn('npx', ['tsx', 'watch', '--clear-screen=false', 'server/src/main.ts'], {
  cwd: root,
  stdio: 'inherit',
  shell: process.platform === 'win32',
})
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
child.on('exit', (code) => process.exit(code ?? 1))
