import { createHmac } from 'node:crypto'
import { type BillingProvider, ProviderError } from '../../billing/provider.ts'
import { sandboxProvider } from '../../billing/sandbox/sandbox.ts'
import type { BillingSettings } from '../../billing/settings.ts'
import { stripeClient } from '../../billing/stripe/client.ts'
import { stripeProvider } from '../../billing/stripe/stripe.ts'
import { badUserInput, quote, TollgateError } from '../../domain/errors.ts'
import { findProviderAccount } from '../../store/billing/provider-accounts.ts'
import type { HomeDb } from '../../store/connection/places.ts'
import { decrypt, encrypt } from '../../store/secrets/keyring.ts'
import type { Service } from '../call/service.ts'

export const PROVIDERS = ['sandbox', 'stripe'] as const
export type ProviderName = (typeof PROVIDERS)[number]

export const ACCOUNT_SOURCES = ['NONE', 'BUILT_IN', 'DASHBOARD', 'ENVIRONMENT'] as const

/** An app's account at a provider, with its secrets decrypted. */
export interface UnsealedAccount {
  provider: ProviderName
  enabled: boolean
  source: (typeof ACCOUNT_SOURCES)[number]
  secretKey: string | null
  /** the current one and, during a rotation, the previous one */
  webhookSecrets: string[]
  updatedAt: number | null
}

export function checkProvider(name: string): ProviderName {
  const known = PROVIDERS.find((provider) => provider === name)
  if (!known)
    throw badUserInput(`provider must be one of ${PROVIDERS.join(', ')}; it is ${quote(name)}`, 'provider')
  return known
}

export async function accountOf(
  { pool, billing }: { pool: HomeDb; billing: BillingSettings },
  appId: string,
  provider: ProviderName,
): Promise<UnsealedAccount> {
  const row = await findProviderAccount(pool, appId, provider)
  if (provider === 'sandbox') {
    const { secretKey } = await accountOf({ pool, billing }, appId, 'stripe')
    const mayBe = secretKey === null || !isLiveKey(secretKey) || row?.besideLive === true
    return {
      provider,
      enabled: (row?.enabled ?? true) && mayBe,
      source: 'BUILT_IN',
      secretKey: null,
      webhookSecrets: [sandboxSecret(billing, appId)],
      updatedAt: row?.updatedAt ?? null,
    }
  }
  if (billing.environment?.appId === appId) {
    const { secretKey, webhookSecrets } = billing.environment
    return { provider, enabled: true, source: 'ENVIRONMENT', secretKey, webhookSecrets, updatedAt: null }
  }
  const open = (field: SealedField, sealed: Buffer | null | undefined) =>
    sealed ? decrypt(billing.sealingKey, encryptionContext(appId, field), sealed).toString() : null
  const secretKey = open('secret key', row?.secretKey)
  const webhookSecrets = [
    open('webhook secret', row?.webhookSecret),
    open('webhook secret', row?.previousWebhookSecret),
  ].filter((secret) => secret !== null)
  return {
    provider,
    enabled: secretKey !== null && row?.enabled === true,
    source: row ? 'DASHBOARD' : 'NONE',
    secretKey,
    webhookSecrets,
    updatedAt: row?.updatedAt ?? null,
  }
}

/** Whether the key takes real money. */
export const isLiveKey = (key: string): boolean => !/^[a-z]+_test_/.test(key)

/** Whether the sandbox of an app accepts payments. Checked in the transaction of each payment. */
export const sandboxIsOn =
  (billing: BillingSettings) =>
  async (db: HomeDb, appId: string): Promise<boolean> =>
    (await accountOf({ pool: db, billing }, appId, 'sandbox')).enabled

type SealedField = 'secret key' | 'webhook secret'

/** Fails without a master key: the sealing key would be stored unencrypted next to the sealed secrets. */
export function sealed(
  { billing, keyring }: Pick<Service, 'billing' | 'keyring'>,
  appId: string,
  field: SealedField,
  secret: string,
): Buffer {
  if (keyring.isEmpty) {
    throw badUserInput(
      'Provider secrets cannot be stored without a master key: set TOLLGATE_MASTER_KEY or TOLLGATE_MASTER_KEY_FILE and restart the service',
    )
  }
  return encrypt(billing.sealingKey, encryptionContext(appId, field), Buffer.from(secret))
}

const encryptionContext = (appId: string, field: SealedField): string =>
  JSON.stringify(['stripe', appId, field])

/** One secret per app, derived from a secret of the installation, so that nothing is stored. */
export function sandboxSecret({ sandboxKey }: BillingSettings, appId: string): string {
  return `whsec_${createHmac('sha256', sandboxKey).update(appId).digest('base64url')}`
}

/** The provider, with the app's account. */
export async function providerOf(service: Service, appId: string, name: string): Promise<BillingProvider> {
  const provider = checkProvider(name)
  switch (provider) {
    case 'sandbox':
      return sandboxProvider(service.pool, appId, service.billing.publicUrl(), sandboxIsOn(service.billing))
    case 'stripe': {
      const { secretKey } = await accountOf(service, appId, provider)
      if (secretKey !== null)
        return stripeProvider(await stripeClient(secretKey, service.billing.stripeApiBase))
      throw new ProviderError('refused', 'no secret key is set for this app; set one in the dashboard')
    }
  }
}

/** Calls a provider for a member, and turns its rejection into an error for them. */
export async function askingProvider<T>(name: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    throw new TollgateError('BILLING_PROVIDER_ERROR', providerWords(name, error))
  }
}

export function providerWords(name: string, { kind, message }: ProviderError): string {
  return kind === 'unreachable'
    ? `${name} is unreachable; retry (${message})`
    : `${name} rejected the request: ${message}`
}
