/**
 * Payments that were refunded or disputed, and what that means for access.
 *
 * Invariants (reversal.test.ts):
 * - a partial refund, or one of an earlier period, never ends access;
 * - access ends only where the app says so, and everything paid for the running period is gone;
 * - money that comes back (a refund that failed, a dispute that was won) counts as never gone.
 */

export const ACCESS_AFTER_REFUND = ['KEEP', 'END'] as const
/** What becomes of access when everything paid for the running period is refunded or disputed. */
export type AccessAfterRefund = (typeof ACCESS_AFTER_REFUND)[number]

/**
 * INQUIRY: the bank only asks, and no money has moved. OPEN: the money is withheld. CLOSED: over without a dispute.
 */
export const DISPUTE_STATES = ['INQUIRY', 'OPEN', 'WON', 'LOST', 'CLOSED'] as const
export type DisputeState = (typeof DISPUTE_STATES)[number]

export interface Dispute {
  state: DisputeState
  /** in the provider's terms */
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
/** What may be tried on a payment in the sandbox. */
export type SandboxReversal = (typeof SANDBOX_REVERSALS)[number]

/** One payment, in minor units, with what was taken back of it. */
export interface Payment {
  /** the provider's id of it */
  ref: string
  amount: number
  currency: string
  paidAt: number
  /** what it paid for; null: a one-off purchase */
  period: { start: number; end: number } | null
  /** what was charged, without credits; missing in what an earlier version stored */
  charged?: { priceId: string; quantity: number }[]
  refunded: number
  /** of the last refund */
  refundedAt: number | null
  dispute: Dispute | null
}

/** What was taken back of the payments for one subscription at a provider. */
export interface Reversal {
  /** those that were refunded or disputed, newest first */
  payments: Payment[]
  /** Nothing that was paid for the running period is left. */
  whole: boolean
}

export const NO_REVERSAL: Reversal = { payments: [], whole: false }

const isReversed = ({ refunded, dispute }: Payment): boolean => refunded > 0 || dispute !== null

/** A dispute is about the whole payment, even where a changed exchange rate makes its amount another. */
export const isGone = ({ amount, refunded, dispute }: Payment): boolean =>
  refunded >= amount || dispute?.state === 'OPEN' || dispute?.state === 'LOST'

/** `running` are all payments for the running period; null where it is not known how one stands. */
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
 * The payments for one of the subscriptions on a bill. A plan and its successor, or a plan and its add-ons, may share a
 * period: what was charged tells which of them a payment was for. Where that is not known, it was for all of them.
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
    const paid = [exact, ofPackage, running].find((some) => some.length > 0) ?? []
    return paid.some(({ id }) => id === subscriptionId)
  })
}

/** Those whose period a subscription ran in, from its start until its end. */
export function reversalsDuring(
  payments: readonly Payment[],
  { startedAt, endedAt }: { startedAt: number; endedAt: number | null },
): Payment[] {
  return payments.filter(
    ({ period }) =>
      period === null || (period.end > startedAt && (endedAt === null || period.start <= endedAt)),
  )
}
