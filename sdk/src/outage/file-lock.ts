import { builtin } from './builtin.ts'

interface Holder {
  pid: number
  host: string
  /** distinguishes a process from a later one with the same pid, if the system says */
  started: string | null
}

/** Files that this process holds: its own pid says nothing about them. */
const held = new Set<string>()

/**
 * Locks a file for this process, until it is released or the process ends. Throws while another one has it. A killed
 * process leaves its lock file behind; the next one sees that the process is gone.
 */
export function lockFile(path: string): () => void {
  const fs = builtin('node:fs')
  const real = builtin('node:path').resolve(path)
  const lock = `${real}.lock`
  if (held.has(real)) throw taken(path, 'this very process')

  const me: Holder = { pid: process.pid, host: builtin('node:os').hostname(), started: startOf(process.pid) }
  const text = JSON.stringify(me)
  for (;;) {
    try {
      writeNew(lock, text)
      break
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    const found = readIfThere(lock)
    if (found === null) continue
    const holder = holderIn(found)
    if (holder === null || holder.host !== me.host) throw taken(path, found, lock)
    if (lives(holder)) throw taken(path, `process ${holder.pid}`)
    setAside(lock, found)
  }
  held.add(real)
  return () => {
    held.delete(real)
    if (readIfThere(lock) === text) fs.rmSync(lock, { force: true })
  }
}

/** Appears with its content or not at all: another process may read it at any moment. */
function writeNew(lock: string, text: string): void {
  const fs = builtin('node:fs')
  const draft = `${lock}.${crypto.randomUUID()}`
  fs.writeFileSync(draft, text, { mode: 0o600 })
  try {
    fs.linkSync(draft, lock)
  } finally {
    fs.rmSync(draft, { force: true })
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

function lives({ pid, started }: Holder): boolean {
  // Held by this process, it would be in the set: this is an earlier process that had the same pid.
  if (pid === process.pid) return false
  try {
    process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
  return started === null || startOf(pid) === started
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
  const hint = lock ? `; if that one is gone, remove ${lock}` : ''
  return new Error(`The usage queue ${path} is in use by ${by}${hint}. Each process needs a file of its own.`)
}
