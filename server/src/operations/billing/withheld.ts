import type { ProviderSubscription } from '../../billing/provider.ts'
import { accessAfterRefund } from '../../store/apps/apps.ts'
import type { ProviderSubscriptionRow } from '../../store/billing/provider-subscriptions.ts'
import type { HomeDb } from '../../store/connection/places.ts'

/**
 * Whether access is withheld because the payments for the current period were refunded or are disputed. If the provider
 * does not report them, nothing changes.
 */
export async function isWithheld(
  db: HomeDb,
  appId: string,
  { reversal, billingStatus }: Pick<ProviderSubscription, 'reversal' | 'billingStatus'>,
  known: ProviderSubscriptionRow | null,
): Promise<boolean> {
  if (billingStatus !== 'live' && billingStatus !== 'past due') return false
  if (!reversal) return known !== null && known.accessEndedAt !== null
  return reversal.whole && (await accessAfterRefund(db, appId)) === 'END'
}
