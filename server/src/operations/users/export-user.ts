import { refsIn } from '../../billing/notice.ts'
import { userNotFound } from '../../domain/errors.ts'
import { isStorable } from '../../domain/identifier.ts'
import { MAX_EXPORTED_ROWS } from '../../domain/limits.ts'
import type { Json, JsonObject } from '../../domain/metadata.ts'
import { entryIsAbout, type Person } from '../../domain/personal-data.ts'
import { subjectOwner } from '../../store/audit/snapshots.ts'
import { checkoutsOfUser } from '../../store/billing/checkout-sessions.ts'
import { providerSubscriptionsOfUser } from '../../store/billing/provider-subscriptions.ts'
import type { HomeDb } from '../../store/connection/places.ts'
import { findErasableUser } from '../../store/privacy/erase-user.ts'
import * as store from '../../store/privacy/export-user.ts'
import { auditEntriesNaming, noticesNaming } from '../../store/privacy/user-traces.ts'
import { requireApp } from '../apps/apps.ts'
import { type Call, momentOf } from '../call/call.ts'
import { unknownCursor } from '../call/pages.ts'
import { requireUser } from '../call/require.ts'
import { personOf } from './person.ts'

interface Part {
  name: string
  read(db: HomeDb, appId: string, person: Person, after: string, limit: number): Promise<store.ExportedRow[]>
  /** Whether it may be the key of a row of this part. Cursors come from callers. */
  isKey(key: string): boolean
}

const isText = (key: unknown): key is string => typeof key === 'string' && isStorable(key)
const isNumber = (key: unknown): boolean => typeof key === 'string' && /^\d{1,16}$/.test(key)
const isBlock = (key: unknown): boolean => typeof key === 'string' && /^\d{1,4}$/.test(key)
const isTime = (key: unknown): boolean =>
  typeof key === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+\+00:00$/.test(key) && !Number.isNaN(Date.parse(key))

/** A key of several columns. */
function isList(key: string, columns: ((value: unknown) => boolean)[]): boolean {
  try {
    const values: unknown = JSON.parse(key)
    return Array.isArray(values) && columns.every((isValue, i) => isValue(values[i]))
  } catch {
    return false
  }
}

const ofTable = (name: store.ExportedTable): Part => ({
  name,
  read: (db, appId, person, after, limit) => store.exportRows(db, appId, person, name, after, limit),
  isKey: isText,
})

const ofUsage = (name: store.ExportedUsage, key: ((value: unknown) => boolean)[]): Part => ({
  name,
  read: (db, appId, { uid }, after, limit) => store.exportUsage(db, appId, uid, name, after, limit),
  isKey: (after) => isList(after, key),
})

/** Filters rows that were found by their text. */
async function kept<Row extends { seq: number }>(
  find: (after: number, limit: number) => Promise<Row[]>,
  keep: (row: Row) => boolean,
  after: string,
  limit: number,
): Promise<Row[]> {
  const rows: Row[] = []
  for (let last = Number(after); ; ) {
    const found = await find(last, limit)
    rows.push(...found.filter(keep))
    if (found.length < limit || rows.length >= limit) return rows.slice(0, limit)
    last = found.at(-1)?.seq ?? last
  }
}

const auditEntries: Part['read'] = async (db, appId, person, after, limit) => {
  const names = [...person.knownAs.map(({ id }) => id), ...person.subscriptionIds]
  const rows = await kept(
    (last, most) => auditEntriesNaming(db, appId, names, last, most),
    (entry) => entryIsAbout(person, entry, subjectOwner(entry.subjectKind)),
    after,
    limit,
  )
  return rows.map(({ seq, appId: _, at, ...entry }) => ({
    key: String(seq),
    row: { ...entry, at: new Date(at).toISOString() },
  }))
}

const notices: Part['read'] = async (db, appId, person, after, limit) => {
  const paid = await providerSubscriptionsOfUser(db, appId, person.uid)
  const links = await checkoutsOfUser(db, appId, person.uid)
  const refs = new Set([
    ...person.billingIds,
    ...paid.map(({ ref }) => ref),
    ...links.flatMap(({ id, providerRef }) => (providerRef === null ? [id] : [id, providerRef])),
  ])
  const rows = await kept(
    (last, most) => noticesNaming(db, appId, [...refs], last, most),
    ({ payload }) => refsIn(payload).some((ref) => refs.has(ref)),
    after,
    limit,
  )
  return rows.map(({ seq, provider, eventId, type, payload, state, receivedAt }) => ({
    key: String(seq),
    row: { provider, eventId, type, state, receivedAt: new Date(receivedAt).toISOString(), payload },
  }))
}

/** The parts after the profile, in this order. Cursors contain the index of a part, so new parts go last. */
const PARTS: Part[] = [
  ...(['subscriptions', 'providerSubscriptions', 'paymentLinks', 'importRows'] as const).map(ofTable),
  { name: 'auditEntries', read: auditEntries, isKey: isNumber },
  { name: 'notices', read: notices, isKey: isNumber },
  ofTable('payments'),
  ofUsage('usageCounters', [isText, isText, isTime]),
  ofUsage('retiredUsage', [isText, isText, isTime, isBlock]),
  ofUsage('usageLedger', [isText, isNumber]),
  ofTable('denials'),
  ofTable('credits'),
  ofTable('reservations'),
  ofTable('caps'),
  ofTable('autoRecharges'),
  ofTable('recharges'),
]

/** All data stored about a user, in pages. `next` is passed as `after` to get the next page; null on the last one. */
export async function exportUser(
  call: Call,
  id: string,
  after: string | null | undefined,
): Promise<JsonObject> {
  const { service, appId } = call
  await requireApp(service.pool, appId)
  await momentOf(call)
  const { uid } = await requireUser(service.pool, appId, id)
  // It reads whole tables.
  const db = service.longQueries
  const user = await findErasableUser(db, appId, id)
  const profile = await store.exportProfile(db, appId, uid)
  if (!user || !profile) throw userNotFound(id)
  const person = await db.places.of(appId, id, (users) => personOf(users, appId, user))
  const exported: JsonObject = { user: readable(profile) }
  let [part, key] = parseCursor(after)
  let left = MAX_EXPORTED_ROWS
  for (; part < PARTS.length && left > 0; part++, key = '') {
    const { name, read } = PARTS[part] as Part
    const rows = await read(db, appId, person, key, left + 1)
    exported[name] = rows.slice(0, left).map(({ row }) => readable(row))
    if (rows.length > left) return { ...exported, next: cursorText(part, rows[left - 1]?.key ?? key) }
    left -= rows.length
  }
  return { ...exported, next: part < PARTS.length ? cursorText(part, '') : null }
}

const INTERNAL = new Set(['app_id', 'uid', 'user_uid'])

/** Columns with the names of the API. */
function readable(row: JsonObject): Json {
  return Object.fromEntries(
    Object.entries(row)
      .filter(([name]) => !INTERNAL.has(name))
      .map(([name, value]) => [name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()), value]),
  )
}

const cursorText = (part: number, key: string): string =>
  Buffer.from(JSON.stringify([part, key])).toString('base64url')

function parseCursor(after: string | null | undefined): [part: number, key: string] {
  if (after === null || after === undefined) return [0, '']
  try {
    const [part, key] = JSON.parse(Buffer.from(after, 'base64url').toString()) as unknown[]
    const known = typeof part === 'number' ? PARTS[part] : undefined
    if (known && (key === '' || (isText(key) && known.isKey(key)))) return [part as number, key]
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error
  }
  throw unknownCursor()
}
