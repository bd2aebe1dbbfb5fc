import type { JsonObject } from '../../domain/metadata.ts'
import type { HomeDb } from '../connection/places.ts'
import { type SubjectKind, snapshotText, userOfSubject } from './snapshots.ts'

/** VISITOR: not signed in. SERVICE: Tollgate itself. */
export const ACTOR_KINDS = ['MEMBER', 'API_KEY', 'PROVIDER', 'VISITOR', 'SERVICE'] as const
export type ActorKind = (typeof ACTOR_KINDS)[number]

interface AuditEntry {
  at: number
  actorKind: ActorKind
  /** a member's address, a key's id, a provider's name, the account that a visitor tried, or `tollgate` */
  memberEmail: string
  /** name of a key */
  actorName: string | null
  /** address of a sign-in */
  source: string | null
  /** null: no app */
  appId: string | null
  operation: string
  subjectKind: string
  subjectId: string | null
  before: JsonObject | null
  after: JsonObject | null
}

export type AuditRow = AuditEntry & { seq: number }

type NewEntry = Pick<AuditEntry, 'memberEmail' | 'appId' | 'operation' | 'subjectId' | 'before' | 'after'> & {
  subjectKind: SubjectKind
  actorKind?: ActorKind
  source?: string | null
}

/** An entry of an app locks the app until the transaction ends, so that both are deleted together. */
export async function insertAuditEntry(db: HomeDb, entry: NewEntry): Promise<void> {
  const ofPresent = entry.appId === null ? '' : 'from app where id = $1 for key share'
  await db.query(
    `insert into audit_entry (app_id, actor_kind, member_email, source, operation, subject_kind, subject_id, before, after)
     select $1, $2, $3, $4, $5, $6, $7, $8::json, $9::json ${ofPresent}`,
    [
      entry.appId ?? '',
      entry.actorKind ?? 'MEMBER',
      entry.memberEmail,
      entry.source ?? null,
      entry.operation,
      entry.subjectKind,
      entry.subjectId,
      jsonOrNull(entry.before),
      jsonOrNull(entry.after),
    ],
  )
}

/**
 * A change made with an API key, which is locked until the transaction ends. The same statement reads the subject
 * afterwards, where the subject is: what this transaction wrote on another server is visible only there.
 */
export async function insertKeyEntry(
  db: HomeDb,
  keyHash: string,
  entry: Pick<NewEntry, 'operation' | 'subjectKind' | 'subjectId' | 'before'> & { appId: string },
): Promise<void> {
  const { appId, operation, subjectKind, subjectId, before } = entry
  const shown = subjectId === null ? null : snapshotText(subjectKind)
  const insert = (at: HomeDb) =>
    at.query(
      `insert into audit_entry (app_id, subject_id, actor_kind, member_email, actor_name, operation, subject_kind, before, after)
       select $1, $2, 'API_KEY', k.id, k.name, $4, $5, $6, ${shown === null ? 'null' : `(select to_json(x) from (${shown}) x)`}
       from api_key k where k.app_id = $1 and k.hash = decode($3, 'hex') for key share of k`,
      [appId, subjectId, keyHash, operation, subjectKind, jsonOrNull(before)],
    )
  const userId = shown && userOfSubject(subjectKind, subjectId, before)
  await (userId ? db.places.of(appId, userId, insert) : insert(db))
}

export const AUDIT_COLUMNS = `seq, at, actor_kind as "actorKind", member_email as "memberEmail",
  actor_name as "actorName", source, nullif(app_id, '') as "appId", operation,
  subject_kind as "subjectKind", subject_id as "subjectId", before, after`

const jsonOrNull = (value: JsonObject | null): string | null => value && JSON.stringify(value)
