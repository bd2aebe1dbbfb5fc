/**
 * Refunded and disputed payments, and their effect on access.
 *
 * Invariants (reversal.test.ts):
 * - a partial refund, or one of an earlier period, never ends access;
 * - access ends only if the app is configured so and everything paid for the current period was refunded or disputed;
 * - a failed refund and a won dispute have no effect.
 */

export const ACCESS_AFTER_REFUND = ['KEEP', 'END'] as const
/** Access after everything paid for the current period was refunded or disputed. */
export type AccessAfterRefund = (typeof ACCESS_AFTER_REFUND)[number]

/** Why a payment is refunded. Providers keep it with the refund. */
export const REFUND_REASONS = ['REQUESTED_BY_CUSTOMER', 'DUPLICATE', 'FRAUDULENT'] as const
export type RefundReason = (typeof REFUND_REASONS)[number]

/** INQUIRY: the bank only asks, no money has moved. OPEN: the money is withheld. CLOSED: over without a dispute. */
export const DISPUTE_STATES = ['INQUIRY', 'OPEN', 'WON', 'LOST', 'CLOSED'] as const
export type DisputeState = (typeof DISPUTE_STATES)[number]

export interface Dispute {
  state: DisputeState
  /** the provider's own name for it */
  reason: string | null
  openedAt: number
}

export const SANDBOX_REVERSALS = [
  'REFUND',
  'FAIL_REFUND',
  'INQUIRE',
  'DISPUTE',
  'WIN_DISPUTE',
  'LOSE_DISPUTE',
] as const
/** Reversals that can be simulated in the sandbox. */
export type SandboxReversal = (typeof SANDBOX_REVERSALS)[number]

/** A payment with its refunds and dispute, in minor units. */
export interface Payment {
  /** the provider's id of it */
  ref: string
  /** the provider's id of the invoice, where that is another one; missing in rows of earlier versions */
  invoice?: string
  amount: number
  currency: string
  paidAt: number
  /** the paid period; null: a one-off purchase */
  period: { start: number; end: number } | null
  /** charged items, without credits; missing if the provider did not report them */
  charged?: { priceId: string; quantity: number }[]
  refunded: number
  /** of the last refund */
  refundedAt: number | null
  dispute: Dispute | null
}

/** Refunds and disputes of the payments for one subscription at a provider. */
export interface Reversal {
  /** refunded or disputed payments, newest first */
  payments: Payment[]
  /** Everything paid for the current period was refunded or disputed. */
  whole: boolean
}

export const NO_REVERSAL: Reversal = { payments: [], whole: false }

const isReversed = ({ refunded, dispute }: Payment): boolean => refunded > 0 || dispute !== null

/** A dispute concerns the whole payment, even if the exchange rate changed its amount. */
export const isGone = ({
  amount,
  refunded,
  dispute,
}: Pick<Payment, 'amount' | 'refunded' | 'dispute'>): boolean =>
  refunded >= amount || dispute?.state === 'OPEN' || dispute?.state === 'LOST'

/** `running` are all payments for the current period; null for one whose state is unknown. */
export function reversalOf(payments: readonly Payment[], running: readonly (Payment | null)[]): Reversal {
  return {
    payments: payments.filter(isReversed),
    whole: running.length > 0 && running.every((payment) => payment !== null && isGone(payment)),
  }
}

/** A subscription on the bill that a payment was for. */
interface OnBill {
  id: string
  packageId: string
  quantity: number
  startedAt: number
  endedAt: number | null
}

/**
 * The payments for one of the subscriptions on a bill. A plan and its successor or add-ons may share a period; the
 * charged items show which of them a payment was for. If they are unknown, it was for all of them. After a
 * change to another plan and back, it was for the subscription that was live at the time of payment. A subscription
 * that ended because of a dispute and was restored is paid for by the same payment.
 */
export function paymentsFor(
  subscriptionId: string,
  bill: readonly OnBill[],
  payments: readonly Payment[],
  packageOf: (priceId: string) => string | undefined,
): Payment[] {
  return payments.filter((payment) => {
    const charged = (payment.charged ?? []).map(({ priceId, quantity }) => ({
      packageId: packageOf(priceId),
      quantity,
    }))
    const running = bill.filter((s) => reversalsDuring([payment], s).length > 0)
    const ofPackage = running.filter((s) => charged.some((c) => c.packageId === s.packageId))
    const exact = ofPackage.filter((s) =>
      charged.some((c) => c.packageId === s.packageId && c.quantity === s.quantity),
    )
    const apart = (s: OnBill) => timeApart(payment.paidAt, s)
    const atPayment = exact.filter((s) =>
      exact.every((other) => other.packageId !== s.packageId || apart(other) >= apart(s)),
    )
    const restored = exact.filter((s) => atPayment.some((ended) => isRestored(s, ended, bill)))
    const paid = [[...atPayment, ...restored], ofPackage, running].find((some) => some.length > 0) ?? []
    return paid.some(({ id }) => id === subscriptionId)
  })
}

/** Whether it replaced a subscription that had ended, with no other package in between. */
function isRestored({ packageId, startedAt }: OnBill, ended: OnBill, bill: readonly OnBill[]): boolean {
  const { endedAt } = ended
  if (endedAt === null || packageId !== ended.packageId || startedAt < endedAt) return false
  return bill.every(
    (other) => other.packageId === packageId || other.startedAt < endedAt || other.startedAt >= startedAt,
  )
}

/** A subscription may be stored only after its payment, or still be paid as it ends. */
const timeApart = (at: number, { startedAt, endedAt }: OnBill): number =>
  Math.max(startedAt - at, at - (endedAt ?? at), 0)

/** Payments whose period overlaps the subscription. */
export function reversalsDuring(
  payments: readonly Payment[],
  { startedAt, endedAt }: { startedAt: number; endedAt: number | null },
): Payment[] {
  return payments.filter(
    ({ period }) =>
      period === null || (period.end > startedAt && (endedAt === null || period.start <= endedAt)),
  )
}
