import type { Override } from '../../domain/override.ts'
import type { LiveSubscription } from '../../domain/user-entitlement.ts'
import { APP_NOW } from '../apps/apps.ts'
import { parseTimestamp, type Tx } from '../connection/database.ts'
import { Prepared } from '../connection/prepared.ts'
import { CHOSEN, columns, type HoldingRow, LONGEST, type Question } from './holding-questions.ts'
import type { CounterRef } from './usage-moves.ts'

export interface Holding {
  /** the app's version, read in the same snapshot */
  version: number
  now: number
  /** null: no such user */
  uid: number | null
  /** of a counter that does not exist yet */
  ref: CounterRef
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
  ref: CounterRef
}

/**
 * The rows for one question, given where its parts come from. The period depends on the subscriptions read here; all
 * that is known beforehand is how long ago it may have started. That bound skips the truncation to milliseconds, which
 * would be computed again for every question. `offset 0` keeps the bound inside the index scan: as part of the join,
 * PostgreSQL read every counter of that kind the user ever had, and, with a plan made while the table was new, every live
 * subscription of the app.
 */
const holdingsOf = (source: string, [appId, userId, featureId, resetPeriod, longest]: readonly string[]) => `
from ${source}
left join users u on u.app_id = ${appId} and u.id = ${userId}
left join lateral (
  select package_id, is_addon, started_at, anchor, quantity, package_version, version_as_of from subscription
  where app_id = u.app_id and user_uid = u.uid
    and cancelled_at is null and (cancel_at is null or cancel_at > ${APP_NOW})
    and (follows is null or started_at <= ${APP_NOW})
  offset 0) s on true
left join lateral (
  select period_start, used, ctid from usage_counter
  where app_id = u.app_id and user_uid = u.uid and feature_id = ${featureId} and reset_period = ${resetPeriod}
    and period_start > coalesce(coalesce(app.test_clock, statement_timestamp()) - ${longest}, '-infinity')
  offset 0) c on true`

const COLUMNS = `app.version, ${APP_NOW} as now, u.uid, u.overrides,
  s.package_id, s.is_addon, s.started_at, s.anchor, s.quantity, s.package_version, s.version_as_of, c.period_start, c.used, c.ctid`

const MANY = new Prepared<HoldingRow>(
  'read-holdings',
  `select q.ord, ${COLUMNS} ${holdingsOf(
    `unnest($1::text[], $2::text[], $3::text[], $4::text[])
  with ordinality as q (app_id, user_id, feature_id, reset_period, ord)
join app on app.id = q.app_id`,
    ['q.app_id', 'q.user_id', 'q.feature_id', 'q.reset_period', `case q.reset_period ${CHOSEN} end`],
  )}`,
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
  return holdingsFrom(await read(client, questions), questions.length)
}

export function holdingsFrom(rows: readonly HoldingRow[], questions: number): (Holding | undefined)[] {
  const holdings = new Array<Holding | undefined>(questions)
  const firsts = new Array<HoldingRow>(questions)
  for (const row of rows) {
    const [ord, appVersion, now, uid, overrides, packageId, isAddon, startedAt, anchor] = row
    const [, , , , , , , , , quantity, version, versionAsOf, periodStart, used, ctid] = row
    const at = Number(ord) - 1
    let holding = holdings[at]
    if (!holding) {
      holding = {
        version: Number(appVersion),
        now: parseTimestamp(now),
        uid: uid === null ? null : Number(uid),
        ref: NO_ROW,
        live: [],
        overrides: overrides === null ? null : (JSON.parse(overrides) as Override[]),
        counters: [],
      }
      holdings[at] = holding
      firsts[at] = row
    }
    // The rows are every subscription times every counter: take each from the rows where the other is the first row's.
    const [, , , , , firstPackageId, , , , , , , firstPeriodStart] = firsts[at] as HoldingRow
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
      holding.counters.push({ start: parseTimestamp(periodStart), used: Number(used), ref: refTo(ctid) })
    }
  }
  return holdings
}

function read(client: Tx, questions: readonly Question[]): Promise<HoldingRow[]> {
  const [first] = questions
  if (!first || questions.length > 1) return MANY.run(client, columns(questions))
  const { appId, userId, featureId, resetPeriod } = first
  return ONE.run(client, [appId, userId, featureId, resetPeriod, LONGEST.get(resetPeriod) ?? null])
}
