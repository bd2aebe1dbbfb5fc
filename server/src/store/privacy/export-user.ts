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
  denials: ['denial', 'feature_id'],
  paymentLinks: ['checkout_session', 'id'],
  credits: ['credit', `lpad(seq::text, 20, '0')`],
  reservations: ['usage_reservation', `lpad(seq::text, 20, '0')`],
  caps: ['usage_cap', `feature_id || ' ' || period || ' ' || entity`],
  autoRecharges: ['recharge_rule', 'feature_id'],
  recharges: ['recharge_attempt', 'session_id'],
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

type KeyColumn = readonly [name: string, type: 'text' | 'timestamptz' | 'bigint' | 'int', least: string]

const FEATURE: KeyColumn = ['feature_id', 'text', '']
const COUNTER: readonly KeyColumn[] = [
  FEATURE,
  ['reset_period', 'text', ''],
  ['period_start', 'timestamptz', '-infinity'],
]

/** The parts of an export in the places of users: table, key, and which of its rows. */
const USAGE = {
  usageCounters: ['usage_counter', COUNTER],
  retiredUsage: [
    'ledger_base',
    [...COUNTER, ['block', 'int', '-1']],
    'and block in (select block from ledger_partition where retired_at is not null)',
  ],
  usageLedger: ['usage_ledger', [FEATURE, ['seq', 'bigint', '0']]],
} as const satisfies Record<string, readonly [table: string, key: readonly KeyColumn[], only?: string]>

export type ExportedUsage = keyof typeof USAGE

export async function exportUsage(
  db: HomeDb,
  appId: string,
  userUid: number,
  name: ExportedUsage,
  after: string,
  limit: number,
): Promise<ExportedRow[]> {
  const [table, key, only] = USAGE[name]
  const columns = key.map(([column]) => column).join(', ')
  const texts = key.map(([column, type]) => (type === 'timestamptz' ? column : `${column}::text`))
  const last: string[] = after === '' ? [] : JSON.parse(after)
  const ask = rowsOf<ExportedRow>({
    text: `select to_json(t) as row, json_build_array(${texts})::text as key from ${table} t
      where app_id = $1 and user_uid = $2 and (${columns}) > (${key.map(([, type], i) => `$${i + 4}::${type}`)})
        ${only ?? ''} order by ${columns} limit $3`,
    values: [appId, userUid, limit, ...key.map(([, , least], i) => last[i] ?? least)],
  })
  return db.places.each(ask, anyRows())
}
