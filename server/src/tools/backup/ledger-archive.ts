import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import { createGunzip } from 'node:zlib'
import { StartError } from '../../domain/errors.ts'
import type { HomeDb } from '../../store/connection/places.ts'
import { entriesOnPages, type Filed, pagesOf, type Totals } from '../../store/ledger/retire-partition.ts'
import { databaseId } from '../../store/schema/tool-files.ts'
import type { Undo } from './reach-database.ts'
import { removePartials, writeUnnamed } from './whole-file.ts'

// An archive of the ledger is gzip over lines of JSON: a head, an entry on each line in the order in which they were
// written, and a tail with their number, their total and a checksum. It contains users by number only, so that deleting
// a user requires nothing here.

const FORMAT = 'tollgate-ledger'
const FORMAT_VERSION = 1
/** 8 MB of the table. */
const PAGES_AT_ONCE = 1_024
/** Far longer than any of our lines. */
const LONGEST_LINE = 1024 * 1024

export interface ArchiveHead {
  app: string
  block: number
  openedAt: string | null
  closedAt: string | null
}

interface ArchiveTail {
  entries: string
  delta: string
  /** of everything before the tail */
  sha256: string
}

/** An entry, as far as it is needed to find and count it. */
interface ArchivedEntry {
  appId: string
  userUid: number
  delta: number
}

type Take = (entry: ArchivedEntry, line: string) => void | Promise<void>

interface ReadArchive extends Totals {
  head: ArchiveHead
  sha256: string
}

/** Called now and then with the number of entries written. */
type Watch = (entries: bigint) => void

/** The archive of a partition. */
export interface Archived extends Filed {
  bytes: number
  /** Gives the file its final name. */
  settle(): Promise<void>
}

/**
 * Writes a partition to `path` and reads it back: the number of entries and their total must match. If the file already
 * exists, from an interrupted attempt, it must have exactly the content of the partition. The caller is the only one
 * who archives this database; leftovers of a killed attempt are removed.
 */
export async function archivePartition(
  db: HomeDb,
  path: string,
  head: ArchiveHead,
  totals: Totals,
  watch: Watch,
  undo: Undo,
): Promise<Archived> {
  const owner = await databaseId(db)
  await removePartials(path, owner)
  const existing = await stat(path).catch(() => null)
  const lines = new ArchiveLines(db, head, watch)
  const written = existing
    ? { partial: path, bytes: existing.size, settle: async () => {} }
    : await writeUnnamed({ path, owner }, lines.all(), undo)
  if (existing) for await (const _ of lines.all());
  const { partial, bytes, settle } = written
  const { sha256, entries, delta } = await readArchive(partial, () => {})
  if (sha256 === lines.sha256 && entries === totals.entries && delta === totals.delta)
    return { file: path, sha256, bytes, settle }
  if (existing) throw new StartError(`${path} already exists with different content. Choose another folder.`)
  await rm(partial)
  throw new StartError(
    `${path} does not match the ledger (${entries} of ${totals.entries} entries). Nothing was removed.`,
  )
}

class ArchiveLines {
  readonly #db: HomeDb
  readonly #head: ArchiveHead
  readonly #watch: Watch
  /** of everything before the tail, once read */
  sha256 = ''

  constructor(db: HomeDb, head: ArchiveHead, watch: Watch) {
    this.#db = db
    this.#head = head
    this.#watch = watch
  }

  async *all(): AsyncGenerator<Buffer> {
    const { block } = this.#head
    const sha = createHash('sha256')
    const bytesOf = (lines: string[]): Buffer => {
      const bytes = Buffer.from(`${lines.join('\n')}\n`)
      sha.update(bytes)
      return bytes
    }
    yield bytesOf([JSON.stringify({ format: FORMAT, version: FORMAT_VERSION, ...this.#head })])
    let [entries, delta] = [0n, 0n]
    const pages = await pagesOf(this.#db, block)
    for (let from = 0; from < pages; from += PAGES_AT_ONCE) {
      const lines = await entriesOnPages(this.#db, block, from, from + PAGES_AT_ONCE)
      if (lines.length === 0) continue
      entries += BigInt(lines.length)
      for (const line of lines) delta += BigInt((JSON.parse(line) as ArchivedEntry).delta)
      yield bytesOf(lines)
      this.#watch(entries)
    }
    this.sha256 = sha.digest('hex')
    const tail = { entries: String(entries), delta: String(delta), sha256: this.sha256 }
    yield Buffer.from(`${JSON.stringify(tail)}\n`)
  }
}

const broken = (path: string, why: string) =>
  new StartError(`${path} is not a complete ledger archive (${why}).`)

/** Passes on every entry of an archive, and verifies it. */
export async function readArchive(path: string, take: Take): Promise<ReadArchive> {
  const sha = createHash('sha256')
  let head: ArchiveHead | null = null
  let tail: ArchiveTail | null = null as ArchiveTail | null
  let [entries, delta] = [0n, 0n]
  for await (const line of linesIn(path)) {
    if (tail) throw broken(path, 'unexpected data after the end')
    const value = parsed(path, line)
    if (!head) head = headOf(path, value)
    else if (typeof value.sha256 === 'string') {
      tail = value as unknown as ArchiveTail
      continue
    } else {
      const entry = value as unknown as ArchivedEntry
      entries += 1n
      delta += BigInt(entry.delta)
      await take(entry, line)
    }
    sha.update(line).update('\n')
  }
  if (!head || !tail) throw broken(path, 'the file is truncated')
  if (tail.sha256 !== sha.digest('hex')) throw broken(path, 'checksum mismatch')
  if (tail.entries !== String(entries) || tail.delta !== String(delta)) throw broken(path, 'totals mismatch')
  return { head, entries, delta, sha256: tail.sha256 }
}

function parsed(path: string, line: string): Record<string, unknown> {
  try {
    return JSON.parse(line) as Record<string, unknown>
  } catch {
    throw broken(path, 'invalid line')
  }
}

function headOf(path: string, { format, version, ...head }: Record<string, unknown>): ArchiveHead {
  if (format !== FORMAT) throw broken(path, 'not a ledger archive')
  if (version !== FORMAT_VERSION)
    throw new StartError(
      `${path} was written by a newer version of Tollgate (${head.app}). Use that version to read it.`,
    )
  return head as unknown as ArchiveHead
}

async function* linesIn(path: string): AsyncGenerator<string> {
  const gunzip = createGunzip()
  const source = createReadStream(path, { highWaterMark: 256 * 1024 })
  source.on('error', (error) => gunzip.destroy(error))
  gunzip.on('close', () => source.destroy())
  let left = Buffer.alloc(0)
  try {
    for await (const piece of source.pipe(gunzip) as AsyncIterable<Buffer>) {
      const bytes = left.length === 0 ? piece : Buffer.concat([left, piece])
      let from = 0
      for (let to = bytes.indexOf('\n'); to >= 0; to = bytes.indexOf('\n', from)) {
        yield bytes.toString('utf8', from, to)
        from = to + 1
      }
      left = Buffer.from(bytes.subarray(from))
      if (left.length > LONGEST_LINE) throw broken(path, 'line too long')
    }
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    if (error instanceof StartError) throw error
    if (code === 'ENOENT' || code === 'EACCES' || code === 'EISDIR')
      throw new StartError(`${path} cannot be read (${message}).`)
    throw code.startsWith('Z_') ? broken(path, 'the file is damaged or truncated') : error
  }
  if (left.length > 0) throw broken(path, 'the file is truncated')
}
