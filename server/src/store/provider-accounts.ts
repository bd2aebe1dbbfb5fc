import type { Db } from './database.ts'

/** What an app has set for a provider; the secrets are sealed. */
interface ProviderAccountRow {
  provider: string
  enabled: boolean
  secretKey: Buffer | null
  webhookSecret: Buffer | null
  previousWebhookSecret: Buffer | null
  updatedAt: number
}

const COLUMNS = `provider, enabled, secret_key as "secretKey", webhook_secret as "webhookSecret",
  previous_webhook_secret as "previousWebhookSecret", updated_at as "updatedAt"`

export async function findProviderAccount(
  db: Db,
  appId: string,
  provider: string,
): Promise<ProviderAccountRow | null> {
  const { rows } = await db.query<ProviderAccountRow>(
    `select ${COLUMNS} from provider_account where app_id = $1 and provider = $2`,
    [appId, provider],
  )
  return rows[0] ?? null
}

export async function upsertProviderAccount(
  db: Db,
  appId: string,
  a: Omit<ProviderAccountRow, 'updatedAt'>,
): Promise<void> {
  await db.query(
    `insert into provider_account (app_id, provider, enabled, secret_key, webhook_secret, previous_webhook_secret)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (app_id, provider) do update set enabled = excluded.enabled, secret_key = excluded.secret_key,
       webhook_secret = excluded.webhook_secret,
       previous_webhook_secret = excluded.previous_webhook_secret, updated_at = now()`,
    [appId, a.provider, a.enabled, a.secretKey, a.webhookSecret, a.previousWebhookSecret],
  )
}

export async function deleteProviderAccount(db: Db, appId: string, provider: string): Promise<void> {
  await db.query(`delete from provider_account where app_id = $1 and provider = $2`, [appId, provider])
}
