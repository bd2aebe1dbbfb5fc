import { longestMs, RESET_PERIODS, type ResetPeriod } from '../domain/period.ts'
import type { LiveSubscription } from '../domain/standing.ts'
import { APP_NOW } from './apps.ts'
import { textArray } from './arrays.ts'
import { parseTimestamp, type Tx } from './database.ts'
import { Prepared } from './prepared.ts'

/** One question: what does this user hold, and what was counted of this feature in that kind of period? */
export interface Question {
  appId: string
  userId: string
  featureId: string
  resetPeriod: ResetPeriod | null
}

export interface Holding {
  /** the version of the app's catalogue and keys that this was read beside */
  version: number
  now: number
  /** null: no such user */
  uid: number | null
  live: LiveSubscription[]
  /**
   * The counters of that kind whose period may hold `now`. There is rarely more than one: where the anchor has moved, or
   * the clock was set back, periods overlap, and only the one whose start is asked for counts.
   */
  counters: Counter[]
}

interface Counter {
  start: number
  used: number
  /** where its row is */
  place: string
}

/** The rest of a subscription or a counter is null where its first column is: `packageId` or `periodStart`. */
type Row = [
  ord: string,
  version: string,
  now: string,
  uid: string | null,
  packageId: string | null,
  isAddon: string,
  startedAt: string,
  anchor: string,
  periodStart: string | null,
  used: string,
  place: string,
]

/** How long ago a period of each kind may have started, in hours, which are the same in every time zone. */
const LONGEST = new Map<ResetPeriod | null, string>(
  RESET_PERIODS.flatMap((reset) => {
    const ms = longestMs(reset)
    return ms === null ? [] : [[reset, `${ms / 3_600_000}:00:00`]]
  }),
)

/**
 * What is read of one question, given where its parts come from. Which period it is about depends on the subscriptions
 * that are read here; all that can be said beforehand is how long ago it may have started. That bound does without the
 * truncation to milliseconds, which would be worked out for every question once more. `offset 0` keeps the bound inside
 * the walk of the index: as a part of the join, PostgreSQL read every counter that the user has ever had of that kind.
 */
const holdingsOf = (source: string, [appId, userId, featureId, resetPeriod, longest]: readonly string[]) => `
from ${source}
left join users u on u.app_id = ${appId} and u.id = ${userId}
left join subscription s on s.app_id = u.app_id and s.user_uid = u.uid
  and s.cancelled_at is null and (s.cancel_at is null or s.cancel_at > ${APP_NOW})
left join lateral (
  select period_start, used, ctid from usage_counter
  where app_id = u.app_id and user_uid = u.uid and feature_id = ${featureId} and reset_period = ${resetPeriod}
    and period_start > coalesce(coalesce(app.test_clock, statement_timestamp()) - ${longest}, '-infinity')
  offset 0) c on true`

const COLUMNS = `app.version, ${APP_NOW} as now, u.uid,
  s.package_id, s.is_addon, s.started_at, s.anchor, c.period_start, c.used, c.ctid as place`

/** Many texts would take longer to be read as intervals than one is to be chosen. */
const CHOSEN = [...LONGEST].map(([reset, longest]) => `when '${reset}' then interval '${longest}'`).join(' ')

const MANY = new Prepared<Row>(
  'read-holdings',
  `select q.ord, ${COLUMNS} ${holdingsOf(
    `unnest($1::text[], $2::text[], $3::text[], $4::text[])
  with ordinality as q (app_id, user_id, feature_id, reset_period, ord)
join app on app.id = q.app_id`,
    ['q.app_id', 'q.user_id', 'q.feature_id', 'q.reset_period', `case q.reset_period ${CHOSEN} end`],
  )}`,
)

/** PostgreSQL is done with a statement about one sooner than with one about a list of one. */
const ONE = new Prepared<Row>(
  'read-holding',
  `select 1 as ord, ${COLUMNS} ${holdingsOf('app', ['app.id', '$2', '$3', '$4', '$5::interval'])}
where app.id = $1`,
)

/** Answers many questions in one statement, in their order. An app that does not exist leaves a hole. */
export async function readHoldings(
  client: Tx,
  questions: readonly Question[],
): Promise<(Holding | undefined)[]> {
  const holdings = new Array<Holding | undefined>(questions.length)
  const firsts = new Array<Row>(questions.length)
  for (const row of await read(client, questions)) {
    const [ord, version, now, uid, packageId, isAddon, startedAt, anchor, periodStart, used, place] = row
    const at = Number(ord) - 1
    let holding = holdings[at]
    if (!holding) {
      holding = {
        version: Number(version),
        now: parseTimestamp(now),
        uid: uid === null ? null : Number(uid),
        live: [],
        counters: [],
      }
      holdings[at] = holding
      firsts[at] = row
    }
    // Every subscription comes with every counter: each is taken from the rows that share the other with the first row.
    const [, , , , firstPackageId, , , , firstPeriodStart] = firsts[at] as Row
    if (packageId !== null && periodStart === firstPeriodStart) {
      holding.live.push({
        packageId,
        isAddon: isAddon === 't',
        startedAt: parseTimestamp(startedAt),
        anchor: parseTimestamp(anchor),
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
  if (first && questions.length === 1) {
    const { appId, userId, featureId, resetPeriod } = first
    return ONE.run(client, [appId, userId, featureId, resetPeriod, LONGEST.get(resetPeriod) ?? null])
  }
  return MANY.run(client, [
    textArray(questions, (q) => q.appId),
    textArray(questions, (q) => q.userId),
    textArray(questions, (q) => q.featureId),
    textArray(questions, (q) => q.resetPeriod),
  ])
}
