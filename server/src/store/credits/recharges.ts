import type { RechargeHealth, RechargeRule } from '../../domain/recharge.ts'
import { APP_NOW } from '../apps/apps.ts'
import { timestamp, timestampOrNull } from '../connection/database.ts'
import type { HomeDb } from '../connection/places.ts'

export interface RechargeUser {
  appId: string
  userUid: number
}

/** User and feature of a rule. */
export interface RechargeKey extends RechargeUser {
  featureId: string
}

export interface RechargeRuleRow extends RechargeRule, RechargeHealth {
  featureId: string
  /** names its charges, together with their number */
  id: string
  isUnderWay: boolean
  /** charged since a time, including a charge under way */
  spent: number
  /** null: nothing was charged yet, also not by an earlier rule */
  lastCharge: RechargeCharge | null
}

export interface RechargeCharge {
  /** in minor units */
  amount: number
  state: 'UNDER_WAY' | 'PAID' | 'DECLINED'
  /** by the app's clock */
  startedAt: number
}

const UNDER_WAY = `exists (select from recharge_attempt a where a.app_id = r.app_id and a.user_uid = r.user_uid
  and a.feature_id = r.feature_id and a.state = 'UNDER_WAY')`

/** Charged since $4, by the app's clock. */
const SPENT = `(select coalesce(sum(a.amount), 0)::bigint from recharge_attempt a
  where a.app_id = r.app_id and a.user_uid = r.user_uid and a.feature_id = r.feature_id
    and a.started_at >= $4 and a.state <> 'DECLINED')`

const LAST_CHARGE = `(select json_build_object('amount', a.amount, 'state', a.state,
    'startedAt', (extract(epoch from a.started_at) * 1000)::bigint)
  from recharge_attempt a
  where a.app_id = r.app_id and a.user_uid = r.user_uid and a.feature_id = r.feature_id
  order by a.started_at desc, a.session_id desc limit 1)`

const COLUMNS = `r.feature_id as "featureId", r.id, r.below, r.up_to as "upTo", r.price_id as "priceId",
  r.max_spend as "maxSpendPerPeriod", r.is_on as "isOn", r.declines, r.wait_until as "waitUntil", r.reason,
  ${UNDER_WAY} as "isUnderWay"`

/** Ordered by feature, with what was charged since then by the app's clock. `featureId` null: of all features. */
export async function rechargeRulesOf(
  db: HomeDb,
  { appId, userUid, featureId }: Omit<RechargeKey, 'featureId'> & { featureId: string | null },
  since: number,
): Promise<RechargeRuleRow[]> {
  const { rows } = await db.query<RechargeRuleRow>(
    `select ${COLUMNS}, ${SPENT} as spent, ${LAST_CHARGE} as "lastCharge"
     from recharge_rule r
     where app_id = $1 and user_uid = $2 and ($3::text is null or feature_id = $3) order by feature_id`,
    [appId, userUid, featureId, timestamp(since)],
  )
  return rows
}

/** The charges for a user and feature, with or without a rule. */
export async function rechargeChargesOf(
  db: HomeDb,
  { appId, userUid, featureId }: RechargeKey,
  since: number,
): Promise<Pick<RechargeRuleRow, 'isUnderWay' | 'spent'>> {
  const { rows } = await db.query<Pick<RechargeRuleRow, 'isUnderWay' | 'spent'>>(
    `select ${UNDER_WAY} as "isUnderWay", ${SPENT} as spent
     from (select $1::text as app_id, $2::bigint as user_uid, $3::text as feature_id) r`,
    [appId, userUid, featureId, timestamp(since)],
  )
  const [found] = rows
  if (!found) throw new Error('an aggregate returned no row')
  return found
}

/** Stores a rule or replaces it; its id and the number of its charges stay. The user is locked. */
export async function storeRechargeRule(
  db: HomeDb,
  { appId, userUid, featureId }: RechargeKey,
  rule: RechargeRule & RechargeHealth & { id: string },
): Promise<void> {
  await db.query(
    `insert into recharge_rule (app_id, user_uid, feature_id, id, below, up_to, price_id, max_spend, is_on, declines,
       wait_until, reason)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
     on conflict (app_id, user_uid, feature_id) do update set below = excluded.below, up_to = excluded.up_to,
       price_id = excluded.price_id, max_spend = excluded.max_spend, is_on = excluded.is_on,
       declines = excluded.declines, wait_until = excluded.wait_until, reason = excluded.reason`,
    [
      appId,
      userUid,
      featureId,
      rule.id,
      rule.below,
      rule.upTo,
      rule.priceId,
      rule.maxSpendPerPeriod,
      rule.isOn,
      rule.declines,
      timestampOrNull(rule.waitUntil),
      rule.reason,
    ],
  )
}

/** The user is locked. */
export async function setRechargeHealth(
  db: HomeDb,
  { appId, userUid, featureId }: RechargeKey,
  { isOn, declines, waitUntil, reason }: RechargeHealth,
): Promise<void> {
  await db.query(
    `update recharge_rule set is_on = $4, declines = $5, wait_until = $6, reason = $7
     where app_id = $1 and user_uid = $2 and feature_id = $3`,
    [appId, userUid, featureId, isOn, declines, timestampOrNull(waitUntil), reason],
  )
}

/** After a payment. A rule that is off stays off. The user is locked. */
export async function forgetDeclines(db: HomeDb, { appId, userUid, featureId }: RechargeKey): Promise<void> {
  await db.query(
    `update recharge_rule set declines = 0, wait_until = null, reason = null
     where app_id = $1 and user_uid = $2 and feature_id = $3 and is_on`,
    [appId, userUid, featureId],
  )
}

/** A charge under way goes on without its rule. */
export async function deleteRechargeRule(
  db: HomeDb,
  { appId, userUid, featureId }: RechargeKey,
): Promise<void> {
  await db.query(`delete from recharge_rule where app_id = $1 and user_uid = $2 and feature_id = $3`, [
    appId,
    userUid,
    featureId,
  ])
}

/** The number of the next charge of a rule; null: there is no such rule. */
export async function numberCharge(
  db: HomeDb,
  { appId, userUid, featureId }: RechargeKey,
): Promise<number | null> {
  const { rows } = await db.query<{ charges: number }>(
    `update recharge_rule set charges = charges + 1 where app_id = $1 and user_uid = $2 and feature_id = $3
     returning charges`,
    [appId, userUid, featureId],
  )
  return rows[0]?.charges ?? null
}

/** Fails if another charge of the user and feature is under way. */
export async function insertRechargeAttempt(
  db: HomeDb,
  { appId, userUid, featureId }: RechargeKey,
  { sessionId, amount, startedAt }: { sessionId: string; amount: number; startedAt: number },
): Promise<void> {
  await db.query(
    `insert into recharge_attempt (app_id, session_id, user_uid, feature_id, amount, started_at)
     values ($1, $2, $3, $4, $5, $6)`,
    [appId, sessionId, userUid, featureId, amount, timestamp(startedAt)],
  )
}

interface RechargeAttemptRow {
  userUid: number
  featureId: string
  state: 'UNDER_WAY' | 'PAID' | 'DECLINED'
  amount: number
  card: string | null
}

/** Notes that the provider is asked; returns the charge as it was before, and whether it was asked before. */
export async function noteChargeAsked(
  db: HomeDb,
  appId: string,
  sessionId: string,
): Promise<(RechargeAttemptRow & { isRetry: boolean }) | null> {
  const { rows } = await db.query<RechargeAttemptRow & { isRetry: boolean }>(
    `with before as (
       select app_id, session_id, asked_at from recharge_attempt where app_id = $1 and session_id = $2 for update
     )
     update recharge_attempt a set asked_at = clock_timestamp() from before
     where a.app_id = before.app_id and a.session_id = before.session_id
     returning a.user_uid as "userUid", a.feature_id as "featureId", a.state, a.amount, a.card,
       before.asked_at is not null as "isRetry"`,
    [appId, sessionId],
  )
  return rows[0] ?? null
}

/** The card of a charge never changes: its request must be the same each time. Returns the stored one; null: no charge. */
export async function holdChargeCard(
  db: HomeDb,
  appId: string,
  sessionId: string,
  card: string,
): Promise<string | null> {
  const { rows } = await db.query<{ card: string }>(
    `update recharge_attempt set card = coalesce(card, $3) where app_id = $1 and session_id = $2 returning card`,
    [appId, sessionId, card],
  )
  return rows[0]?.card ?? null
}

/**
 * Ends a charge, in the transaction of what follows from it. Returns null if it is no charge of a rule, or ended like that
 * before. A charge that was reported as declined may turn out to be paid, but not the other way round.
 */
export async function endRechargeAttempt(
  db: HomeDb,
  appId: string,
  sessionId: string,
  state: 'PAID' | 'DECLINED',
): Promise<Pick<RechargeKey, 'userUid' | 'featureId'> | null> {
  const { rows } = await db.query<Pick<RechargeKey, 'userUid' | 'featureId'>>(
    `update recharge_attempt set state = $3
     where app_id = $1 and session_id = $2 and (state = 'UNDER_WAY' or (state = 'DECLINED' and $3 = 'PAID'))
     returning user_uid as "userUid", feature_id as "featureId"`,
    [appId, sessionId, state],
  )
  return rows[0] ?? null
}

const BALANCE = `(select coalesce(sum(c.amount - c.used), 0) from credit c
  where c.app_id = r.app_id and c.user_uid = r.user_uid and c.feature_id = r.feature_id and not c.ended
    and c.effective_at <= ${APP_NOW} and (c.expires_at is null or c.expires_at > ${APP_NOW}))`

const DUE = `select r.app_id as "appId", r.user_uid as "userUid", r.feature_id as "featureId"
  from recharge_rule r join app on app.id = r.app_id
  where app.deleting_since is null and app.archived_at is null and r.is_on
    and (r.wait_until is null or r.wait_until <= ${APP_NOW}) and not ${UNDER_WAY} and ${BALANCE} < r.below`

/** Rules of these users that have something to buy now. */
export async function rechargesDueFor(db: HomeDb, users: readonly RechargeUser[]): Promise<RechargeKey[]> {
  const { rows } = await db.query<RechargeKey>(
    `${DUE} and (r.app_id, r.user_uid) in (select * from unnest($1::text[], $2::bigint[]))`,
    [users.map(({ appId }) => appId), users.map(({ userUid }) => userUid)],
  )
  return rows
}

/** The next page of all rules: those that have something to buy now, and the last rule of the page. */
export async function rechargesDue(
  db: HomeDb,
  after: RechargeKey | null,
  limit: number,
): Promise<{ due: RechargeKey[]; last: RechargeKey | null }> {
  const { rows: page } = await db.query<RechargeKey>(
    `select app_id as "appId", user_uid as "userUid", feature_id as "featureId" from recharge_rule
     where (app_id, user_uid, feature_id) > ($1, $2::bigint, $3) order by app_id, user_uid, feature_id limit $4`,
    [after?.appId ?? '', after?.userUid ?? 0, after?.featureId ?? '', limit],
  )
  const last = page.at(-1) ?? null
  if (page.length === 0) return { due: [], last: null }
  const { rows: due } = await db.query<RechargeKey>(
    `${DUE} and (r.app_id, r.user_uid, r.feature_id) in (select * from unnest($1::text[], $2::bigint[], $3::text[]))`,
    [
      page.map(({ appId }) => appId),
      page.map(({ userUid }) => userUid),
      page.map(({ featureId }) => featureId),
    ],
  )
  return { due, last: page.length < limit ? null : last }
}

/** A job that charges. It says all that is needed to find the charge once nothing is left of it here. */
export interface ChargeJob {
  appId: string
  sessionId: string
  provider: string
  amount: number
  /** Nothing was charged before, in real time. */
  since: number
}

/** Charges whose answer has been missing for this long. Their jobs may have given up. */
export async function staleCharges(db: HomeDb, minutes: number, limit: number): Promise<ChargeJob[]> {
  const { rows } = await db.query<ChargeJob>(
    `select a.app_id as "appId", a.session_id as "sessionId", s.provider, a.amount,
       (extract(epoch from s.created_at) * 1000)::bigint as since
     from recharge_attempt a join checkout_session s on s.app_id = a.app_id and s.id = a.session_id
     where a.state = 'UNDER_WAY' and coalesce(a.asked_at, '-infinity') < now() - make_interval(mins => $1)
     order by a.asked_at nulls first limit $2`,
    [minutes, limit],
  )
  return rows
}
