import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const PREFIX = 'tollgate-run-'

/**
 * Gives this process and its children a temporary folder of their own and removes it when the process exits. A run that is
 * killed cannot do that, nor does Vitest then remove what it keeps there itself: the next run does it for them.
 */
export function ownTempFolder(): void {
  const parent = tmpdir()
  // A run inside of another leaves nothing that the outer one does not remove.
  if (parent.includes(PREFIX)) return
  removeLeftovers(parent)
  const folder = mkdtempSync(join(parent, `${PREFIX}${process.pid}-`))
  // As root, PostgreSQL runs under another account, which must be able to get in.
  chmodSync(folder, 0o755)
  process.env.TMPDIR = folder
  process.on('exit', () => remove(folder))
  process.once('SIGHUP', () => process.exit(129))
}

function removeLeftovers(parent: string): void {
  for (const name of readdirSync(parent)) {
    const [, pid] = new RegExp(`^${PREFIX}(\\d+)-`).exec(name) ?? []
    if (pid !== undefined && !isRunning(Number(pid))) remove(join(parent, name))
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

/** Processes that are just ending may still write there; another user's folder is left to that user. */
function remove(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
  } catch (error) {
    process.stderr.write(`${folder} could not be removed: ${(error as Error).message}\n`)
  }
}
