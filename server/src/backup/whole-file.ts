import { link, open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { StartError } from '../domain/errors.ts'
import type { Undo } from './reach-database.ts'

/** Fast rather than small. */
const COMPRESSION = 2

const code = (error: unknown) => (error as NodeJS.ErrnoException).code

/**
 * Compresses `content` into `path`, completely or not at all: under another name until all of it is on disk. Returns its
 * size.
 */
export async function writeWholeFile(
  path: string,
  content: AsyncIterable<Buffer>,
  undo: Undo,
): Promise<number> {
  if (await stat(path).catch(() => null)) throw exists(path)
  const partial = `${path}.partial`
  const file = await open(partial, 'wx', 0o600).catch((error) => {
    throw new StartError(
      code(error) === 'EEXIST'
        ? `${partial} exists: another process is writing it, or one was killed. If none is running, delete it.`
        : `${path} cannot be written (${(error as Error).message}).`,
    )
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
    await giveName(partial, path)
    return size
  } catch (error) {
    await file.close().catch(() => {})
    await rm(partial, { force: true })
    if (code(error) === 'ENOSPC')
      throw new StartError(`There is no space left for ${path}: nothing was written.`)
    throw error
  }
}

const exists = (path: string) => new StartError(`${path} already exists: choose another name.`)

/** Unlike a rename, a link does not replace a file created there in the meantime. */
async function giveName(partial: string, path: string): Promise<void> {
  try {
    await link(partial, path)
    await rm(partial)
  } catch (error) {
    if (code(error) === 'EEXIST') throw exists(path)
    // Not every file system has links.
    await rename(partial, path)
  }
  const folder = await open(dirname(path))
  await folder.sync().finally(() => folder.close())
}
