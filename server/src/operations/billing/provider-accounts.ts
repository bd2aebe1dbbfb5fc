import { badUserInput } from '../../domain/errors.ts'
import { type StillPaid, stillPaid } from '../../store/apps/remove-app.ts'
import {
  deleteProviderAccount,
  findProviderAccount,
  forgetBesideLive,
  upsertProviderAccount,
} from '../../store/billing/provider-accounts.ts'
import { requireApp } from '../apps/apps.ts'
import type { Call } from '../call/call.ts'
import { mutate } from '../call/mutate.ts'
import type { Service } from '../call/service.ts'
import {
  accountOf,
  askingProvider,
  checkProvider,
  isLiveKey,
  PROVIDERS,
  type ProviderName,
  providerOf,
  sealed,
  type UnsealedAccount,
} from './provider-of.ts'
import { sandboxWarning } from './sandbox-warning.ts'

/** An account as shown to members, without its secrets. */
export interface ProviderAccount extends Omit<UnsealedAccount, 'secretKey' | 'webhookSecrets'> {
  keyHint: string | null
  livemode: boolean | null
  webhookSecrets: number
  webhookUrl: string
  warning: string | null
}

interface AccountInput {
  enabled: boolean | null
  secretKey: string | null
  webhookSecret: string | null
  dropPreviousWebhookSecret: boolean
}

export async function providerAccounts({
  service,
  appId,
}: Pick<Call, 'service' | 'appId'>): Promise<ProviderAccount[]> {
  await requireApp(service.pool, appId)
  return Promise.all(PROVIDERS.map((provider) => shown(service, appId, provider)))
}

async function shown(service: Service, appId: string, provider: ProviderName): Promise<ProviderAccount> {
  const { secretKey, webhookSecrets, ...account } = await accountOf(service, appId, provider)
  return {
    ...account,
    keyHint: secretKey?.slice(-4) ?? null,
    livemode: secretKey === null ? null : isLiveKey(secretKey),
    webhookSecrets: webhookSecrets.length,
    webhookUrl: `${service.billing.publicUrl()}/webhooks/${provider}/${encodeURIComponent(appId)}`,
    warning: provider === 'sandbox' ? await sandboxWarning(service, appId) : null,
  }
}

export async function setProviderAccount(
  call: Call,
  name: string,
  input: AccountInput,
): Promise<ProviderAccount> {
  const { appId } = call
  const provider = checkProvider(name)
  checkInput(provider, input)
  const { billing } = call.service
  refuseEnvironment(call.service, appId, provider)
  await mutate(call, async (tx) => {
    const now = await findProviderAccount(tx, appId, provider)
    const key = input.secretKey
    const secret = input.webhookSecret
    const webhookSecret =
      secret === null ? (now?.webhookSecret ?? null) : sealed(call.service, appId, 'webhook secret', secret)
    if (key !== null && isLiveKey(key)) await forgetBesideLive(tx, appId)
    const stripe = await accountOf({ pool: tx, billing }, appId, 'stripe')
    // Enabling the sandbox beside a live key must be deliberate.
    const live = stripe.secretKey !== null && isLiveKey(stripe.secretKey)
    const previous = secret === null ? now?.previousWebhookSecret : now?.webhookSecret
    await upsertProviderAccount(tx, appId, {
      provider,
      enabled: input.enabled ?? now?.enabled ?? true,
      secretKey: key === null ? (now?.secretKey ?? null) : sealed(call.service, appId, 'secret key', key),
      webhookSecret,
      previousWebhookSecret: input.dropPreviousWebhookSecret ? null : (previous ?? null),
      besideLive:
        provider === 'sandbox' &&
        (input.enabled === null ? (now?.besideLive ?? false) : input.enabled && live),
    })
  })
  return shown(call.service, appId, provider)
}

function checkInput(provider: ProviderName, { secretKey, webhookSecret }: AccountInput): void {
  if (provider === 'sandbox' && (secretKey !== null || webhookSecret !== null)) {
    throw badUserInput('The sandbox does not accept secrets; it can only be enabled or disabled')
  }
  if (secretKey !== null && !/^(sk|rk)_[\x21-\x7e]{4,250}$/.test(secretKey)) {
    throw badUserInput(
      'secretKey must be a secret or restricted key of Stripe, which starts with sk_ or rk_',
      'secretKey',
    )
  }
  if (webhookSecret !== null && !/^whsec_[\x21-\x7e]{4,250}$/.test(webhookSecret)) {
    throw badUserInput(
      'webhookSecret must be the signing secret of the webhook, which starts with whsec_',
      'webhookSecret',
    )
  }
}

function refuseEnvironment({ billing }: Service, appId: string, provider: ProviderName): void {
  if (provider === 'stripe' && billing.environment?.appId === appId) {
    throw badUserInput(
      'This app uses the STRIPE_SECRET_KEY of the environment. Change that variable, or restart without it.',
    )
  }
}

export async function removeProviderAccount(call: Call, name: string): Promise<ProviderAccount> {
  const { appId } = call
  const provider = checkProvider(name)
  refuseEnvironment(call.service, appId, provider)
  await mutate(call, (tx) => deleteProviderAccount(tx, appId, provider))
  return shown(call.service, appId, provider)
}

/** Open charges at a provider that continue after its keys are removed. */
export async function providerUse({ service, appId }: Call, name: string): Promise<StillPaid> {
  await requireApp(service.pool, appId)
  return stillPaid(service.pool, appId, checkProvider(name))
}

/** Sends a small request to the provider. A rejection is a result, not a failure. */
export async function testProviderAccount(
  { service, appId }: Pick<Call, 'service' | 'appId'>,
  name: string,
): Promise<{ ok: boolean; message: string }> {
  await requireApp(service.pool, appId)
  const provider = checkProvider(name)
  try {
    const found = await askingProvider(provider, async () =>
      (await providerOf(service, appId, provider)).listPrices(),
    )
    const prices = found.length === 1 ? '1 price' : `${found.length} prices`
    return {
      ok: true,
      message: provider === 'sandbox' ? 'The sandbox is built in.' : `Connected to Stripe; found ${prices}.`,
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return { ok: false, message: error.message }
  }
}
