import type { JsonObject } from '../../domain/metadata.ts'
import type { Person } from '../../domain/personal-data.ts'
import { anyRows } from '../connection/merge-answers.ts'
import { type HomeDb, rowsOf } from '../connection/places.ts'
import { isBadRowOf, knownTimes } from '../imports/user-import-rows.ts'

// Rows with all of their columns: an export contains everything that is stored.

/** A row and its key. */
export interface ExportedRow {
  row: JsonObject
  key: string
}

/** The parts of an export that are found by the user's number: table, and the key that orders its rows. */
const TABLES = {
  subscriptions: ['subscription', `lpad(seq::text, 20, '0')`],
  providerSubscriptions: ['provider_subscription', `provider || ' ' || ref`],
  payments: ['payment', `lpad(seq::text, 20, '0')`],
  paymentLinks: ['checkout_session', 'id'],
  // Bad rows are found by the ids that the user had.
  importRows: [
    'user_import_row',
    `import_id || ' ' || lpad(line::text, 20, '0')`,
    `or app_id = $1 and ${isBadRowOf('t', 5)}`,
  ],
} as const

export type ExportedTable = keyof typeof TABLES

export async function exportRows(
  db: HomeDb,
  appId: string,
  { uid, knownAs }: Pick<Person, 'uid' | 'knownAs'>,
  name: ExportedTable,
  after: string,
  limit: number,
): Promise<ExportedRow[]> {
  const [table, key, also] = TABLES[name]
  const { rows } = await db.query<ExportedRow>(
    `select * from (select to_json(t) as row, (${key}) collate "C" as key from ${table} t
       where app_id = $1 and user_uid = $2 ${also ?? ''}) x where key > $3 collate "C" order by key limit $4`,
    [appId, uid, after, limit, ...(also ? knownTimes(knownAs) : [])],
  )
  return rows
}

/** The user's own row. */
export async function exportProfile(db: HomeDb, appId: string, userUid: number): Promise<JsonObject | null> {
  const { rows } = await db.query<{ row: JsonObject }>(
    `select to_json(u) as row from users u where app_id = $1 and uid = $2`,
    [appId, userUid],
  )
  return rows[0]?.row ?? null
}

/** Counters, in the order of their key. */
export async function exportCounters(
  db: HomeDb,
  appId: string,
  userUid: number,
  after: string,
  limit: number,
): Promise<ExportedRow[]> {
  const [featureId = '', resetPeriod = '', periodStart = '-infinity'] = parts(after)
  const ask = rowsOf<ExportedRow>({
    text: `select to_json(c) as row, json_build_array(feature_id, reset_period, period_start)::text as key
     from usage_counter c where app_id = $1 and user_uid = $2
       and (feature_id, reset_period, period_start) > ($3, $4, $5::timestamptz)
     order by feature_id, reset_period, period_start limit $6`,
    values: [appId, userUid, featureId, resetPeriod, periodStart, limit],
  })
  return db.places.each(ask, anyRows())
}

/** The ledger, feature by feature, oldest first. */
export async function exportLedger(
  db: HomeDb,
  appId: string,
  userUid: number,
  after: string,
  limit: number,
): Promise<ExportedRow[]> {
  const [featureId = '', seq = '0'] = parts(after)
  const ask = rowsOf<ExportedRow>({
    text: `select to_json(l) as row, json_build_array(feature_id, seq::text)::text as key
     from usage_ledger l where app_id = $1 and user_uid = $2 and (feature_id, seq) > ($3, $4::bigint)
     order by feature_id, seq limit $5`,
    values: [appId, userUid, featureId, seq, limit],
  })
  return db.places.each(ask, anyRows())
}

/** Retired usage, in the order of the key. */
export async function exportRetiredUsage(
  db: HomeDb,
  appId: string,
  userUid: number,
  after: string,
  limit: number,
): Promise<ExportedRow[]> {
  const [featureId = '', resetPeriod = '', periodStart = '-infinity', block = '-1'] = parts(after)
  const ask = rowsOf<ExportedRow>({
    text: `select to_json(b) as row, json_build_array(feature_id, reset_period, period_start, block::text)::text as key
     from ledger_base b where app_id = $1 and user_uid = $2
       and (feature_id, reset_period, period_start, block) > ($3, $4, $5::timestamptz, $6::int)
       and block in (select block from ledger_partition where retired_at is not null)
     order by feature_id, reset_period, period_start, block limit $7`,
    values: [appId, userUid, featureId, resetPeriod, periodStart, block, limit],
  })
  return db.places.each(ask, anyRows())
}

const parts = (key: string): string[] => (key === '' ? [] : (JSON.parse(key) as string[]))
