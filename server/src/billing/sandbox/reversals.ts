import { createHash } from 'node:crypto'
import { type Payment, type Reversal, reversalOf, type SandboxReversal } from '../../domain/reversal.ts'
import type { Tx } from '../../store/connection/database.ts'
import type { HomeDb } from '../../store/connection/places.ts'
import { ProviderError } from '../provider.ts'
import * as books from './books.ts'
import { paidPeriodOf, periodOfPayment } from './change-price.ts'
import { announce, newRef } from './events.ts'
import {
  findPayment,
  latestPayments,
  lockPayment,
  type SandboxPayment,
  writePayment,
} from './payment-books.ts'
import type { IsOn } from './payments.ts'
import type { SandboxSubscription } from './subscription-books.ts'

/** Payments for a subscription, or for a one-off purchase by its checkout's id, newest first. */
export async function paymentsOf(
  db: HomeDb,
  appId: string,
  ref: string,
  s: SandboxSubscription | null,
): Promise<Payment[]> {
  if (s) {
    const paid = await latestPayments(db, appId, s.id)
    return paid.map((one) => paymentFrom(one, periodOfPayment(s, one.paidAt)))
  }
  const paid = await findPayment(db, appId, ref)
  return paid ? [paymentFrom(paid, null)] : []
}

/** Refunds and disputes of these payments. */
export async function reversalIn(
  db: HomeDb,
  appId: string,
  ref: string,
  s: SandboxSubscription | null,
): Promise<Reversal> {
  const payments = await paymentsOf(db, appId, ref, s)
  const start = s ? paidPeriodOf(s).start : 0
  return reversalOf(
    payments,
    payments.filter(({ period }) => period === null || period.start >= start),
  )
}

function paymentFrom(paid: SandboxPayment, period: Payment['period']): Payment {
  const refunds = paid.refunds.filter(({ failed }) => !failed)
  const { id: ref, amount, currency, paidAt, lines, dispute } = paid
  return {
    ref,
    amount,
    currency,
    paidAt,
    period,
    charged: lines.filter((line) => line.amount > 0).map(({ priceId, quantity }) => ({ priceId, quantity })),
    refunded: refunds.reduce((sum, refund) => sum + refund.amount, 0),
    refundedAt: refunds.length > 0 ? Math.max(...refunds.map(({ at }) => at)) : null,
    dispute: dispute && { state: dispute.state, reason: dispute.reason, openedAt: dispute.at },
  }
}

/** Paid and refunded amounts. */
export function refundedOf(paid: SandboxPayment): { amount: number; refunded: number } {
  const { amount, refunded } = paymentFrom(paid, null)
  return { amount, refunded }
}

/** The id of the refund that a request makes, however often it is repeated. */
export const refundIdOf = (key: string): string =>
  `re_sandbox_${createHash('sha256').update(key).digest('hex').slice(0, 24)}`

/** Refunds or disputes a payment, or decides a dispute, as the shop, the payer and the bank would. */
export async function reverse(
  tx: Tx,
  appId: string,
  id: string,
  { action, amount, refundId }: { action: SandboxReversal; amount: number | null; refundId?: string },
  isOn: IsOn,
): Promise<void> {
  if (!(await isOn(tx, appId))) throw new ProviderError('refused', 'the sandbox is disabled')
  const paid = await lockPayment(tx, appId, id)
  if (!paid) throw new ProviderError('refused', `the payment ${id} does not exist`, true)
  // The same request again.
  if (refundId !== undefined && paid.refunds.some(({ id }) => id === refundId)) return
  const now = await books.nowOf(tx, appId)
  await writePayment(tx, appId, after(paid, action, amount, refundId ?? newRef('re'), now))
  await announce(tx, appId, EVENTS[action], { object: 'charge', id, customer: paid.customerId })
}

const EVENTS: Record<SandboxReversal, string> = {
  REFUND: 'charge.refunded',
  FAIL_REFUND: 'refund.failed',
  INQUIRE: 'charge.dispute.created',
  DISPUTE: 'charge.dispute.created',
  WIN_DISPUTE: 'charge.dispute.closed',
  LOSE_DISPUTE: 'charge.dispute.closed',
}

function after(
  paid: SandboxPayment,
  action: SandboxReversal,
  amount: number | null,
  refundId: string,
  now: number,
): SandboxPayment {
  const { refunds, dispute } = paid
  const { refunded } = paymentFrom(paid, null)
  switch (action) {
    case 'REFUND': {
      const left = paid.amount - refunded
      const given = amount ?? left
      if (dispute?.state === 'OPEN' || dispute?.state === 'LOST')
        throw new ProviderError('refused', 'the payment is disputed')
      if (left === 0) throw new ProviderError('refused', 'the payment was already refunded')
      if (given <= 0 || given > left)
        throw new ProviderError(
          'refused',
          `the amount must be from 1 to ${left}, the remaining amount of the payment`,
        )
      return { ...paid, refunds: [...refunds, { id: refundId, amount: given, at: now, failed: false }] }
    }
    case 'FAIL_REFUND': {
      const last = refunds.findLast(({ failed }) => !failed)
      if (!last) throw new ProviderError('refused', 'the payment has no refund')
      return { ...paid, refunds: refunds.map((one) => (one === last ? { ...one, failed: true } : one)) }
    }
    case 'INQUIRE':
    case 'DISPUTE': {
      if (dispute !== null && (dispute.state !== 'INQUIRY' || action === 'INQUIRE'))
        throw new ProviderError('refused', 'the payment was already disputed')
      const state = action === 'DISPUTE' ? 'OPEN' : 'INQUIRY'
      return { ...paid, dispute: { state, reason: 'fraudulent', at: dispute?.at ?? now } }
    }
    default: {
      if (dispute?.state !== 'OPEN') throw new ProviderError('refused', 'the payment has no open dispute')
      return { ...paid, dispute: { ...dispute, state: action === 'WIN_DISPUTE' ? 'WON' : 'LOST' } }
    }
  }
}
