import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { run } from '../../src/cli/run.ts'
import { type Stream, Terminal } from '../../src/terminal/terminal.ts'
import { REAL_CLOCKS } from './clocks.ts'

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

/** Starts the built command line. Nobody is at its terminal. */
export const spawnTollgate = (args: readonly string[], env: Record<string, string> = {}): ChildProcess =>
  spawn(process.execPath, [CLI, ...args], {
    env: { PATH: process.env.PATH ?? '', TMPDIR: process.env.TMPDIR ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })

/** Runs the command line in this process, as `cli.ts` does. Nobody is at its terminal. */
export async function tollgate(args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  const [stdout, stderr]: [string[], string[]] = [[], []]
  const stream = (written: string[]): Stream => ({
    write: (text) => written.push(text) > 0,
    once: () => {},
  })
  const code = await run(
    {
      version: 'test',
      env,
      terminal: new Terminal(stream(stdout), stream(stderr)),
      clocks: REAL_CLOCKS,
      questions: null,
      stopping: new AbortController().signal,
      runProgram: async (program) => {
        throw new Error(`${program} is a process of its own`)
      },
    },
    args,
  )
  return { code, stdout: stdout.join(''), stderr: stderr.join('') }
}

/** Runs a command of the built command line until it ends. */
export async function builtTollgate(
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Ended> {
  const child = spawnTollgate(args, env)
  let [stdout, stderr] = ['', '']
  child.stdout?.on('data', (chunk: Buffer) => {
    stdout += chunk.toString()
  })
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  const [code] = await once(child, 'close')
  return { code, stdout, stderr }
}
