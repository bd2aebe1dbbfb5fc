import { APP_NOW } from '../apps/apps.ts'
import { numberArray, textArray } from '../connection/arrays.ts'
import { parseTimestamp, type Tx } from '../connection/database.ts'
import { awaitCommits } from '../connection/distributed-commits.ts'
import { Prepared } from '../connection/prepared.ts'
import { CHOSEN, columns, type HoldingRow, type Question } from '../usage/holding-questions.ts'
import { type Holding, holdingsFrom } from '../usage/read-holdings.ts'

// A cell on another server is asked there, and its app here afterwards. That the app has the version which is cached then
// means that it had it when the cell was read, for that version was read before. Which subscriptions are live is decided by
// this server's time, not by the other's.

/** A row of a cell on another server. */
type RemoteRow = [
  ord: string,
  uid: string | null,
  overrides: string | null,
  packageId: string | null,
  isAddon: string,
  startedAt: string,
  anchor: string,
  quantity: string,
  version: string,
  versionAsOf: string,
  cancelAt: string | null,
  follows: string | null,
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

const textIn = (
  schema: string,
) => `select q.ord, u.uid, u.overrides, s.package_id, s.is_addon, s.started_at, s.anchor, s.quantity,
  s.package_version, s.version_as_of, s.cancel_at, s.follows, c.period_start, c.used
from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::boolean[], $6::int[])
  as q (app_id, user_id, feature_id, reset_period, test_clock, ord)
left join ${schema}.users u on u.app_id = q.app_id and u.id = q.user_id
left join lateral (
  select package_id, is_addon, started_at, anchor, quantity, package_version, version_as_of, cancel_at, follows
  from ${schema}.subscription where app_id = u.app_id and user_uid = u.uid and cancelled_at is null
  offset 0) s on true
left join lateral (
  select period_start, used from ${schema}.usage_counter
  where app_id = u.app_id and user_uid = u.uid and feature_id = q.feature_id and reset_period = q.reset_period
    and (q.test_clock or period_start >
      coalesce(statement_timestamp() - case q.reset_period ${CHOSEN} end - ${DIFFERENCE}, '-infinity'))
  offset 0) c on true`

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
  for (const [ord, row] of byQuestion(found)) {
    const [version, now] = moments.get(questions[ord - 1]?.appId ?? '') ?? []
    if (version === undefined || now === undefined) continue
    rows.push(...asNear(row, version, now))
  }
  return holdingsFrom(rows, questions.length)
}

function byQuestion(rows: readonly RemoteRow[]): Map<number, RemoteRow[]> {
  const all = new Map<number, RemoteRow[]>()
  for (const row of rows) {
    const ord = Number(row[0])
    const some = all.get(ord)
    if (some) some.push(row)
    else all.set(ord, [row])
  }
  return all
}

/** The rows of one question as this server would have given them. */
function asNear(found: readonly RemoteRow[], version: string, nowText: string): HoldingRow[] {
  const now = parseTimestamp(nowText)
  const isLive = ([, , , packageId, , startedAt, , , , , cancelAt, follows]: RemoteRow) =>
    packageId !== null &&
    (cancelAt === null || parseTimestamp(cancelAt) > now) &&
    (follows === null || parseTimestamp(startedAt) <= now)
  const live = found.filter(isLive)
  const as = (row: RemoteRow, withSubscription: boolean): HoldingRow => {
    const [ord, uid, overrides, packageId, isAddon, startedAt, anchor, quantity, ofPackage, asOf] = row
    const [periodStart, used] = [row[12], row[13]]
    return [
      ...[ord, version, nowText, uid, overrides, withSubscription ? packageId : null],
      ...[isAddon, startedAt, anchor, quantity, ofPackage, asOf, periodStart, used],
      // Its counters are found by their key.
      '',
    ] as HoldingRow
  }
  if (live.length > 0) return live.map((row) => as(row, true))
  // No subscription counts, but each was there once for each counter.
  const [first] = found
  return found.filter((row) => row[3] === first?.[3]).map((row) => as(row, false))
}
