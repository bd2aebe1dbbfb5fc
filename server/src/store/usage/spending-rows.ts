import type { CapCount } from '../../domain/cap.ts'
import { MAX_REFILLED_CREDITS } from '../../domain/limits.ts'
import type { ResetPeriod } from '../../domain/period.ts'
import {
  type HeldCredit,
  heldParts,
  type Spending,
  type UnheldCredit,
  withoutOldest,
} from '../../domain/purse.ts'
import type { HeldPart } from '../../domain/split.ts'
import { APP_NOW } from '../apps/apps.ts'
import type { KnownCredits } from './holding-questions.ts'

/** Sources of a feature in addition to the plan, as of this version of the spender's row. */
export interface HeldSpending extends Spending {
  version: number
  /** reservations of the feature that hold something */
  live: number
  /** when the first of them expires, or of those that draw on it; Infinity: never */
  heldUntil: number
}

/**
 * Other sources of a feature, as JSON: credits as lists, and the parts of live reservations. Of the credits that have
 * ended, a revert refills the newest. Reservations are in order of expiry, so that PostgreSQL takes their index even before it
 * has statistics, and reads none of those that are over. Of the counts of the plan's caps, only those of the user and the entities asked about:
 * there may be any number of entities.
 */
const CREDIT = `json_build_array(k.id, k.kind, k.priority, ms_of(k.effective_at), ms_of(k.expires_at), ms_of(k.voided_at),
  k.seq, k.amount, k.used, k.period, k.period_used, k.reason)`
const CAP = `json_build_array(nullif(k.entity, ''), k.period, k."limit", ms_of(k.window_start), k.used)`
const HELD = 'json_build_array(ms_of(k.expires_at), k.split)'
const OWN = 'k.app_id = s.app_id and k.user_uid = s.user_uid and k.feature_id = q.feature_id'
export const SPENDING = `left join lateral (
  select json_build_object('version', s.version, 'feature', q.feature_id, 'owed', s.features -> q.feature_id -> 'owed',
    'drawn', s.features -> q.feature_id -> 'drawn',
    'credits', case when s.version = q.known_version and s.user_uid = q.known_uid then null
       else coalesce((select json_agg(${CREDIT}) from (
         select * from credit k where ${OWN} and not ended
         union all
         (select * from credit k where ${OWN} and ended order by seq desc limit ${MAX_REFILLED_CREDITS})) k), '[]') end,
    'held', (select json_agg(${HELD}) from (select k.split, k.expires_at from usage_reservation k
       where ${OWN} and k.state = 'HELD' and k.expires_at > ${APP_NOW} order by k.expires_at) k),
    'drawing', (select json_agg(${HELD}) from usage_reservation k
       where k.app_id = s.app_id and k.user_uid = s.user_uid and k.pool_id = q.feature_id and k.state = 'HELD'
         and k.expires_at > ${APP_NOW}),
    'caps', (select json_agg(${CAP}) from (
       select * from usage_cap k where ${OWN} and k."limit" is not null
       union all
       select * from usage_cap k where ${OWN} and k."limit" is null
         and k.entity = any(array_append(q.entities::text[], ''))) k)) as spending
  from spender s where q.spends and s.app_id = u.app_id and s.user_uid = u.uid and s.features ? q.feature_id
  offset 0) p on true`

type ListedCredit = [
  id: string,
  kind: HeldCredit['kind'],
  priority: number,
  effectiveAt: number,
  expiresAt: number | null,
  voidedAt: number | null,
  seq: number,
  amount: number,
  used: number,
  period: string | null,
  periodUsed: number,
  reason: string | null,
]

type ListedHold = [expiresAt: number, parts: HeldPart[]]

interface ListedSpending {
  version: number
  feature: string
  owed: Spending['owed']
  drawn: Spending['drawn']
  /** null: as known */
  credits: ListedCredit[] | null
  held: ListedHold[] | null
  /** those that draw on the feature as a pool */
  drawing: ListedHold[] | null
  caps:
    | [entity: string | null, period: ResetPeriod, limit: number | null, windowStart: number, used: number][]
    | null
}

export function spendingFrom(text: string, known: KnownCredits | null): HeldSpending {
  const listed = JSON.parse(text) as ListedSpending
  const { version, owed, drawn, caps } = listed
  const [own, drawing] = [listed.held ?? [], listed.drawing ?? []]
  const partsOf = (holds: readonly ListedHold[]) => holds.flatMap(([, parts]) => parts)
  const held = heldParts(listed.feature, partsOf(own), partsOf(drawing))
  const heldUntil = Math.min(...own.map(([at]) => at), ...drawing.map(([at]) => at))
  const credits = listed.credits ? withoutOldest(listed.credits.map(creditFrom)) : known?.credits
  if (!credits) throw new Error('credits that are not known were not read')
  const counted = (caps ?? []).map(
    ([entity, period, limit, windowStart, used]): CapCount => ({
      entity,
      period,
      limit,
      windowStart,
      used,
    }),
  )
  return { version, live: own.length, heldUntil, owed, drawn, credits, held, caps: counted }
}

function creditFrom(listed: ListedCredit): UnheldCredit {
  const [
    id,
    kind,
    priority,
    effectiveAt,
    expiresAt,
    voidedAt,
    seq,
    amount,
    used,
    period,
    periodUsed,
    reason,
  ] = listed
  const paid = { amount, used, reserved: 0 as const, period, periodUsed }
  return { id, kind, priority, effectiveAt, expiresAt, voidedAt, seq, ...paid, reason }
}
