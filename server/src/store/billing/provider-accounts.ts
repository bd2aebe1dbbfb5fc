import type { HomeDb } from '../connection/places.ts'

/** An app's settings for a provider; the secrets are sealed. */
interface ProviderAccountRow {
  provider: string
  enabled: boolean
  secretKey: Buffer | null
  webhookSecret: Buffer | null
  previousWebhookSecret: Buffer | null
  /** for the sandbox: an owner has enabled it beside a live key */
  besideLive: boolean
  updatedAt: number
}

const COLUMNS = `provider, enabled, secret_key as "secretKey", webhook_secret as "webhookSecret",
  previous_webhook_secret as "previousWebhookSecret", beside_live as "besideLive", updated_at as "updatedAt"`

export async function findProviderAccount(
  db: HomeDb,
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
  db: HomeDb,
  appId: string,
  a: Omit<ProviderAccountRow, 'updatedAt'>,
): Promise<void> {
  await db.query(
    `insert into provider_account (app_id, provider, enabled, secret_key, webhook_secret, previous_webhook_secret,
       beside_live)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (app_id, provider) do update set enabled = excluded.enabled, secret_key = excluded.secret_key,
       webhook_secret = excluded.webhook_secret,
       previous_webhook_secret = excluded.previous_webhook_secret, beside_live = excluded.beside_live,
       updated_at = now()`,
    [appId, a.provider, a.enabled, a.secretKey, a.webhookSecret, a.previousWebhookSecret, a.besideLive],
  )
}

/** A new live key is set: the sandbox beside it must be confirmed again. */
export async function forgetBesideLive(db: HomeDb, appId: string): Promise<void> {
  await db.query(`update provider_account set beside_live = false where app_id = $1`, [appId])
}

/** Apps with their own key for this provider. */
export async function appsWithKey(db: HomeDb, provider: string): Promise<string[]> {
  const { rows } = await db.query<{ appId: string }>(
    `select app_id as "appId" from provider_account where provider = $1 and secret_key is not null order by 1`,
    [provider],
  )
  return rows.map(({ appId }) => appId)
}

/** False: there was none. */
export async function deleteProviderAccount(db: HomeDb, appId: string, provider: string): Promise<boolean> {
  const { rowCount } = await db.query(`delete from provider_account where app_id = $1 and provider = $2`, [
    appId,
    provider,
  ])
  return rowCount === 1
}
