import type { ResetPeriod } from '../domain/period.ts'
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
  /** The newest counter of that kind; it counts only if it is of the period that is asked about. Its place is its row's. */
  counter: { start: number; used: number; place: string } | null
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

/** What is read of one question, given where its four parts come from. */
const holdingsOf = (source: string, [appId, userId, featureId, resetPeriod]: readonly string[]) => `
from ${source}
left join users u on u.app_id = ${appId} and u.id = ${userId}
left join subscription s on s.app_id = u.app_id and s.user_uid = u.uid
  and s.cancelled_at is null and (s.cancel_at is null or s.cancel_at > ${APP_NOW})
left join lateral (
  select period_start, used, ctid from usage_counter
  where app_id = u.app_id and user_uid = u.uid and feature_id = ${featureId} and reset_period = ${resetPeriod}
  order by period_start desc limit 1) c on true`

const COLUMNS = `app.version, ${APP_NOW} as now, u.uid,
  s.package_id, s.is_addon, s.started_at, s.anchor, c.period_start, c.used, c.ctid as place`

const MANY = new Prepared<Row>(
  'read-holdings',
  `select q.ord, ${COLUMNS} ${holdingsOf(
    `unnest($1::text[], $2::text[], $3::text[], $4::text[])
  with ordinality as q (app_id, user_id, feature_id, reset_period, ord)
join app on app.id = q.app_id`,
    ['q.app_id', 'q.user_id', 'q.feature_id', 'q.reset_period'],
  )}`,
)

/** PostgreSQL is done with a statement about one sooner than with one about a list of one. */
const ONE = new Prepared<Row>(
  'read-holding',
  `select 1 as ord, ${COLUMNS} ${holdingsOf('app', ['app.id', '$2', '$3', '$4'])}
where app.id = $1`,
)

/** Answers many questions in one statement, in their order. An app that does not exist leaves a hole. */
export async function readHoldings(
  client: Tx,
  questions: readonly Question[],
): Promise<(Holding | undefined)[]> {
  const holdings = new Array<Holding | undefined>(questions.length)
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
        counter:
          periodStart === null ? null : { start: parseTimestamp(periodStart), used: Number(used), place },
      }
      holdings[at] = holding
    }
    if (packageId !== null) {
      holding.live.push({
        packageId,
        isAddon: isAddon === 't',
        startedAt: parseTimestamp(startedAt),
        anchor: parseTimestamp(anchor),
      })
    }
  }
  return holdings
}

function read(client: Tx, questions: readonly Question[]): Promise<Row[]> {
  const [first] = questions
  if (first && questions.length === 1) {
    return ONE.run(client, [first.appId, first.userId, first.featureId, first.resetPeriod])
  }
  return MANY.run(client, [
    textArray(questions, (q) => q.appId),
    textArray(questions, (q) => q.userId),
    textArray(questions, (q) => q.featureId),
    textArray(questions, (q) => q.resetPeriod),
  ])
}
