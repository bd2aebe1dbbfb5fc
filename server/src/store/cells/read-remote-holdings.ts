import { APP_NOW } from '../apps/apps.ts'
import { numberArray, textArray } from '../connection/arrays.ts'
import type { Tx } from '../connection/database.ts'
import { awaitCommits } from '../connection/distributed-commits.ts'
import { Prepared } from '../connection/prepared.ts'
import { CHOSEN, columns, type HoldingRow, type Question } from '../usage/holding-questions.ts'
import { type Holding, holdingsFrom } from '../usage/read-holdings.ts'

// A cell on another server is asked there, and its app here afterwards. That the app has the version which is cached then
// means that it had it when the cell was read, for that version was read before. Which subscriptions are live is decided by
// this server's time, not by the other's.

/** A row of a cell on another server: like those of this one, without the app and the counter's position. */
type RemoteRow = [
  ord: string,
  uid: string | null,
  overrides: string | null,
  subscriptions: string | null,
  periodStart: string | null,
  used: string,
]

/** Two servers do not agree on the time to the millisecond: far more than they differ by. */
const DIFFERENCE = `interval '1 day'`

const statements = new Map<string, Prepared<RemoteRow>>()

function statementIn(schema: string): Prepared<RemoteRow> {
  const prepared = statements.get(schema) ?? new Prepared(`read-holdings-${schema}`, textIn(schema))
  statements.set(schema, prepared)
  return prepared
}

const textIn = (schema: string) => `select q.ord, u.uid, u.overrides, s.listed, c.period_start, c.used
from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::boolean[], $6::int[])
  as q (app_id, user_id, feature_id, reset_period, test_clock, ord)
left join ${schema}.users u on u.app_id = q.app_id and u.id = q.user_id
left join lateral (
  select ${LISTED_SUBSCRIPTIONS} as listed
  from ${schema}.subscription where app_id = u.app_id and user_uid = u.uid and cancelled_at is null) s on true
left join lateral (
  select period_start, used from ${schema}.usage_counter
  where app_id = u.app_id and user_uid = u.uid and feature_id = q.feature_id and reset_period = q.reset_period
    and (q.test_clock or period_start >
      coalesce(statement_timestamp() - case q.reset_period ${CHOSEN} end - ${DIFFERENCE}, '-infinity'))
  offset 0) c on true`

/** List that a trigger keeps in the user's row on this server: see `live_subscriptions` in the schema. */
const ms = (column: string): string => `(extract(epoch from ${column}) * 1000)::bigint`
const LISTED_SUBSCRIPTIONS = `json_agg(json_build_array(package_id, is_addon, ${ms('started_at')}, ${ms('anchor')},
    quantity, package_version, version_as_of, ${ms('cancel_at')}, follows is not null) order by seq)`

const MOMENTS = new Prepared<[id: string, version: string, now: string]>(
  'app-moments',
  `select id, version, ${APP_NOW} from app where id = any($1::text[])`,
)

export async function readRemote(
  client: Tx,
  schema: string,
  questions: readonly Question[],
): Promise<(Holding | undefined)[]> {
  const values = [
    ...columns(questions),
    textArray(questions, ({ testClock }) => (testClock ? 't' : 'f')),
    numberArray([...questions.keys()], (i) => i + 1),
  ]
  await awaitCommits(client, schema)
  const found = await statementIn(schema).run(client, values)
  const appIds = [...new Set(questions.map(({ appId }) => appId))]
  const moments = new Map(
    (await MOMENTS.run(client, [textArray(appIds, (id) => id)])).map(([id, ...moment]) => [id, moment]),
  )
  const rows: HoldingRow[] = []
  for (const [ord, ...row] of found) {
    const moment = moments.get(questions[Number(ord) - 1]?.appId ?? '')
    const [uid, overrides, subscriptions, ...counter] = row
    // Its rows are found by their keys.
    if (moment) rows.push([ord, ...moment, uid, overrides, subscriptions, '', '', ...counter, ''])
  }
  return holdingsFrom(rows, questions)
}
