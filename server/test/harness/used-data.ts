import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import { copyFolder } from './copy-folder.ts'
import { type DataFolder, makeDataFolder } from './data-folder.ts'

/** Copies a data folder in which PostgreSQL has run, but no service: `to` must not exist yet. */
export const copyUsedData = (to: string): Promise<void> => copyFolder(inject('usedDataDir'), to)

/** Such a folder for a service, in a fraction of the time that its first start takes in an empty one. */
export async function usedDataFolder(): Promise<DataFolder> {
  const outer = await mkdtemp(join(tmpdir(), 'tollgate-test-'))
  await chmod(outer, 0o755)
  const path = join(outer, 'data')
  await copyUsedData(path)
  const folder = await makeDataFolder(path)
  return {
    ...folder,
    async remove() {
      await folder.remove()
      await rm(outer, { recursive: true, force: true })
    },
  }
}
