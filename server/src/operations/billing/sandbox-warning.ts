import { appsWithKey } from '../../store/billing/provider-accounts.ts'
import type { Service } from '../call/service.ts'
import { accountOf, isLiveKey } from './provider-of.ts'

/** The warning for an app with both the sandbox and Stripe enabled; null otherwise. */
export async function sandboxWarning(
  service: Pick<Service, 'pool' | 'billing'>,
  appId: string,
): Promise<string | null> {
  const { secretKey } = await accountOf(service, appId, 'stripe')
  const { enabled } = await accountOf(service, appId, 'sandbox')
  if (secretKey === null || !enabled) return null
  return isLiveKey(secretKey)
    ? 'The sandbox is enabled together with live payments: anyone with a sandbox link gets the package without paying. Disable it.'
    : 'The sandbox is enabled together with Stripe: anyone with a sandbox link gets the package without paying. It is disabled automatically when a live key is set.'
}

/** Logs one line for all apps with both the sandbox and Stripe enabled. */
export async function warnOfSandboxes(service: Service): Promise<void> {
  const { environment } = service.billing
  const withKey = await appsWithKey(service.pool, 'stripe')
  const apps = new Set([...(environment ? [environment.appId] : []), ...withKey])
  const beside: string[] = []
  for (const appId of apps) {
    if ((await sandboxWarning(service, appId)) !== null) beside.push(appId)
  }
  if (beside.length === 0) return
  service.log.warn(
    { apps: beside.slice(0, 20), count: beside.length },
    'the sandbox is enabled together with Stripe: anyone with a sandbox link gets the package without paying; disable it under Billing',
  )
}
