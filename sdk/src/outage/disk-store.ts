import type { FileHandle } from 'node:fs/promises'
import { builtin } from './builtin.ts'
import { lockFile } from './file-lock.ts'
import { apply, type QueueChange, type QueuedEvent, type QueueStore } from './queue-store.ts'

/** The first line: a file that starts otherwise is not ours to rewrite. */
const HEADER = JSON.stringify({ tollgate: 'usage-queue', version: 1 })

/** Settled events that may be in the file before it is rewritten without them. */
const MAX_DEAD = 1_000

/**
 * Keeps the queue in an append-only file, one change per line, flushed to disk before the caller is answered. Changes
 * that arrive during a write share the next one. Now and then the file is rewritten with what still waits, beside the
 * old one, which it then replaces atomically.
 */
export class DiskStore implements QueueStore {
  readonly events: QueuedEvent[]
  readonly #path: string
  readonly #unlock: () => void
  #file: FileHandle | null = null
  /** bytes known to be complete */
  #size = 0
  #dead = 0
  /** changes for the next write, and its promise */
  #changes: QueueChange[] = []
  #next: Promise<void> | null = null
  /** one write at a time */
  #last: Promise<void> = Promise.resolve()

  /** Locks the file and reads what an earlier one left. Throws if it cannot be used. */
  constructor(path: string) {
    this.#path = builtin('node:path').resolve(path)
    this.#unlock = lockFile(this.#path)
    try {
      this.events = readEvents(this.#path)
    } catch (error) {
      this.#unlock()
      throw error
    }
  }

  put(events: readonly QueuedEvent[]): Promise<void> {
    return this.#append(events.map((put) => ({ put })))
  }

  sent(count: number, at: number): Promise<void> {
    const news = this.events.slice(0, count).some(({ sentAt }) => sentAt === null)
    return news ? this.#append([{ sent: [count, at] }]) : Promise.resolve()
  }

  done(count: number): Promise<void> {
    return this.#append([{ done: count }])
  }

  async close(): Promise<void> {
    await this.#last
    await this.#file?.close()
    this.#file = null
    this.#unlock()
  }

  #append(changes: QueueChange[]): Promise<void> {
    this.#changes.push(...changes)
    if (this.#next === null) {
      this.#next = this.#last.then(() => this.#write())
      this.#last = this.#next.catch(() => {})
    }
    return this.#next
  }

  async #write(): Promise<void> {
    const changes = this.#changes
    this.#changes = []
    this.#next = null
    // An earlier process may have left half a line at the end: rewrite the file before anything is added.
    this.#file ??= await this.#rewrite()
    await this.#extend(this.#file, changes.map(lineOf).join(''))
    for (const change of changes) {
      apply(this.events, change)
      if ('done' in change) this.#dead += change.done
    }
    if (this.#dead < MAX_DEAD && this.events.length > 0) return
    const old = this.#file
    // The changes are already on disk: if this fails, nothing is lost, and the next write starts with it.
    this.#file = await this.#rewrite().catch(() => null)
    await old.close()
  }

  async #extend(file: FileHandle, text: string): Promise<void> {
    try {
      await file.appendFile(text)
      await file.datasync()
      this.#size += Buffer.byteLength(text)
    } catch (error) {
      // Half a line must not remain before the next one, nor an event that its caller is told was not queued. If even
      // that fails, the next write starts with a new file.
      await file.truncate(this.#size).catch(async () => {
        this.#file = null
        await file.close()
      })
      throw error
    }
  }

  /** Replaces the file with one that contains what waits now, and returns it. */
  async #rewrite(): Promise<FileHandle> {
    const { promises } = builtin('node:fs')
    const text = `${HEADER}\n${this.events.map((put) => lineOf({ put })).join('')}`
    const draft = `${this.#path}.new`
    await promises.rm(draft, { force: true })
    const file = await promises.open(draft, 'a', 0o600)
    try {
      await file.appendFile(text)
      await file.sync()
      await promises.rename(draft, this.#path)
      await syncFolder(builtin('node:path').dirname(this.#path))
    } catch (error) {
      await file.close()
      throw error
    }
    this.#size = Buffer.byteLength(text)
    this.#dead = 0
    return file
  }
}

/** A rename is durable once its folder is flushed. Windows has no such call, and needs none. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const folder = await builtin('node:fs').promises.open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

const lineOf = (change: QueueChange): string => `${JSON.stringify(change)}\n`

function readEvents(path: string): QueuedEvent[] {
  const fs = builtin('node:fs')
  if (!fs.existsSync(path)) return []
  const text = fs.readFileSync(path, 'utf8')
  const events: QueuedEvent[] = []
  if (text === '') return events
  const lines = text.split('\n')
  // After the last line break comes nothing, or half a line that was never acknowledged.
  lines.pop()
  if (lines[0] !== HEADER) throw new Error(`${path} is not a usage queue: its first line is not ${HEADER}`)
  for (const [i, line] of lines.entries()) {
    if (i === 0) continue
    try {
      apply(events, JSON.parse(line) as QueueChange)
    } catch (cause) {
      throw new Error(`${path} is damaged in line ${i + 1}. Move the file to continue without it.`, { cause })
    }
  }
  return events
}
