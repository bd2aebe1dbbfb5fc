import { builtin } from './builtin.ts'

interface Holder {
  pid: number
  host: string
  /** distinguishes a process from a later one with the same pid, if the system says */
  started: string | null
  /**
   * The lock file, kept open: all threads of a process, and all copies of this package in it, see the same open files.
   * Those of a thread are closed when it ends.
   */
  fd: number
  /** distinguishes a lock from a later one of the same holder */
  id: string
}

/**
 * Locks a file until it is released, or its thread or process ends. Throws while somebody else has it. A killed
 * process leaves its lock file behind; the next one sees that the process is gone.
 */
export function lockFile(path: string): () => void {
  const lock = `${builtin('node:path').resolve(path)}.lock`
  const host = builtin('node:os').hostname()
  for (;;) {
    const release = take(lock, host)
    if (release) return release
    const found = readIfThere(lock)
    if (found === null) continue
    const holder = holderIn(found)
    if (holder === null || holder.host !== host) throw taken(path, found, lock)
    if (lives(holder, lock))
      throw taken(path, holder.pid === process.pid ? 'this process' : `process ${holder.pid}`)
    setAside(lock, found)
  }
}

/** Null if there is a lock. It appears with its content or not at all: another process may read it at any moment. */
function take(lock: string, host: string): (() => void) | null {
  const fs = builtin('node:fs')
  const id = crypto.randomUUID()
  const draft = `${lock}.${id}`
  const fd = fs.openSync(draft, 'wx', 0o600)
  const me: Holder = { pid: process.pid, host, started: startOf(process.pid), fd, id }
  const text = JSON.stringify(me)
  try {
    fs.writeSync(fd, text)
    fs.linkSync(draft, lock)
  } catch (error) {
    fs.closeSync(fd)
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return null
    throw error
  } finally {
    fs.rmSync(draft, { force: true })
  }
  return () => {
    if (readIfThere(lock) === text) fs.rmSync(lock, { force: true })
    fs.closeSync(fd)
  }
}

/** Removes the lock that was read, but not one taken since. */
function setAside(lock: string, text: string): void {
  const fs = builtin('node:fs')
  const aside = `${lock}.${crypto.randomUUID()}`
  try {
    fs.renameSync(lock, aside)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw error
  }
  if (fs.readFileSync(aside, 'utf8') !== text) fs.linkSync(aside, lock)
  fs.rmSync(aside, { force: true })
}

function lives({ pid, started, fd }: Holder, lock: string): boolean {
  // Otherwise it is of an earlier process that had the same pid, or of a thread that has ended.
  if (pid === process.pid) return isOpen(fd, lock)
  try {
    process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
  return started === null || startOf(pid) === started
}

/** Whether this process has the file open under this number. */
function isOpen(fd: number, path: string): boolean {
  const fs = builtin('node:fs')
  try {
    const [open, there] = [fs.fstatSync(fd, { bigint: true }), fs.statSync(path, { bigint: true })]
    return open.ino === there.ino && open.dev === there.dev
  } catch {
    return false
  }
}

/** When the process started, in the system's own units; null if unknown. */
function startOf(pid: number): string | null {
  const stat = readIfThere(`/proc/${pid}/stat`)
  // The second field is the program's name in parentheses, and may contain blanks.
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null
}

function holderIn(text: string): Holder | null {
  try {
    return JSON.parse(text) as Holder
  } catch {
    return null
  }
}

function readIfThere(path: string): string | null {
  try {
    return builtin('node:fs').readFileSync(path, 'utf8')
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return null
    throw error
  }
}

function taken(path: string, by: string, lock?: string): Error {
  const hint = lock ? `; if that process no longer exists, remove ${lock}` : ''
  return new Error(`The usage queue ${path} is in use by ${by}${hint}. Each client needs its own file.`)
}
