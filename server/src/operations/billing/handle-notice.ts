import { subjectOf } from '../../billing/notice.ts'
import { ProviderError } from '../../billing/provider.ts'
import { MAX_NOTICE_ATTEMPTS } from '../../domain/limits.ts'
import { findNotice, type NoticeRow, noteDone, noteFailure } from '../../store/billing/notices.ts'
import type { Service } from '../call/service.ts'
import { BillingProblem } from './billing-problem.ts'
import { syncCheckout } from './sync-checkout.ts'
import { syncCustomer } from './sync-customer.ts'
import { syncPayment } from './sync-payment.ts'
import { syncSubscription } from './sync-subscription.ts'

/**
 * Processes an event by fetching the current state from its provider. Permanent failures are shown in the dashboard;
 * transient ones are thrown, to be retried.
 */
export async function handleNotice(service: Service, appId: string, seq: number): Promise<void> {
  const notice = await findNotice(service.pool, appId, seq)
  if (notice?.state !== 'PENDING') return
  try {
    await follow(service, appId, notice)
    await noteDone(service.pool, appId, seq)
  } catch (error) {
    const lasting =
      error instanceof BillingProblem || (error instanceof ProviderError && error.kind === 'refused')
    const final = lasting || notice.attempts + 1 >= MAX_NOTICE_ATTEMPTS
    const message = error instanceof Error ? error.message : String(error)
    const paymentRef = error instanceof BillingProblem ? error.ref : null
    await noteFailure(service.pool, appId, seq, { message, final, paymentRef })
    service.log.warn(
      { err: error, appId, notice: notice.eventId, final },
      'a webhook event could not be processed',
    )
    if (!final) throw error
    service.metrics.failedNotices.inc()
  }
}

async function follow(service: Service, appId: string, notice: NoticeRow): Promise<void> {
  const { checkoutRef, subscriptionRef, customerRef, paymentRef } = subjectOf(notice)
  const at = { appId, provider: notice.provider }
  if (checkoutRef !== null) await syncCheckout(service, { ...at, ref: checkoutRef })
  if (subscriptionRef !== null) {
    const payments = notice.type.startsWith('invoice.') ? 'ask' : 'if changed'
    await syncSubscription(service, { ...at, ref: subscriptionRef }, payments)
  }
  if (customerRef !== null) await syncCustomer(service, { ...at, ref: customerRef })
  if (paymentRef !== null) await syncPayment(service, { ...at, ref: paymentRef })
}
