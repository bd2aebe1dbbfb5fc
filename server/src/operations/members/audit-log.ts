import { badUserInput } from '../../domain/errors.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import type { ActorKind } from '../../store/audit/audit.ts'
import { type AuditCursor, type AuditFilter, searchAudit } from '../../store/audit/audit-search.ts'
import { idsByName } from '../../store/audit/names.ts'
import type { HomeDb } from '../../store/connection/places.ts'
import { findErasableUser, newestSubscriptionIds } from '../../store/privacy/erase-user.ts'
import { searchUsers } from '../../store/users/search-users.ts'
import { requireApp } from '../apps/apps.ts'
import type { Call, InstallationCall } from '../call/call.ts'
import { mutate } from '../call/mutate.ts'
import { type KeyedPage, pageSize, unknownCursor } from '../call/pages.ts'
import type { Page } from '../call/paging.ts'
import { type DescribedEntry, describeEntries } from '../home/describe-entries.ts'

/** The filters; absent: any. */
interface AuditQuery {
  appId?: string | null | undefined
  actorKind?: ActorKind | null | undefined
  who?: string | null | undefined
  operation?: string | null | undefined
  subjectId?: string | null | undefined
  from?: string | null | undefined
  to?: string | null | undefined
}

/**
 * Audit entries, newest first. A page may have few rows, or none, and still a `next`, because each page scans a part.
 */
export async function auditLog(
  { service: { pool } }: Pick<Call, 'service'>,
  query: AuditQuery,
  { first, after }: Page,
): Promise<KeyedPage<DescribedEntry>> {
  const filter = await filterOf(pool, query)
  const size = pageSize(first)
  const cursor = parseAuditCursor(after)
  return filter ? page(pool, filter, cursor, size) : { rows: [], next: null }
}

async function page(
  db: HomeDb,
  filter: AuditFilter,
  cursor: AuditCursor | null,
  size: number,
): Promise<KeyedPage<DescribedEntry>> {
  const { rows, reached } = await searchAudit(db, filter, cursor, size + 1)
  const last = rows.length > size ? rows[size - 1] : reached
  return {
    rows: await describeEntries(db, rows.slice(0, size)),
    next: last ? `${last.at}-${last.seq}` : null,
  }
}

/** Rows in memory at once. They may be long: each has two snapshots. */
const EXPORT_PAGE = 200

/** All entries that match a query, page by page. The export itself is audited. */
export async function exportAuditLog(
  call: Call | InstallationCall,
  query: AuditQuery,
): Promise<AsyncGenerator<DescribedEntry[]>> {
  const { pool } = call.service
  const filter = await filterOf(pool, query)
  await mutate(call, async () => true)
  const apart = await call.service.replica?.pools()
  return pages(apart?.pool ?? pool, filter)
}

async function* pages(db: HomeDb, filter: AuditFilter | null): AsyncGenerator<DescribedEntry[]> {
  if (!filter) return
  for (let next: string | null = null, first = true; first || next !== null; first = false) {
    const found: KeyedPage<DescribedEntry> = await page(db, filter, parseAuditCursor(next), EXPORT_PAGE)
    if (found.rows.length > 0) yield found.rows
    next = found.next
  }
}

/** Null: nothing can match. */
async function filterOf(db: HomeDb, query: AuditQuery): Promise<AuditFilter | null> {
  const { appId, actorKind, who, operation, subjectId } = query
  if (appId) await requireApp(db, appId)
  const texts = [who, operation, subjectId].filter((text) => text !== null && text !== undefined)
  if (!texts.every(isIdentifier)) return null
  return {
    appId: appId || null,
    actorKind: actorKind ?? null,
    who: who ?? null,
    operation: operation ?? null,
    subjectIds: subjectId ? await subjectIdsOf(db, appId, subjectId) : null,
    from: timeOf('from', query.from),
    to: timeOf('to', query.to),
  }
}

/** The object with this id, or those whose names have the text. */
async function subjectIdsOf(db: HomeDb, appId: string | null | undefined, text: string): Promise<string[]> {
  if (!appId) return [text]
  const own = await idsOfUser(db, appId, text)
  if (own) return own
  const others = await idsByName(db, appId, text, SUBJECT_IDS)
  const users = await searchUsers(db, appId, text, null, MOST_NAMED_USERS, MOST_NAMED_USERS)
  const theirs = await Promise.all(
    [...new Set(users.map(({ id }) => id))].map(async (id) => (await idsOfUser(db, appId, id)) ?? []),
  )
  return [...new Set([text, ...others, ...theirs.flat()])]
}

/** Users whose entries a search by name returns. */
const MOST_NAMED_USERS = 5

/** Includes the user's earlier ids and their subscriptions. Null: there is no such user. */
async function idsOfUser(db: HomeDb, appId: string, id: string): Promise<string[] | null> {
  const user = await findErasableUser(db, appId, id)
  if (!user) return null
  const former = user.formerIds.slice(-SUBJECT_IDS).map((one) => one.id)
  const subscriptions = await db.places.of(appId, user.id, (users) =>
    newestSubscriptionIds(users, appId, user.uid, SUBJECT_IDS),
  )
  return [...new Set([id, ...former, ...subscriptions])]
}

/** Few users have more; each is a separate index scan. */
const SUBJECT_IDS = 50

function timeOf(name: string, text: string | null | undefined): number | null {
  if (text === null || text === undefined) return null
  const time = Date.parse(text)
  if (Number.isNaN(time) || Math.abs(time) > LATEST) {
    throw badUserInput(`${name} must be an ISO 8601 time, such as 2027-01-31T00:00:00Z`, name)
  }
  return time
}

const LATEST = Date.parse('9999-12-31T00:00:00Z')

function parseAuditCursor(after: string | null | undefined): AuditCursor | null {
  if (after === null || after === undefined) return null
  const [, at, seq] = /^(\d{1,15})-(\d{1,15})$/.exec(after) ?? []
  if (at === undefined || seq === undefined || Number(at) > LATEST) throw unknownCursor()
  return { at: Number(at), seq: Number(seq) }
}
