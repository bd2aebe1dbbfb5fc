import type { BillingProvider, ProviderCheckout } from '../../billing/provider.ts'
import type { ProviderRef } from '../../domain/provider-ref.ts'
import { keepPayments } from '../../store/payments.ts'
import type { Service } from '../call/service.ts'

/** Keeps what a provider says was paid for a subscription lately. */
export async function followPayments(
  service: Service,
  at: ProviderRef,
  provider: BillingProvider,
): Promise<void> {
  await keepPayments(service.pool, at, await provider.recentPayments(at.ref))
}

/** Keeps a one-off payment, which has no invoice. */
export async function followOneOff(
  service: Service,
  at: ProviderRef,
  { ref, paymentRef, paid, startsAt, paidAt }: ProviderCheckout,
): Promise<void> {
  const moment = startsAt ?? paidAt
  if (paid === null || paid.amount === 0 || moment === null) return
  await keepPayments(service.pool, { ...at, ref }, [
    { ref: paymentRef ?? ref, state: 'PAID', ...paid, at: moment },
  ])
}
