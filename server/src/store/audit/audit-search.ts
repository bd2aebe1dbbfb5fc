import { MAX_AUDIT_SCAN } from '../../domain/limits.ts'
import { timestamp } from '../connection/database.ts'
import type { HomeDb } from '../connection/places.ts'
import { ACTOR_KINDS, type ActorKind, AUDIT_COLUMNS, type AuditRow } from './audit.ts'

/** The filters; null: any. */
export interface AuditFilter {
  /** null: of all apps, and of none */
  appId: string | null
  actorKind: ActorKind | null
  who: string | null
  operation: string | null
  subjectIds: readonly string[] | null
  from: number | null
  to: number | null
}

export const EVERYTHING: AuditFilter = {
  appId: null,
  actorKind: null,
  who: null,
  operation: null,
  subjectIds: null,
  from: null,
  to: null,
}

/** A position in the list. */
export interface AuditCursor {
  at: number
  seq: number
}

interface Found {
  rows: AuditRow[]
  /** How far was searched, if there may be more. */
  reached: AuditCursor | null
}

/** The apps with entries, including '': one index step per app. */
const APPS = `with recursive apps as (
    select min(app_id) as id from audit_entry
    union all
    select (select min(app_id) from audit_entry where app_id > apps.id) from apps where apps.id is not null),`

/**
 * Newest first, starting before `before`. One of the filters is applied by its index, per app and value; the others are
 * applied to its result. One call scans a bounded number of entries, for any combination of filters, and returns how
 * far it got.
 */
export async function searchAudit(
  db: HomeDb,
  filter: AuditFilter,
  before: AuditCursor | null,
  limit: number,
): Promise<Found> {
  const { appId, actorKind, who, operation, from, to } = filter
  const lead = leadOf(filter)
  const isLed = (column: Lead['column']) => lead.column === column
  const rest = [
    isLed('member_email') ? null : who,
    isLed('operation') ? null : operation,
    isLed('actor_kind') ? null : actorKind,
  ]
  const scan = rest.every((value) => value === null) ? limit : MAX_AUDIT_SCAN
  const { rows } = await db.query<AuditRow & { scanned: number; lastAt: number; lastSeq: number }>(
    `${appId === null ? APPS : 'with apps as (select $11::text as id),'}
     scanned as materialized (
       select e.* from apps cross join unnest($1::text[]) as lead (value) cross join lateral (
         select app_id, seq, at, actor_kind, member_email, operation from audit_entry
         where app_id = apps.id and ${lead.column} = lead.value and (at, seq) < ($2::timestamptz, $3::bigint)
           and at >= $4::timestamptz and at < $5::timestamptz
         order by at desc, seq desc limit $6) e
       where apps.id is not null
       order by e.at desc, e.seq desc limit $6),
     matched as materialized (
       select app_id, seq from scanned
       where ($8::text is null or member_email = $8) and ($9::text is null or operation = $9)
         and ($10::text is null or actor_kind = $10)
       order by at desc, seq desc limit $7),
     last as (select at, seq from scanned order by at, seq limit 1)
     select (select count(*) from scanned) as scanned, last.at as "lastAt", last.seq as "lastSeq", e.*
     from last left join (select ${AUDIT_COLUMNS} from matched join audit_entry using (app_id, seq)) e on true
     order by e.at desc, e.seq desc`,
    [
      lead.values,
      before === null ? 'infinity' : timestamp(before.at),
      before?.seq ?? Number.MAX_SAFE_INTEGER,
      from === null ? '-infinity' : timestamp(from),
      to === null ? 'infinity' : timestamp(to),
      scan,
      limit,
      ...rest,
      ...(appId === null ? [] : [appId]),
    ],
  )
  const [first] = rows
  const found = rows
    .filter(({ seq }) => seq !== null)
    .map(({ scanned: _, lastAt: __, lastSeq: ___, ...row }): AuditRow => row)
  const more = first !== undefined && first.scanned >= scan
  return { rows: found, reached: more ? { at: first.lastAt, seq: first.lastSeq } : null }
}

interface Lead {
  column: 'subject_id' | 'member_email' | 'operation' | 'actor_kind'
  values: readonly string[]
}

/** The most selective filter. */
function leadOf({ subjectIds, who, operation, actorKind }: AuditFilter): Lead {
  if (subjectIds !== null) return { column: 'subject_id', values: subjectIds }
  if (who !== null) return { column: 'member_email', values: [who] }
  if (operation !== null) return { column: 'operation', values: [operation] }
  return { column: 'actor_kind', values: actorKind === null ? ACTOR_KINDS : [actorKind] }
}
