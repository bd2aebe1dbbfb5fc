import type { ResetPeriod } from '../domain/period.ts'
import type { LiveSubscription } from '../domain/standing.ts'
import { APP_NOW } from './apps.ts'
import { textArray } from './arrays.ts'
import type { Db } from './database.ts'

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

interface Row {
  ord: number
  version: number
  now: number
  uid: number | null
  package_id: string | null
  is_addon: boolean
  started_at: number
  anchor: number
  period_start: number | null
  used: number
  place: string
}

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

const MANY = `
select q.ord::int, ${COLUMNS} ${holdingsOf(
  `unnest($1::text[], $2::text[], $3::text[], $4::text[])
  with ordinality as q (app_id, user_id, feature_id, reset_period, ord)
join app on app.id = q.app_id`,
  ['q.app_id', 'q.user_id', 'q.feature_id', 'q.reset_period'],
)}`

/** PostgreSQL is done with a statement about one sooner than with one about a list of one. */
const ONE = `
select 1 as ord, ${COLUMNS} ${holdingsOf('app', ['app.id', '$2', '$3', '$4'])}
where app.id = $1`

/** Answers many questions in one statement, in their order. An app that does not exist leaves a hole. */
export async function readHoldings(db: Db, questions: readonly Question[]): Promise<(Holding | undefined)[]> {
  const [first] = questions
  const { rows } = await db.query<Row>(first && questions.length === 1 ? one(first) : many(questions))
  const holdings = new Array<Holding | undefined>(questions.length)
  for (const row of rows) {
    let holding = holdings[row.ord - 1]
    if (!holding) {
      const { version, now, uid, period_start: start, used, place } = row
      const counter = start === null ? null : { start, used, place }
      holding = { version, now, uid, live: [], counter }
      holdings[row.ord - 1] = holding
    }
    if (row.package_id !== null) {
      holding.live.push({
        packageId: row.package_id,
        isAddon: row.is_addon,
        startedAt: row.started_at,
        anchor: row.anchor,
      })
    }
  }
  return holdings
}

const one = ({ appId, userId, featureId, resetPeriod }: Question) => ({
  name: 'read-holding',
  text: ONE,
  values: [appId, userId, featureId, resetPeriod],
})

const many = (questions: readonly Question[]) => ({
  name: 'read-holdings',
  text: MANY,
  values: [
    textArray(questions, (q) => q.appId),
    textArray(questions, (q) => q.userId),
    textArray(questions, (q) => q.featureId),
    textArray(questions, (q) => q.resetPeriod),
  ],
})
