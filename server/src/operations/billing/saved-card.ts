import { isSandboxCustomer } from '../../billing/customer-refs.ts'
import type { Call } from '../call/call.ts'
import { requireUser } from '../call/require.ts'
import { askingProvider, checkProvider, providerOf } from './provider-of.ts'

/** The customer of a user at a provider; null: none that the provider knows. */
export const customerAt = (billingId: string | null, provider: string): string | null =>
  billingId !== null && isSandboxCustomer(billingId) === (provider === 'sandbox') ? billingId : null

/** Whether a user has a card at a provider that can be charged without them, as the provider reports it. */
export async function hasSavedCard(
  call: Call,
  { userId, provider: name }: { userId: string; provider: string },
): Promise<boolean> {
  const { appId, service } = call
  const provider = checkProvider(name)
  const { billingId } = await requireUser(service.pool, appId, userId)
  const customerRef = customerAt(billingId, provider)
  if (customerRef === null) return false
  const card = await askingProvider(provider, async () =>
    (await providerOf(service, appId, provider)).savedCard(customerRef),
  )
  return card !== null
}
