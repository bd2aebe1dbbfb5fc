import type { JsonObject } from '../domain/metadata.ts'
import type { Db } from './database.ts'

interface AuditEntry {
  at: number
  memberEmail: string
  /** null: of no app */
  appId: string | null
  operation: string
  subjectKind: string
  subjectId: string | null
  before: JsonObject | null
  after: JsonObject | null
}

export type AuditRow = AuditEntry & { seq: number }

export async function insertAuditEntry(db: Db, entry: Omit<AuditEntry, 'at'>): Promise<void> {
  await db.query(
    `insert into audit_entry (app_id, member_email, operation, subject_kind, subject_id, before, after)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [
      entry.appId ?? '',
      entry.memberEmail,
      entry.operation,
      entry.subjectKind,
      entry.subjectId,
      entry.before && JSON.stringify(entry.before),
      entry.after && JSON.stringify(entry.after),
    ],
  )
}

export const AUDIT_COLUMNS = `seq, at, member_email as "memberEmail", nullif(app_id, '') as "appId", operation,
  subject_kind as "subjectKind", subject_id as "subjectId", before, after`

/** Newest first, starting before `before`: of all apps, or of one. */
export async function listAuditEntries(
  db: Db,
  appId: string | null,
  before: number,
  limit: number,
): Promise<AuditRow[]> {
  const { rows } = await db.query<AuditRow>(
    `select ${AUDIT_COLUMNS} from audit_entry where seq < $1 ${appId === null ? '' : 'and app_id = $3'} order by seq desc limit $2`,
    appId === null ? [before, limit] : [before, limit, appId],
  )
  return rows
}
