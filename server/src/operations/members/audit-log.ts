import { type AuditRow, listAuditEntries } from '../../store/audit.ts'
import { foundApp } from '../apps/apps.ts'
import type { InstallationCall } from '../call/call.ts'
import { type KeyedPage, keyBefore, pageOf, pageSize } from '../call/pages.ts'

/** Who changed what, newest first: in one app, or everywhere. */
export async function auditLog(
  { service: { pool } }: InstallationCall,
  appId: string | null | undefined,
  first: number | null | undefined,
  after: string | null | undefined,
): Promise<KeyedPage<AuditRow>> {
  if (appId) await foundApp(pool, appId)
  const size = pageSize(first)
  const rows = await listAuditEntries(pool, appId ?? null, keyBefore(after), size + 1)
  return pageOf(rows, size, (row) => row.seq)
}
