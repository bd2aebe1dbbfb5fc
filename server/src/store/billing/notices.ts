import type { JsonObject } from '../../domain/metadata.ts'
import type { HomeDb } from '../connection/places.ts'
import { violates } from '../connection/refusals.ts'

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

export const NOTICE_COLUMNS = `seq, provider, event_id as "eventId", type, payload, state, attempts,
  last_error as "lastError", received_at as "receivedAt", handled_at as "handledAt"`

const SELECT = `select ${NOTICE_COLUMNS} from notice`

/** Its number; null: received before. */
export async function insertNotice(
  db: HomeDb,
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

export async function findNotice(db: HomeDb, appId: string, seq: number): Promise<NoticeRow | null> {
  const { rows } = await db.query<NoticeRow>(`${SELECT} where app_id = $1 and seq = $2`, [appId, seq])
  return rows[0] ?? null
}

export interface NoticeFilter {
  provider: string | null
  state: NoticeState | null
  type: string | null
}

/** Newest first, starting before `before`. */
export async function listNotices(
  db: HomeDb,
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
  db: HomeDb,
  appId: string,
): Promise<{ pending: number; done: number; failed: number }> {
  const { rows } = await db.query<{ pending: number; done: number; failed: number }>(
    `select count(*) filter (where state = 'PENDING') as pending, count(*) filter (where state = 'DONE') as done,
       count(*) filter (where state = 'FAILED') as failed from notice where app_id = $1`,
    [appId],
  )
  return rows[0] ?? { pending: 0, done: 0, failed: 0 }
}

export async function noteDone(db: HomeDb, appId: string, seq: number): Promise<void> {
  await db.query(
    `update notice set state = 'DONE', attempts = attempts + 1, last_error = null, handled_at = now()
     where app_id = $1 and seq = $2`,
    [appId, seq],
  )
}

interface Failure {
  message: string
  /** it will not be retried automatically */
  final: boolean
  /** the provider's id of a payment that could not be granted */
  paymentRef: string | null
}

/**
 * Records a failure. Of several events about one payment that granted nothing, one is FAILED and the others are done.
 * An event that another process has completed in the meantime stays done.
 */
export async function noteFailure(db: HomeDb, appId: string, seq: number, failure: Failure): Promise<void> {
  const { message, final, paymentRef } = failure
  const note = () =>
    db.query(
      `update notice n set attempts = attempts + 1, last_error = $3, payment_ref = $5, handled_at = now(),
         state = case when not $4 then 'PENDING'
           when exists (select from notice o where o.app_id = $1 and o.provider = n.provider
             and o.payment_ref = $5 and o.state = 'FAILED') then 'DONE'
           else 'FAILED' end
       where app_id = $1 and seq = $2 and state = 'PENDING'`,
      [appId, seq, message, final, paymentRef],
    )
  await note().catch((error) => {
    // Another event about the same payment was recorded concurrently.
    if (violates(error, FAILED_PAYMENT)) return note()
    throw error
  })
}

const FAILED_PAYMENT = 'notice_failed_payment'

/**
 * Records a problem found without a webhook event as if there had been one, so that it is shown in the dashboard and
 * can be replayed.
 */
export async function insertFoundFailure(
  db: HomeDb,
  appId: string,
  found: { provider: string; type: string; ref: string; message: string; paymentRef: string },
): Promise<void> {
  const { provider, type, ref, message, paymentRef } = found
  const eventId = `${type} ${ref}`
  const payload = { id: eventId, object: 'event', type, data: { object: { id: ref } } }
  try {
    await db.query(
      `insert into notice (app_id, provider, event_id, type, payload, state, attempts, last_error, payment_ref,
         handled_at)
       values ($1, $2, $3, $4, $5, 'FAILED', 1, $6, $7, now())
       on conflict (app_id, provider, event_id) do update set state = 'FAILED', last_error = excluded.last_error,
         payment_ref = excluded.payment_ref, attempts = notice.attempts + 1, handled_at = now()`,
      [appId, provider, eventId, type, JSON.stringify(payload), message, paymentRef],
    )
  } catch (error) {
    // There is already such an event.
    if (!violates(error, FAILED_PAYMENT)) throw error
  }
}

/** Requeues failed events, or one in any state; returns their numbers. */
export async function reopenNotices(db: HomeDb, appId: string, seq: number | null): Promise<number[]> {
  const { rows } = await db.query<{ seq: number }>(
    `update notice set state = 'PENDING', attempts = 0, last_error = null
     where app_id = $1 and (seq = $2 or ($2::bigint is null and state = 'FAILED')) returning seq`,
    [appId, seq],
  )
  return rows.map((row) => row.seq)
}
