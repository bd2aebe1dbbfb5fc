import type { JsonObject } from '../domain/metadata.ts'
import type { Db } from './database.ts'

export const NOTICE_STATES = ['PENDING', 'DONE', 'FAILED'] as const
type NoticeState = (typeof NOTICE_STATES)[number]

export interface NoticeRow {
  seq: number
  provider: string
  eventId: string
  type: string
  payload: JsonObject
  state: NoticeState
  attempts: number
  lastError: string | null
  receivedAt: number
  handledAt: number | null
}

const SELECT = `select seq, provider, event_id as "eventId", type, payload, state, attempts,
  last_error as "lastError", received_at as "receivedAt", handled_at as "handledAt" from notice`

/** The number it got; null when the provider had sent it before. */
export async function insertNotice(
  db: Db,
  appId: string,
  notice: { provider: string; eventId: string; type: string; body: string },
): Promise<number | null> {
  const { rows } = await db.query<{ seq: number }>(
    `insert into notice (app_id, provider, event_id, type, payload) values ($1, $2, $3, $4, $5)
     on conflict (app_id, provider, event_id) do nothing returning seq`,
    [appId, notice.provider, notice.eventId, notice.type, notice.body],
  )
  return rows[0]?.seq ?? null
}

export async function findNotice(db: Db, appId: string, seq: number): Promise<NoticeRow | null> {
  const { rows } = await db.query<NoticeRow>(`${SELECT} where app_id = $1 and seq = $2`, [appId, seq])
  return rows[0] ?? null
}

export interface NoticeFilter {
  provider: string | null
  state: NoticeState | null
  type: string | null
}

/** Newest first, from the one before `before`. */
export async function listNotices(
  db: Db,
  appId: string,
  { provider, state, type }: NoticeFilter,
  before: number | null,
  limit: number,
): Promise<NoticeRow[]> {
  const { rows } = await db.query<NoticeRow>(
    `${SELECT} where app_id = $1 and ($2::text is null or provider = $2) and ($3::text is null or state = $3)
       and ($4::text is null or type = $4) and ($5::bigint is null or seq < $5)
     order by seq desc limit $6`,
    [appId, provider, state, type, before, limit],
  )
  return rows
}

export async function countNotices(
  db: Db,
  appId: string,
): Promise<{ pending: number; done: number; failed: number }> {
  const { rows } = await db.query<{ pending: number; done: number; failed: number }>(
    `select count(*) filter (where state = 'PENDING') as pending, count(*) filter (where state = 'DONE') as done,
       count(*) filter (where state = 'FAILED') as failed from notice where app_id = $1`,
    [appId],
  )
  return rows[0] ?? { pending: 0, done: 0, failed: 0 }
}

export async function noteDone(db: Db, appId: string, seq: number): Promise<void> {
  await db.query(
    `update notice set state = 'DONE', attempts = attempts + 1, last_error = null, handled_at = now()
     where app_id = $1 and seq = $2`,
    [appId, seq],
  )
}

/** What went wrong; `final` when it is not tried again by itself. What another process has done meanwhile is done. */
export async function noteFailure(
  db: Db,
  appId: string,
  seq: number,
  error: string,
  final: boolean,
): Promise<void> {
  await db.query(
    `update notice set state = case when $4 then 'FAILED' else 'PENDING' end, attempts = attempts + 1,
       last_error = $3, handled_at = now() where app_id = $1 and seq = $2 and state = 'PENDING'`,
    [appId, seq, error, final],
  )
}

/** Takes failed ones, or one in whatever state, as if they had just come; returns their numbers. */
export async function reopenNotices(db: Db, appId: string, seq: number | null): Promise<number[]> {
  const { rows } = await db.query<{ seq: number }>(
    `update notice set state = 'PENDING', attempts = 0, last_error = null
     where app_id = $1 and (seq = $2 or ($2::bigint is null and state = 'FAILED')) returning seq`,
    [appId, seq],
  )
  return rows.map((row) => row.seq)
}
