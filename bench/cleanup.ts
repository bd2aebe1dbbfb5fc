import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

type Step = () => Promise<unknown>

const steps = new Set<Step>()
let ending = false
let program = 'bench'

/** Call before starting anything: what starts during the clean-up would be left behind. */
export function refuseIfEnding(): void {
  if (ending) throw new Error('the run is being stopped')
}

/** Runs `step` at the end, however that comes. Returns a function that runs it now instead. */
export function atEnd(step: Step): () => Promise<void> {
  steps.add(step)
  return async () => {
    if (steps.delete(step)) await step()
  }
}

/** Undoes everything, last first. */
export async function cleanUp(): Promise<void> {
  for (const step of [...steps].reverse()) {
    steps.delete(step)
    await step().catch((error: Error) => process.stderr.write(`${program}: ${error.message}\n`))
  }
}

/** True once a signal is ending the run: later failures are due to that. */
export const isEnding = (): boolean => ending

/** Runs a script of the bench: a failure is printed and sets the exit code, and everything that was started is stopped. */
export async function runScript(work: () => Promise<void>): Promise<void> {
  cleanUpOnSignals()
  try {
    await work()
  } catch (error) {
    if (!ending) {
      process.stderr.write(`${program}: ${(error as Error).message}\n`)
      process.exitCode = 1
    }
  } finally {
    if (!ending) await cleanUp()
  }
}

/** A temporary folder that is removed at the end. */
export async function scratchFolder(name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `tollgate-${name}-`))
  atEnd(() => rm(folder, { recursive: true, force: true }))
  // PostgreSQL, which root starts under another account, would otherwise keep its files outside, where they would stay.
  await chmod(folder, 0o755)
  return folder
}

export function cleanUpOnSignals(name = program): void {
  program = name
  for (const [signal, status] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    process.on(signal, () => {
      if (ending) process.exit(status)
      ending = true
      process.stderr.write(`\n${program}: stopping what was started; once more to leave at once\n`)
      cleanUp().then(() => process.exit(status))
    })
  }
}
