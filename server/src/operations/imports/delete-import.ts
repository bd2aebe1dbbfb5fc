import { deleteRows } from '../../store/imports/user-import-rows.ts'
import { deleteUserImport } from '../../store/imports/user-imports.ts'
import { addJob } from '../../store/jobs/jobs.ts'
import type { Service } from '../call/service.ts'

const BATCH_SIZE = 10_000

/**
 * Deletes the next rows of an import that is no longer listed, and after the last of them the import itself. Each chunk
 * is a job: a million rows hold up neither a lock nor a shutdown.
 */
export async function deleteImport(
  { pool, patient }: Service,
  { appId, id, after }: { appId: string; id: string; after: number },
): Promise<void> {
  const last = await deleteRows(patient, appId, id, after, BATCH_SIZE)
  if (last === null) await deleteUserImport(pool, appId, id)
  else await addJob(pool, 'delete-import', { appId, id, after: last })
}
