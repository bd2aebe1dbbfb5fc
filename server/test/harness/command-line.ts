import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

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

/** Runs a command until it ends. */
export async function tollgate(args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
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
