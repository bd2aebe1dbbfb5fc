import { type Credit, type CreditState, creditState, type NewCredit } from '../../domain/credit.ts'
import type { ProviderRef } from '../../domain/provider-ref.ts'
import type { UnheldCredit } from '../../domain/purse.ts'
import { timestamp, timestampOrNull } from '../connection/database.ts'
import type { HomeDb } from '../connection/places.ts'

export interface CreditRow extends Credit {
  seq: number
  userUid: number
  createdAt: number
  /** units that were paid for; null: not bought through a provider */
  bought: number | null
  /** where it was paid; null: not bought */
  provider: string | null
}

/** The payment of a credit. */
export interface CreditPurchase {
  provider: string
  /** the provider's id of what was paid */
  ref: string
  units: number
  /** null: not known */
  paid: { amount: number; currency: string } | null
}

const COLUMNS = `id, seq, user_uid as "userUid", feature_id as "featureId", amount, used, kind, priority,
  effective_at as "effectiveAt", expires_at as "expiresAt", voided_at as "voidedAt", reason, created_at as "createdAt",
  bought, provider`

/** Returns its position; null: the id is taken. */
export async function insertCredit(
  db: HomeDb,
  appId: string,
  userUid: number,
  credit: NewCredit & { id: string; effectiveAt: number },
  now: number,
  purchase: CreditPurchase | null = null,
): Promise<number | null> {
  const { rows } = await db.query<{ seq: number }>(
    `insert into credit (app_id, id, user_uid, feature_id, amount, kind, priority, effective_at, expires_at, reason,
       created_at, provider, provider_ref, bought, paid, currency, ended)
     values ($1, $2, $3, $4, $5::bigint, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $5::bigint = 0) on conflict do nothing returning seq`,
    [
      appId,
      credit.id,
      userUid,
      credit.featureId,
      credit.amount,
      credit.kind,
      credit.priority,
      timestamp(credit.effectiveAt),
      timestampOrNull(credit.expiresAt),
      credit.reason,
      timestamp(now),
      purchase?.provider ?? null,
      purchase?.ref ?? null,
      purchase?.units ?? null,
      purchase?.paid?.amount ?? null,
      purchase?.paid?.currency ?? null,
    ],
  )
  return rows[0]?.seq ?? null
}

/** How a credit was paid for, with nulls if it was not bought; null: there is no such credit. */
export async function findPurchase(
  db: HomeDb,
  appId: string,
  id: string,
): Promise<{ provider: string | null; ref: string | null } | null> {
  const { rows } = await db.query<{ provider: string | null; ref: string | null }>(
    `select provider, provider_ref as ref from credit where app_id = $1 and id = $2`,
    [appId, id],
  )
  return rows[0] ?? null
}

/** The credit that a payment bought. */
export async function findBoughtCredit(
  db: HomeDb,
  { appId, provider, ref }: ProviderRef,
): Promise<CreditRow | null> {
  const { rows } = await db.query<CreditRow>(
    `select ${COLUMNS} from credit where app_id = $1 and provider = $2 and provider_ref = $3`,
    [appId, provider, ref],
  )
  return rows[0] ?? null
}

/** The credits that these payments bought, by the provider's ids. */
export async function boughtCredits(
  db: HomeDb,
  appId: string,
  refs: readonly { provider: string; ref: string }[],
): Promise<(CreditRow & { provider: string; ref: string })[]> {
  const { rows } = await db.query<CreditRow & { provider: string; ref: string }>(
    `select ${COLUMNS}, provider_ref as ref from credit
     where app_id = $1 and provider_ref is not null
       and (provider, provider_ref) in (select * from unnest($2::text[], $3::text[]))`,
    [appId, refs.map(({ provider }) => provider), refs.map(({ ref }) => ref)],
  )
  return rows
}

/** After a refund, a dispute, or its end. At least what is used; the spender's row is locked. */
export async function setCreditAmount(db: HomeDb, appId: string, id: string, amount: number): Promise<void> {
  await db.query(
    `update credit set amount = $3::bigint, ended = voided_at is not null or used >= $3::bigint
     where app_id = $1 and id = $2`,
    [appId, id, amount],
  )
}

export async function findCredit(db: HomeDb, appId: string, id: string): Promise<CreditRow | null> {
  const { rows } = await db.query<CreditRow>(`select ${COLUMNS} from credit where app_id = $1 and id = $2`, [
    appId,
    id,
  ])
  return rows[0] ?? null
}

/** Ends those that are spent or have expired, and returns the number of the others that can be used. */
export async function endCredits(
  db: HomeDb,
  appId: string,
  userUid: number,
  featureId: string,
  now: number,
): Promise<number> {
  const of = [appId, userUid, featureId]
  await db.query(
    `update credit set ended = true
     where app_id = $1 and user_uid = $2 and feature_id = $3 and not ended
       and (used >= amount or expires_at <= $4)`,
    [...of, timestamp(now)],
  )
  const { rows } = await db.query<{ count: number }>(
    `select count(*) from credit where app_id = $1 and user_uid = $2 and feature_id = $3 and not ended`,
    of,
  )
  return rows[0]?.count ?? 0
}

/** `reason` null: unchanged. The spender's row is locked. */
export async function voidCredit(
  db: HomeDb,
  appId: string,
  id: string,
  reason: string | null,
  now: number,
): Promise<void> {
  await db.query(
    `update credit set voided_at = $3, ended = true, reason = coalesce($4, reason)
     where app_id = $1 and id = $2`,
    [appId, id, timestamp(now), reason],
  )
}

interface CreditFilter {
  featureId: string | null
  state: CreditState | null
  /** position of the last credit of the previous page */
  after: number
  limit: number
}

/** Oldest first. */
export async function creditsOfUser(
  db: HomeDb,
  appId: string,
  userUid: number,
  { featureId, state, after, limit }: CreditFilter,
  now: number,
): Promise<CreditRow[]> {
  const found: CreditRow[] = []
  for (let from = after; found.length < limit; ) {
    const { rows } = await db.query<CreditRow>(
      `select ${COLUMNS} from credit
       where app_id = $1 and user_uid = $2 and ($3::text is null or feature_id = $3) and seq > $4
       order by seq limit $5`,
      [appId, userUid, featureId, from, limit],
    )
    found.push(...rows.filter((row) => state === null || creditState(row, now) === state))
    const last = rows.at(-1)
    if (!last || rows.length < limit) break
    from = last.seq
  }
  return found.slice(0, limit)
}

/** A position in the list of `creditsUsableFirst`. */
export interface CreditCursor {
  ended: boolean
  seq: number
}

/** Those that can be used or will be, then those that have ended, each newest first. */
export async function creditsUsableFirst(
  db: HomeDb,
  appId: string,
  userUid: number,
  after: CreditCursor,
  limit: number,
  now: number,
): Promise<(CreditRow & { ended: boolean })[]> {
  const { rows } = await db.query<CreditRow & { ended: boolean }>(
    `select * from (
       select ${COLUMNS}, ended or used >= amount or coalesce(expires_at <= $3, false) as ended
       from credit where app_id = $1 and user_uid = $2) c
     where ended > $4 or (ended = $4 and seq < $5)
     order by ended, seq desc limit $6`,
    [appId, userUid, timestamp(now), after.ended, after.seq, limit],
  )
  return rows
}

/** Those that can be used now, oldest first. */
export async function liveCredits(
  db: HomeDb,
  appId: string,
  userUid: number,
  now: number,
): Promise<Pick<CreditRow, 'id' | 'featureId' | 'amount' | 'used' | 'expiresAt'>[]> {
  const { rows } = await db.query(
    `select id, feature_id as "featureId", amount, used, expires_at as "expiresAt" from credit
     where app_id = $1 and user_uid = $2 and not ended and used < amount
       and effective_at <= $3 and (expires_at is null or expires_at > $3)
     order by seq`,
    [appId, userUid, timestamp(now)],
  )
  return rows
}

/** These credits as a decision needs them, whether or not they have ended. */
export async function heldCredits(
  db: HomeDb,
  appId: string,
  ids: readonly string[],
): Promise<UnheldCredit[]> {
  const { rows } = await db.query<UnheldCredit>(
    `select ${COLUMNS}, 0 as reserved, period, period_used as "periodUsed" from credit where app_id = $1 and id = any($2)`,
    [appId, ids],
  )
  return rows
}
