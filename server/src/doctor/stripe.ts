import type { Config } from '../settings/config.ts'
import { CHECK_MS, ok, problem, type Result, skipped, warning } from './finding.ts'

const ANSWER_MS = CHECK_MS - 1_000
const STRIPE = 'https://api.stripe.com'

/** The key and its webhook secret. The key is tried on a request that only reads. */
export async function checkStripe({ stripe, stripeApiBase }: Config): Promise<Result> {
  if (stripe === null)
    return skipped('STRIPE_SECRET_KEY is not set. Accounts of other apps are checked in the dashboard.')
  const base = stripeApiBase ?? STRIPE
  const mode = stripe.secretKey.includes('_test_') ? 'test' : 'live'
  let status: number
  try {
    const response = await fetch(`${base}/v1/balance`, {
      headers: { Authorization: `Bearer ${stripe.secretKey}` },
      signal: AbortSignal.timeout(ANSWER_MS),
      redirect: 'error',
    })
    await response.body?.cancel()
    status = response.status
  } catch (error) {
    const { cause, message } = error as Error
    const reason = (cause as NodeJS.ErrnoException | undefined)?.code ?? message
    return problem(
      `Stripe is not reachable at ${base} (${reason}).`,
      'Check STRIPE_API_BASE, DNS and the firewall for outgoing connections.',
    )
  }
  if (status === 401)
    return problem(
      `Stripe rejects the ${mode} key in STRIPE_SECRET_KEY.`,
      'Copy the key from the Stripe dashboard again.',
    )
  if (status >= 500)
    return warning(`Stripe answers with HTTP ${status}.`, 'Retry later; see https://status.stripe.com.')
  return checkSecrets(stripe.webhookSecrets, mode, base)
}

function checkSecrets(secrets: readonly string[], mode: string, base: string): Result {
  if (secrets.length === 0)
    return warning(
      'STRIPE_WEBHOOK_SECRET is not set, so webhook events are rejected and payments are only noticed by the periodic comparison.',
      'Add the webhook endpoint at Stripe, and set STRIPE_WEBHOOK_SECRET to its signing secret.',
    )
  if (secrets.some((secret) => !secret.startsWith('whsec_')))
    return warning(
      'STRIPE_WEBHOOK_SECRET does not start with whsec_.',
      'Copy the signing secret of the webhook endpoint from the Stripe dashboard.',
    )
  return ok(`${base} accepts the ${mode} key, and there is a webhook secret.`)
}
