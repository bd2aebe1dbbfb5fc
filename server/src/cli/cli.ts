import { fileURLToPath } from 'node:url'
import manifest from '../../package.json' with { type: 'json' }
import { Terminal } from '../terminal/terminal.ts'
import type { Program } from './context.ts'
import { questionsAt } from './questions.ts'
import { run } from './run.ts'

const stopping = new AbortController()
// A second one ends the process at once.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stopping.abort())
// The reader has closed the pipe, such as head.
process.stdout.on('error', () => process.exit(1))

let isProgram = false

/** Loads a program as if it had been called directly: processes that it forks skip this one. */
async function runProgram(program: Program, args: readonly string[]): Promise<void> {
  isProgram = true
  const url = new URL(program, import.meta.url)
  process.argv.splice(1, process.argv.length, fileURLToPath(url), ...args)
  // Set by npm. Paths are relative to the current folder here, not to where an enclosing npm script was called.
  delete process.env.INIT_CWD
  // The program has handlers of its own.
  for (const signal of ['SIGINT', 'SIGTERM']) process.removeAllListeners(signal)
  process.stdout.removeAllListeners('error')
  await import(url.href)
}

const code = await run(
  {
    version: manifest.version,
    env: process.env,
    terminal: new Terminal(process.stdout, process.stderr),
    clocks: { wall: () => Date.now(), monotonic: () => performance.now() },
    questions: questionsAt(process.stdin, process.stderr, stopping.signal),
    stopping: stopping.signal,
    runProgram,
  },
  process.argv.slice(2),
)

// A check of the doctor that takes too long is not waited for. A program ends by itself.
if (!isProgram) process.exit(code)
