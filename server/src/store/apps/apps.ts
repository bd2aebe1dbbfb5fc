import type { AccessAfterRefund } from '../../domain/reversal.ts'
import type { HomeDb } from '../connection/places.ts'

export interface AppRow {
  id: string
  name: string
  testClock: number | null
  /** the origins whose pages may use the client API */
  origins: string[]
  /** the app's time */
  now: number
  createdAt: number
  sampleLoaded: boolean
  /** when it was archived */
  archivedAt: number | null
}

/** A listed app. The list includes apps that are being deleted. */
export interface ListedApp extends AppRow {
  deletion: { since: number; rows: number } | null
}

/** An app's time: its test clock if it has one, otherwise the database's, so that all nodes agree. */
export const APP_NOW = `coalesce(app.test_clock, date_trunc('milliseconds', statement_timestamp()))`

/**
 * The next version: a counter above 24 random bits, within 2^53. If a database goes back in time (a standby that lacked
 * commits takes over, or a backup is restored), the counter repeats with other content; the random bits differ.
 */
const nextVersion = (version: string) =>
  `((((${version} >> 24) + 1) << 24) | floor(random() * (1 << 24))::bigint)`

/** False: the id is taken. */
export async function insertApp(db: HomeDb, id: string, name: string, testClock: boolean): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into app (id, name, test_clock, version)
     values ($1, $2, case when $3 then date_trunc('milliseconds', clock_timestamp()) end, ${nextVersion('0::bigint')})
     on conflict do nothing`,
    [id, name, testClock],
  )
  return rowCount === 1
}

const SELECT = `select id, name, test_clock as "testClock", origins, ${APP_NOW} as now, created_at as "createdAt",
  exists (select from sample_item where app_id = app.id) as "sampleLoaded", archived_at as "archivedAt",
  deleting_since as "deletingSince", deleted_rows as "deletedRows" from app`

/** Everywhere but in the list, an app that is being deleted does not exist. */
const PRESENT = 'deleting_since is null'

/** The time of these apps, except of those being deleted. */
export async function appMoments(db: HomeDb, ids: readonly string[]): Promise<Map<string, number>> {
  const { rows } = await db.query<{ id: string; now: number }>(
    `select id, ${APP_NOW} as now from app where id = any($1) and ${PRESENT}`,
    [ids],
  )
  return new Map(rows.map(({ id, now }) => [id, now]))
}

export async function listApps(db: HomeDb): Promise<ListedApp[]> {
  const { rows } = await db.query<AppRow & { deletingSince: number | null; deletedRows: number }>(
    `${SELECT} order by created_at, id`,
  )
  return rows.map(({ deletingSince, deletedRows, ...app }) => ({
    ...app,
    deletion: deletingSince === null ? null : { since: deletingSince, rows: deletedRows },
  }))
}

export async function findApp(db: HomeDb, id: string): Promise<AppRow | null> {
  const { rows } = await db.query<AppRow>(`${SELECT} where id = $1 and ${PRESENT}`, [id])
  return rows[0] ?? null
}

/** Serialises changes to an app's catalogue, keys or clock. Null: there is no such app. */
export async function lockApp(db: HomeDb, id: string): Promise<AppRow | null> {
  const { rows } = await db.query<AppRow>(`${SELECT} where id = $1 and ${PRESENT} for no key update`, [id])
  return rows[0] ?? null
}

/** Invalidates the app's cached catalogue and keys in every process. */
export async function bumpVersion(db: HomeDb, id: string): Promise<void> {
  await db.query(`update app set version = ${nextVersion('version')} where id = $1`, [id])
}

/** The same for all apps. */
export async function bumpAllVersions(db: HomeDb): Promise<void> {
  await db.query(`update app set version = ${nextVersion('version')}`)
}

/** The version changes with it, since what processes remember includes the time. */
export async function setTestClock(db: HomeDb, id: string, to: string): Promise<void> {
  await db.query(`update app set test_clock = $2, version = ${nextVersion('version')} where id = $1`, [
    id,
    to,
  ])
}

export async function setName(db: HomeDb, id: string, name: string): Promise<void> {
  await db.query(`update app set name = $2 where id = $1`, [id, name])
}

export async function setOrigins(db: HomeDb, id: string, origins: readonly string[]): Promise<void> {
  await db.query(`update app set origins = $2 where id = $1`, [id, origins])
}

export async function isOriginOfAnyApp(db: HomeDb, origin: string): Promise<boolean> {
  const { rowCount } = await db.query(`select from app where $1 = any(origins) limit 1`, [origin])
  return rowCount === 1
}

/** Number of days that access lasts after a failed payment. */
export async function graceDays(db: HomeDb, id: string): Promise<number> {
  const { rows } = await db.query<{ days: number }>(`select grace_days as days from app where id = $1`, [id])
  if (!rows[0]) throw new Error(`the app ${id} no longer exists`)
  return rows[0].days
}

export async function setGraceDays(db: HomeDb, id: string, days: number): Promise<void> {
  await db.query(`update app set grace_days = $2 where id = $1`, [id, days])
}

/** Access after everything paid for the current period was refunded or disputed. */
export async function accessAfterRefund(db: HomeDb, id: string): Promise<AccessAfterRefund> {
  const { rows } = await db.query<{ access: AccessAfterRefund }>(
    `select access_after_refund as access from app where id = $1`,
    [id],
  )
  if (!rows[0]) throw new Error(`the app ${id} no longer exists`)
  return rows[0].access
}

export async function setAccessAfterRefund(db: HomeDb, id: string, access: AccessAfterRefund): Promise<void> {
  await db.query(`update app set access_after_refund = $2 where id = $1`, [id, access])
}
