import { randomBytes } from 'node:crypto'
import { link, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { StartError } from '../../domain/errors.ts'
import type { Undo } from './reach-database.ts'

/** Fast rather than small. */
const COMPRESSION = 2

const code = (error: unknown) => (error as NodeJS.ErrnoException).code

/** A file to be written, and its owner: one database. */
export interface Target {
  path: string
  owner: string
}

const ENDING = '.partial'

/** Partial files of this owner for `path`, in progress or left behind. */
export async function partialsOf(path: string, owner: string): Promise<string[]> {
  const names = await readdir(dirname(path)).catch((error: Error) => {
    throw new StartError(`${path} cannot be written (${error.message}).`)
  })
  return names
    .filter((name) => name.startsWith(`${basename(path)}.${owner}-`) && name.endsWith(ENDING))
    .map((name) => join(dirname(path), name))
}

/** Called if no attempt is running. If one is after all, it fails without mixing its output. */
export async function removePartials(path: string, owner: string): Promise<void> {
  for (const partial of await partialsOf(path, owner)) await rm(partial, { force: true })
}

/** A file that is complete and on disk, under a temporary name. */
interface Unnamed {
  partial: string
  bytes: number
  /** Gives it its final name. */
  settle(): Promise<void>
}

/** Compresses `content` into `path`, completely or not at all. Returns its size. */
export async function writeWholeFile(
  target: Target,
  content: AsyncIterable<Buffer>,
  undo: Undo,
): Promise<number> {
  const { bytes, settle } = await writeUnnamed(target, content, undo)
  await settle()
  return bytes
}

/** Compresses `content` into a file with a unique temporary name. */
export async function writeUnnamed(
  { path, owner }: Target,
  content: AsyncIterable<Buffer>,
  undo: Undo,
): Promise<Unnamed> {
  if (await stat(path).catch(() => null)) throw exists(path)
  const partial = `${path}.${owner}-${randomBytes(4).toString('hex')}${ENDING}`
  const file = await open(partial, 'wx', 0o600).catch((error: Error) => {
    throw new StartError(`${path} cannot be written (${error.message}).`)
  })
  undo.push(() => rm(partial, { force: true }))
  try {
    await pipeline(
      Readable.from(content, { objectMode: false }),
      createGzip({ level: COMPRESSION }),
      async (compressed: AsyncIterable<Buffer>) => {
        for await (const piece of compressed) await file.writeFile(piece)
      },
    )
    await file.sync()
    const { size } = await file.stat()
    await file.close()
    return { partial, bytes: size, settle: () => giveName(partial, path) }
  } catch (error) {
    await file.close().catch(() => {})
    await rm(partial, { force: true })
    if (code(error) === 'ENOSPC')
      throw new StartError(`No space left on the device for ${path}. Nothing was written.`)
    throw error
  }
}

const exists = (path: string) => new StartError(`${path} already exists. Choose another name.`)

/** Unlike a rename, a link does not replace a file created there in the meantime. */
async function giveName(partial: string, path: string): Promise<void> {
  try {
    await link(partial, path)
    await rm(partial)
  } catch (error) {
    if (code(error) === 'EEXIST') {
      await rm(partial, { force: true })
      throw exists(path)
    }
    // Some file systems have no links.
    await rename(partial, path)
  }
  const folder = await open(dirname(path))
  await folder.sync().finally(() => folder.close())
}
