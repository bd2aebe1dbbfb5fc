import { StartError } from '../../domain/errors.ts'
import type { Pool } from '../../store/connection/database.ts'
import { databaseId, joinBackups } from '../../store/schema/tool-files.ts'
import { withContents } from './contents.ts'
import type { Summary, Watch } from './format.ts'
import { checkHead } from './load.ts'
import type { Undo } from './reach-database.ts'
import { partialsOf, removePartials } from './whole-file.ts'
import { writeBackup } from './write-backup.ts'

/** Backs up a database to `path`, after removing leftovers of a killed attempt. */
export function takeBackup(
  pool: Pool,
  version: string,
  path: string,
  watch: Watch,
  undo: Undo,
): Promise<Summary & { bytes: number }> {
  return withContents(pool, version, 'go on', async (contents) => {
    checkHead(contents.head)
    const session = await pool.connect()
    try {
      const owner = await databaseId(session)
      const isOnly = await joinBackups(session, () => removePartials(path, owner))
      if (!isOnly && (await partialsOf(path, owner)).length > 0)
        throw new StartError(`Another process is writing a backup to ${path}. Retry when it is done.`)
      return await writeBackup({ path, owner }, contents, watch, undo)
    } finally {
      session.release(true)
    }
  })
}
