import type { Json } from '../../domain/metadata.ts'
import { tokenOf } from '../../domain/personal-data.ts'
import { AUDIT_COLUMNS, type AuditRow } from '../audit/audit.ts'
import { USER_KINDS } from '../audit/snapshots.ts'
import { NOTICE_COLUMNS, type NoticeRow } from '../billing/notices.ts'
import type { HomeDb } from '../connection/places.ts'

// Records that may be about a user, found by their text: these tables have no index by user, because writes are
// frequent and these queries rare. The callers decide whether a record is about the user.

const asJson = (text: string): string => JSON.stringify(text)

const within = (column: string, texts: string) =>
  `exists (select from unnest(${texts}::text[]) as t where strpos(${column}::text, t) > 0)`

/**
 * Audit entries with one of these ids, starting after `after`. Those whose subject is a user are found by that; only
 * the others have to be read.
 */
export async function auditEntriesNaming(
  db: HomeDb,
  appId: string,
  ids: readonly string[],
  after: number,
  limit: number,
): Promise<AuditRow[]> {
  const { rows } = await db.query<AuditRow>(
    `select ${AUDIT_COLUMNS} from audit_entry where app_id = $1 and seq > $4
       and (subject_id = any($2)
         or (subject_kind <> all($6) or subject_id is null) and (${within('before', '$3')} or ${within('after', '$3')}))
     order by seq limit $5`,
    [appId, ids, ids.map(asJson), after, limit, USER_KINDS],
  )
  return rows
}

/** Events with one of these provider ids, starting after `after`. */
export async function noticesNaming(
  db: HomeDb,
  appId: string,
  refs: readonly string[],
  after: number,
  limit: number,
): Promise<NoticeRow[]> {
  const { rows } = await db.query<NoticeRow>(
    `select ${NOTICE_COLUMNS} from notice where app_id = $1 and seq > $3 and ${within('payload', '$2')}
     order by seq limit $4`,
    [appId, refs.map(asJson), after, limit],
  )
  return rows
}

export interface ReceiptRow {
  scope: string
  key: string
  results: Json
  createdAt: number
  /** whose usage it was; null: in the response */
  userUid: number | null
}

/**
 * Stored responses to a user's calls, and those with one of these ids as a value, one of these texts in a message, or a
 * token for the user.
 */
export async function receiptsNaming(
  db: HomeDb,
  appId: string,
  userUid: number,
  ids: readonly string[],
  texts: readonly string[],
): Promise<ReceiptRow[]> {
  const { rows } = await db.query<ReceiptRow>(
    `select scope, key, results, created_at as "createdAt", user_uid as "userUid" from idempotency
     where app_id = $1 and (user_uid = $2 or ${within('results', '$3')})`,
    [
      appId,
      userUid,
      [...ids.map(asJson), ...texts.map((text) => asJson(text).slice(1, -1)), tokenOf({ uid: userUid })],
    ],
  )
  return rows
}
