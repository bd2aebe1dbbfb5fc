import type { Override } from '../../domain/override.ts'
import type { LiveSubscription } from '../../domain/user-entitlement.ts'
import { APP_NOW } from '../apps/apps.ts'
import { numberArray, textArray } from '../connection/arrays.ts'
import { parseTimestamp, type Tx } from '../connection/database.ts'
import { Prepared } from '../connection/prepared.ts'
import {
  CHOSEN,
  columns,
  type HoldingRow,
  LONGEST,
  type Question,
  type SpenderRow,
} from './holding-questions.ts'
import { type HeldSpending, SPENDING, spendingFrom } from './spending-rows.ts'
import type { CounterRef, UserRef } from './usage-moves.ts'

export interface Holding {
  /** the app's version, read in the same snapshot */
  version: number
  now: number
  /** null: no such user */
  uid: number | null
  /** null: no such user, or on another server */
  user: UserRef | null
  /** of a counter that does not exist yet */
  ref: CounterRef
  live: LiveSubscription[]
  /** when the time of a subscription next changes `live`; Infinity: never */
  liveUntil: number
  overrides: Override[] | null
  /**
   * The counters of that reset period whose period may contain `now`. Rarely more than one: periods overlap where the
   * anchor has moved or the clock was set back, and only the one whose start is asked for counts.
   */
  counters: Counter[]
  /** null: only the plan pays, or it was not asked for */
  spending: HeldSpending | null
}

interface Counter {
  start: number
  used: number
  ref: CounterRef
}

/**
 * The rows for one question, given where its parts come from. The period depends on the subscriptions read here; all
 * that is known beforehand is how long ago it may have started. That bound skips the truncation to milliseconds, which
 * would be computed again for every question. `offset 0` keeps the bound inside the index scan: as part of the join,
 * PostgreSQL read every counter of that kind the user ever had.
 */
const holdingsOf = (source: string, [appId, userId, featureId, resetPeriod, longest]: readonly string[]) => `
from ${source}
left join users u on u.app_id = ${appId} and u.id = ${userId}
left join lateral (
  select period_start, used, ctid from usage_counter
  where app_id = u.app_id and user_uid = u.uid and feature_id = ${featureId} and reset_period = ${resetPeriod}
    and period_start > coalesce(coalesce(app.test_clock, statement_timestamp()) - ${longest}, '-infinity')
  offset 0) c on true`

const COLUMNS = `app.version, ${APP_NOW} as now, u.uid, u.overrides, u.subscriptions, u.ctid, u.xmin, c.period_start, c.used, c.ctid`

const MANY = new Prepared<HoldingRow>(
  'read-holdings',
  `select q.ord, ${COLUMNS} ${holdingsOf(
    `unnest($1::text[], $2::text[], $3::text[], $4::text[])
  with ordinality as q (app_id, user_id, feature_id, reset_period, ord)
join app on app.id = q.app_id`,
    ['q.app_id', 'q.user_id', 'q.feature_id', 'q.reset_period', `case q.reset_period ${CHOSEN} end`],
  )}`,
)

/** The same for questions about features that more than the plan may pay for. */
const SPENDERS = new Prepared<SpenderRow>(
  'read-spenders',
  `select q.ord, ${COLUMNS}, p.spending ${holdingsOf(
    `unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::boolean[], $6::text[], $7::bigint[], $8::bigint[])
  with ordinality as q (app_id, user_id, feature_id, reset_period, spends, entities, known_uid, known_version, ord)
join app on app.id = q.app_id`,
    ['q.app_id', 'q.user_id', 'q.feature_id', 'q.reset_period', `case q.reset_period ${CHOSEN} end`],
  )} ${SPENDING}`,
)

/** PostgreSQL is faster with a statement for one question than with a list of one. */
const ONE = new Prepared<HoldingRow>(
  'read-holding',
  `select 1 as ord, ${COLUMNS} ${holdingsOf('app', ['app.id', '$2', '$3', '$4', '$5::interval'])}
where app.id = $1`,
)

/** A row of a counter is found by its position (`ctid`); the empty one is no position. */
const refTo = (ctid: string): CounterRef => ctid as unknown as CounterRef
const NO_ROW = refTo('')

/** Answers many questions in one statement, in order. An app that does not exist leaves a hole. */
export async function readHoldings(
  client: Tx,
  questions: readonly Question[],
): Promise<(Holding | undefined)[]> {
  return holdingsFrom(await read(client, questions), questions)
}

export function holdingsFrom(
  rows: readonly (HoldingRow | SpenderRow)[],
  questions: readonly Question[],
): (Holding | undefined)[] {
  const holdings = new Array<Holding | undefined>(questions.length)
  for (const row of rows) {
    const [ord, version, nowText, uid, overrides, subscriptions, tid, userVersion, periodStart, used, ref] =
      row
    const at = Number(ord) - 1
    let holding = holdings[at]
    if (!holding) {
      const now = parseTimestamp(nowText)
      const spending = row.length === 12 ? row[11] : null
      holding = {
        version: Number(version),
        now,
        uid: uid === null ? null : Number(uid),
        user: uid === null || tid === '' ? null : { tid, version: userVersion },
        ref: NO_ROW,
        ...liveAt(subscriptions, now),
        overrides: overrides === null ? null : (JSON.parse(overrides) as Override[]),
        counters: [],
        spending: spending ? spendingFrom(spending, questions[at]?.known ?? null) : null,
      }
      holdings[at] = holding
    }
    if (periodStart !== null)
      holding.counters.push({ start: parseTimestamp(periodStart), used: Number(used), ref: refTo(ref) })
  }
  return holdings
}

/** As the database lists it: see `live_subscriptions` in the schema. */
type ListedSubscription = [
  packageId: string,
  isAddon: boolean,
  startedAt: number,
  anchor: number,
  quantity: number,
  version: number,
  versionAsOf: number,
  cancelAt: number | null,
  isPlanned: boolean,
]

/** The subscriptions that count at a moment: time alone ends one, and begins one that is planned. */
function liveAt(subscriptions: string | null, now: number): Pick<Holding, 'live' | 'liveUntil'> {
  const live: LiveSubscription[] = []
  let liveUntil = Number.POSITIVE_INFINITY
  if (subscriptions === null) return { live, liveUntil }
  for (const listed of JSON.parse(subscriptions) as ListedSubscription[]) {
    const [packageId, isAddon, startedAt, anchor, quantity, version, versionAsOf, cancelAt, isPlanned] =
      listed
    if (cancelAt !== null && cancelAt <= now) continue
    if (isPlanned && startedAt > now) {
      liveUntil = Math.min(liveUntil, startedAt)
      continue
    }
    if (cancelAt !== null) liveUntil = Math.min(liveUntil, cancelAt)
    live.push({ packageId, isAddon, startedAt, anchor, quantity, version, versionAsOf })
  }
  return { live, liveUntil }
}

function read(client: Tx, questions: readonly Question[]): Promise<(HoldingRow | SpenderRow)[]> {
  const [first] = questions
  if (questions.some(({ spends }) => spends)) {
    const flags = textArray(questions, ({ spends }) => (spends ? 't' : 'f'))
    const entities = textArray(questions, ({ entities }) => textArray(entities, (entity) => entity))
    const uids = numberArray(questions, ({ known }) => known?.uid ?? null)
    const versions = numberArray(questions, ({ known }) => known?.version ?? null)
    return SPENDERS.run(client, [...columns(questions), flags, entities, uids, versions])
  }
  if (!first || questions.length > 1) return MANY.run(client, columns(questions))
  const { appId, userId, featureId, resetPeriod } = first
  return ONE.run(client, [appId, userId, featureId, resetPeriod, LONGEST.get(resetPeriod) ?? null])
}
