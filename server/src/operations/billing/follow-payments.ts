import type { BillingProvider, ProviderCheckout } from '../../billing/provider.ts'
import type { ProviderRef } from '../../domain/provider-ref.ts'
import { keepPayments } from '../../store/billing/payments.ts'
import type { Service } from '../call/service.ts'

/** Stores the latest payments of a subscription. */
export async function followPayments(
  service: Service,
  at: ProviderRef,
  provider: BillingProvider,
): Promise<void> {
  const { payments, since } = await provider.recentPayments(at.ref)
  await keepPayments(service.pool, at, payments, since)
}

/** Stores a one-off payment, which has no invoice. */
export async function followOneOff(
  service: Service,
  at: ProviderRef,
  { ref, paymentRef, paid, startsAt, paidAt }: ProviderCheckout,
): Promise<void> {
  const moment = startsAt ?? paidAt
  if (paid === null || paid.amount === 0 || moment === null) return
  const payment = { ref: paymentRef ?? ref, state: 'PAID' as const, ...paid, at: moment }
  await keepPayments(service.pool, { ...at, ref }, [payment], null)
}
