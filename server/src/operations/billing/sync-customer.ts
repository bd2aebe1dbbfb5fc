import { MAX_PROVIDER_READS } from '../../domain/limits.ts'
import type { ProviderRef } from '../../domain/provider-ref.ts'
import { providerSubscriptionsOf } from '../../store/billing/provider-subscriptions.ts'
import { type Tx, transaction } from '../../store/connection/database.ts'
import { findUserByBillingId, followCustomer, forgetBillingId } from '../../store/users/users.ts'
import type { Service } from '../call/service.ts'
import { providerOf } from './provider-of.ts'
import { syncSubscription } from './sync-subscription.ts'

/** Fetches a customer: updates a payer who became a user, or forgets a deleted customer. */
export async function syncCustomer(service: Service, at: ProviderRef): Promise<void> {
  const { appId, ref } = at
  const provider = await providerOf(service, appId, at.provider)
  for (let attempt = 1; attempt <= MAX_PROVIDER_READS; attempt++) {
    const user = await findUserByBillingId(service.pool, appId, ref)
    const customer = await provider.fetchCustomer(ref)
    if (!customer) {
      for (const subscription of await providerSubscriptionsOf(service.pool, appId, at.provider, ref)) {
        await syncSubscription(service, { ...at, ref: subscription })
      }
      return transaction(service.pool, (tx) => forgetBillingId(tx, appId, ref))
    }
    // An app's own data about its users takes precedence.
    if (!user || user.id !== ref) return
    const follow = (tx: Tx) => tx.places.of(appId, user.id, (db) => followCustomer(db, appId, user, customer))
    if (await transaction(service.pool, follow)) return
  }
  throw new Error(`the customer ${ref} was modified concurrently too often`)
}
