import type { Override } from '../domain/override.ts'
import { longestMs, RESET_PERIODS, type ResetPeriod } from '../domain/period.ts'
import type { LiveSubscription } from '../domain/standing.ts'
import { APP_NOW } from './apps.ts'
import { numberArray, textArray } from './arrays.ts'
import { byGroup, type Cell, type CellGroup, kept, schemaOf } from './cell-map.ts'
import { parseTimestamp, type Tx } from './database.ts'
import { Prepared } from './prepared.ts'

/** One question: what does this user hold, and what are the counters of this feature and reset period? */
export interface Question {
  appId: string
  userId: string
  featureId: string
  resetPeriod: ResetPeriod | null
  /** where the user is; null: there is one cell */
  cell: Cell | null
  /** whether the app's time is perhaps not that of the servers */
  testClock: boolean
}

export interface Holding {
  /** the app's version, read in the same snapshot */
  version: number
  now: number
  /** null: no such user */
  uid: number | null
  cell: Cell | null
  live: LiveSubscription[]
  overrides: Override[] | null
  /**
   * The counters of that reset period whose period may contain `now`. Rarely more than one: periods overlap where the
   * anchor has moved or the clock was set back, and only the one whose start is asked for counts.
   */
  counters: Counter[]
}

interface Counter {
  start: number
  used: number
  /** the position of its row (`ctid`) */
  place: string
}

/** The columns of a subscription or counter are all null where the first is: `packageId` or `periodStart`. */
type Row = [
  ord: string,
  version: string,
  now: string,
  uid: string | null,
  overrides: string | null,
  packageId: string | null,
  isAddon: string,
  startedAt: string,
  anchor: string,
  quantity: string,
  version: string,
  versionAsOf: string,
  periodStart: string | null,
  used: string,
  place: string,
]

/** How long ago a period of each kind may have started, in hours, which are independent of time zones. */
const LONGEST = new Map<ResetPeriod | null, string>(
  RESET_PERIODS.flatMap((reset) => {
    const ms = longestMs(reset)
    return ms === null ? [] : [[reset, `${ms / 3_600_000}:00:00`]]
  }),
)

/**
 * The rows for one question, given where its parts come from. The period depends on the subscriptions read here; all
 * that is known beforehand is how long ago it may have started. That bound skips the truncation to milliseconds, which
 * would be computed again for every question. `offset 0` keeps the bound inside the index scan: as part of the join,
 * PostgreSQL read every counter of that kind the user ever had, and, with a plan made while the table was new, every live
 * subscription of the app.
 */
const holdingsOf = (
  source: string,
  [appId, userId, featureId, resetPeriod, longest]: readonly string[],
  schema = '',
) => `
from ${source}
left join ${schema}users u on u.app_id = ${appId} and u.id = ${userId}
left join lateral (
  select package_id, is_addon, started_at, anchor, quantity, package_version, version_as_of from ${schema}subscription
  where app_id = u.app_id and user_uid = u.uid
    and cancelled_at is null and (cancel_at is null or cancel_at > ${APP_NOW})
    and (follows is null or started_at <= ${APP_NOW})
  offset 0) s on true
left join lateral (
  select period_start, used, ctid from ${schema}usage_counter
  where app_id = u.app_id and user_uid = u.uid and feature_id = ${featureId} and reset_period = ${resetPeriod}
    and period_start > coalesce(coalesce(app.test_clock, statement_timestamp()) - ${longest}, '-infinity')
  offset 0) c on true`

const COLUMNS = `app.version, ${APP_NOW} as now, u.uid, u.overrides,
  s.package_id, s.is_addon, s.started_at, s.anchor, s.quantity, s.package_version, s.version_as_of, c.period_start, c.used, c.ctid as place`

/** Choosing one of these is faster than parsing an interval for each question. */
const CHOSEN = [...LONGEST].map(([reset, longest]) => `when '${reset}' then interval '${longest}'`).join(' ')

const manyOf = (source: string, schema?: string) =>
  `select q.ord, ${COLUMNS} ${holdingsOf(
    `${source}
join app on app.id = q.app_id`,
    ['q.app_id', 'q.user_id', 'q.feature_id', 'q.reset_period', `case q.reset_period ${CHOSEN} end`],
    schema,
  )}`

const MANY = new Prepared<Row>(
  'read-holdings',
  manyOf(`unnest($1::text[], $2::text[], $3::text[], $4::text[])
  with ordinality as q (app_id, user_id, feature_id, reset_period, ord)`),
)

/** In all cells of a group, which share a list of questions. */
const manyIn = kept(
  ({ name, schemas }: CellGroup) =>
    new Prepared<Row>(
      `read-holdings-${name}`,
      `with q as materialized (
  select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::int[], $6::int[])
    as q (app_id, user_id, feature_id, reset_period, cell, ord)
)
${schemas.map((schema, i) => `${manyOf('q', `${schema}.`)}\nwhere q.cell = ${i}`).join('\nunion all\n')}`,
    ),
)

/** PostgreSQL is faster with a statement for one question than with a list of one. */
const oneOf = (name: string, schema?: string) =>
  new Prepared<Row>(
    name,
    `select 1 as ord, ${COLUMNS} ${holdingsOf('app', ['app.id', '$2', '$3', '$4', '$5::interval'], schema)}
where app.id = $1`,
  )

const ONE = oneOf('read-holding')
const oneIn = kept((schema: string) => oneOf(`read-holding-${schema}`, `${schema}.`))

/** Answers many questions in one statement, in order. An app that does not exist leaves a hole. */
export async function readHoldings(
  client: Tx,
  questions: readonly Question[],
): Promise<(Holding | undefined)[]> {
  const holdings = new Array<Holding | undefined>(questions.length)
  const firsts = new Array<Row>(questions.length)
  for (const row of await read(client, questions)) {
    const [ord, appVersion, now, uid, overrides, packageId, isAddon, startedAt, anchor] = row
    const [, , , , , , , , , quantity, version, versionAsOf, periodStart, used, place] = row
    const at = Number(ord) - 1
    let holding = holdings[at]
    if (!holding) {
      holding = {
        version: Number(appVersion),
        now: parseTimestamp(now),
        uid: uid === null ? null : Number(uid),
        cell: (questions[at] as Question).cell,
        live: [],
        overrides: overrides === null ? null : (JSON.parse(overrides) as Override[]),
        counters: [],
      }
      holdings[at] = holding
      firsts[at] = row
    }
    // The rows are every subscription times every counter: take each from the rows where the other is the first row's.
    const [, , , , , firstPackageId, , , , , , , firstPeriodStart] = firsts[at] as Row
    if (packageId !== null && periodStart === firstPeriodStart) {
      holding.live.push({
        packageId,
        isAddon: isAddon === 't',
        startedAt: parseTimestamp(startedAt),
        anchor: parseTimestamp(anchor),
        quantity: Number(quantity),
        version: Number(version),
        versionAsOf: Number(versionAsOf),
      })
    }
    if (periodStart !== null && packageId === firstPackageId) {
      holding.counters.push({ start: parseTimestamp(periodStart), used: Number(used), place })
    }
  }
  return holdings
}

function read(client: Tx, questions: readonly Question[]): Promise<Row[]> {
  const [first] = questions
  if (first && questions.length === 1 && !first.cell?.group.remote) {
    const { appId, userId, featureId, resetPeriod, cell } = first
    const statement = cell ? oneIn(schemaOf(cell)) : ONE
    return statement.run(client, [appId, userId, featureId, resetPeriod, LONGEST.get(resetPeriod) ?? null])
  }
  // Where there are cells after all, the statement fails.
  if (questions.some(({ cell }) => cell === null)) return MANY.run(client, columns(questions))
  return readInCells(client, questions)
}

async function readInCells(client: Tx, questions: readonly Question[]): Promise<Row[]> {
  const rows: Row[] = []
  const numbered = questions.map((question, i) => ({ question, ord: i + 1 }))
  const cellOf = ({ question }: { question: Question }) => question.cell
  for (const some of byGroup(numbered, cellOf)) {
    const group = some[0]?.question.cell?.group as CellGroup
    if (group.remote) {
      for (const row of await readRemote(client, group, some)) rows.push(row)
      continue
    }
    const values = [
      ...columns(some.map(({ question }) => question)),
      numberArray(some, ({ question }) => question.cell?.index ?? 0),
      numberArray(some, ({ ord }) => ord),
    ]
    for (const row of await manyIn(group).run(client, values)) rows.push(row)
  }
  return rows
}

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

const remoteIn = kept(
  ({ name, schemas: [schema] }: CellGroup) =>
    new Prepared<RemoteRow>(
      `read-holdings-${name}`,
      `select q.ord, u.uid, u.overrides, s.package_id, s.is_addon, s.started_at, s.anchor, s.quantity,
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
  offset 0) c on true`,
    ),
)

const MOMENTS = new Prepared<[id: string, version: string, now: string]>(
  'app-moments',
  `select id, version, ${APP_NOW} from app where id = any($1::text[])`,
)

async function readRemote(
  client: Tx,
  group: CellGroup,
  some: readonly { question: Question; ord: number }[],
): Promise<Row[]> {
  const questions = some.map(({ question }) => question)
  const values = [
    ...columns(questions),
    textArray(questions, ({ testClock }) => (testClock ? 't' : 'f')),
    numberArray(some, ({ ord }) => ord),
  ]
  const found = await remoteIn(group).run(client, values)
  const appIds = [...new Set(questions.map(({ appId }) => appId))]
  const moments = new Map(
    (await MOMENTS.run(client, [textArray(appIds, (id) => id)])).map(([id, ...moment]) => [id, moment]),
  )
  const appOf = new Map(some.map(({ question, ord }) => [ord, question.appId]))
  const rows: Row[] = []
  for (const [ord, row] of byQuestion(found)) {
    const [version, now] = moments.get(appOf.get(ord) ?? '') ?? []
    if (version === undefined || now === undefined) continue
    rows.push(...asNear(row, version, now))
  }
  return rows
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
function asNear(found: readonly RemoteRow[], version: string, nowText: string): Row[] {
  const now = parseTimestamp(nowText)
  const isLive = ([, , , packageId, , startedAt, , , , , cancelAt, follows]: RemoteRow) =>
    packageId !== null &&
    (cancelAt === null || parseTimestamp(cancelAt) > now) &&
    (follows === null || parseTimestamp(startedAt) <= now)
  const live = found.filter(isLive)
  const as = (row: RemoteRow, withSubscription: boolean): Row => {
    const [ord, uid, overrides, packageId, isAddon, startedAt, anchor, quantity, ofPackage, asOf] = row
    const [periodStart, used] = [row[12], row[13]]
    return [
      ...[ord, version, nowText, uid, overrides, withSubscription ? packageId : null],
      ...[isAddon, startedAt, anchor, quantity, ofPackage, asOf, periodStart, used],
      // Its counters are found by their key.
      '',
    ] as Row
  }
  if (live.length > 0) return live.map((row) => as(row, true))
  // No subscription counts, but each was there once for each counter.
  const [first] = found
  return found.filter((row) => row[3] === first?.[3]).map((row) => as(row, false))
}

const columns = (questions: readonly Question[]): string[] => [
  textArray(questions, (q) => q.appId),
  textArray(questions, (q) => q.userId),
  textArray(questions, (q) => q.featureId),
  textArray(questions, (q) => q.resetPeriod),
]
