import { type HomeDb, rowsOf } from '../connection/places.ts'

/** Why the service disabled an endpoint: it answered 410 Gone, or failed for days. */
export const DISABLED_REASONS = ['GONE', 'FAILING'] as const
export type DisabledReason = (typeof DISABLED_REASONS)[number]

/** A URL that receives events. */
export interface EndpointRow {
  id: string
  url: string
  /** empty: all types */
  types: string[]
  description: string | null
  enabled: boolean
  /** null: enabled, or disabled by a caller */
  disabledReason: DisabledReason | null
  disabledAt: number | null
  failingSince: number | null
  /** while a secret is being rotated: until when the previous one signs as well */
  previousSecretUntil: number | null
  createdAt: number
}

const SELECT = `select id, url, types, description, enabled, disabled_reason as "disabledReason",
  disabled_at as "disabledAt", failing_since as "failingSince",
  case when previous_secret_until > now() then previous_secret_until end as "previousSecretUntil",
  created_at as "createdAt" from webhook_endpoint`

/** Oldest first. */
export function listEndpoints(db: HomeDb, appId: string): Promise<EndpointRow[]> {
  return rowsOf<EndpointRow>({ text: `${SELECT} where app_id = $1 order by seq`, values: [appId] })(db)
}

export async function findEndpoint(db: HomeDb, appId: string, id: string): Promise<EndpointRow | null> {
  const { rows } = await db.query<EndpointRow>(`${SELECT} where app_id = $1 and id = $2`, [appId, id])
  return rows[0] ?? null
}

/** The same, locked until the transaction ends. */
export async function lockEndpoint(db: HomeDb, appId: string, id: string): Promise<EndpointRow | null> {
  const { rows } = await db.query<EndpointRow>(`${SELECT} where app_id = $1 and id = $2 for update`, [
    appId,
    id,
  ])
  return rows[0] ?? null
}

export async function countEndpoints(db: HomeDb, appId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*) as count from webhook_endpoint where app_id = $1`,
    [appId],
  )
  return rows[0]?.count ?? 0
}

export async function insertEndpoint(
  db: HomeDb,
  appId: string,
  e: Pick<EndpointRow, 'id' | 'url' | 'types' | 'description'> & { secret: Buffer },
): Promise<void> {
  await db.query(
    `insert into webhook_endpoint (app_id, id, url, types, description, secret) values ($1, $2, $3, $4, $5, $6)`,
    [appId, e.id, e.url, e.types, e.description, e.secret],
  )
}

export async function updateEndpoint(
  db: HomeDb,
  appId: string,
  e: Pick<EndpointRow, 'id' | 'url' | 'types' | 'description'>,
): Promise<void> {
  await db.query(
    `update webhook_endpoint set url = $3, types = $4, description = $5 where app_id = $1 and id = $2`,
    [appId, e.id, e.url, e.types, e.description],
  )
}

/** Pending deliveries continue. Earlier failures no longer count. */
export async function enableEndpoint(db: HomeDb, appId: string, id: string): Promise<void> {
  await db.query(
    `update webhook_endpoint set enabled = true, disabled_at = null, disabled_reason = null, failing_since = null
     where app_id = $1 and id = $2 and not enabled`,
    [appId, id],
  )
}

/** `reason` is null if a caller disables it. */
export async function disableEndpoint(
  db: HomeDb,
  appId: string,
  id: string,
  reason: DisabledReason | null,
): Promise<void> {
  await db.query(
    `update webhook_endpoint set enabled = false, disabled_at = now(), disabled_reason = $3
     where app_id = $1 and id = $2 and enabled`,
    [appId, id, reason],
  )
}

/** The present secret becomes the previous one. */
export async function replaceSecret(
  db: HomeDb,
  appId: string,
  id: string,
  secret: Buffer,
  overlapHours: number,
): Promise<void> {
  await db.query(
    `update webhook_endpoint set secret = $3, previous_secret = secret,
       previous_secret_until = now() + make_interval(hours => $4)
     where app_id = $1 and id = $2`,
    [appId, id, secret, overlapHours],
  )
}

/** False: there is none. Its deliveries are deleted later. */
export async function deleteEndpoint(db: HomeDb, appId: string, id: string): Promise<boolean> {
  const { rowCount } = await db.query(`delete from webhook_endpoint where app_id = $1 and id = $2`, [
    appId,
    id,
  ])
  return rowCount === 1
}
