import { randomUUID } from 'node:crypto'
import type { BillingProvider } from '../../billing/provider.ts'
import type { ProviderRef } from '../../domain/provider-ref.ts'
import { endLease, holdsLease } from '../../store/billing/provider-leases.ts'
import type { Tx } from '../../store/connection/database.ts'
import { addJob } from '../../store/jobs/jobs.ts'
import { Overtaken } from '../call/overtaken.ts'
import type { Service } from '../call/service.ts'
import { takeWhenFree } from './lease-waits.ts'
import { askingProvider, providerOf } from './provider-of.ts'
import { syncSubscription } from './sync-subscription.ts'

/** The exclusive right to change some subscriptions of a provider until the change is recorded here. */
export interface Lease {
  covers(paid: { provider: string | null; providerRef: string | null }): boolean
  /** Calls the provider. */
  ask(provider: string, question: (asked: BillingProvider) => Promise<void>): Promise<void>
  /** Throws if the lease has expired: then the stored state may be newer than the change. */
  check(tx: Tx): Promise<void>
}

/**
 * Changes subscriptions at their providers and then here, one caller at a time, so that both sides see changes in the
 * same order and no report comes in between. No connection is held during calls to a provider.
 */
export async function leased<T>(
  service: Service,
  refs: readonly ProviderRef[],
  work: (lease: Lease) => Promise<T>,
): Promise<T> {
  const holder = randomUUID()
  const taken: ProviderRef[] = []
  let asked = false
  const lease: Lease = {
    covers: ({ provider, providerRef }) =>
      refs.some((one) => one.provider === provider && one.ref === providerRef),
    ask(provider, question) {
      const [first] = refs
      if (!first) throw new Error('no provider subscription to query')
      asked = true
      return askingProvider(provider, async () => question(await providerOf(service, first.appId, provider)))
    },
    async check(tx) {
      for (const one of taken) if ((await holdsLease(tx, one, holder)) === false) throw new Overtaken()
    },
  }
  try {
    // Sorted, to avoid deadlocks.
    for (const one of [...refs].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))) {
      await takeWhenFree(service, one, holder)
      taken.push(one)
    }
    return await work(lease)
  } finally {
    for (const one of taken) await giveBack(service, one, holder, asked)
  }
}

const nameOf = ({ provider, ref }: ProviderRef) => JSON.stringify([provider, ref])

/**
 * Ends the lease, and fetches the provider's state if it was called. A failure is not reported to the caller, whose
 * change is done or rejected by then; a job retries it.
 */
async function giveBack(service: Service, at: ProviderRef, holder: string, asked: boolean): Promise<void> {
  try {
    await endLease(service.pool, at, holder)
    if (asked) await syncSubscription(service, at)
  } catch (error) {
    service.log.warn({ err: error, ...at }, 'a changed subscription could not be synced; it will be retried')
    await addJob(service.pool, 'sync-subscription', at).catch((failed) =>
      service.log.error(
        { err: failed, ...at },
        'the retry could not be queued; the daily reconciliation will sync the subscription',
      ),
    )
  }
}
