import { deleteRows } from '../../store/imports/user-import-rows.ts'
import { deleteUserImport } from '../../store/imports/user-imports.ts'
import { addJob } from '../../store/jobs/jobs.ts'
import type { Service } from '../call/service.ts'

const BATCH_SIZE = 10_000

/**
 * Deletes the next rows of an import that is no longer listed, and finally the import itself. Each batch is a job, so
 * that a million rows delay neither locks nor a shutdown.
 */
export async function deleteImport(
  { pool, longQueries }: Service,
  { appId, id, after }: { appId: string; id: string; after: number },
): Promise<void> {
  const last = await deleteRows(longQueries, appId, id, after, BATCH_SIZE)
  if (last === null) await deleteUserImport(pool, appId, id)
  else await addJob(pool, 'delete-import', { appId, id, after: last })
}
