/** Why a payment is refunded; providers keep it with the refund. */
export const REFUND_REASONS = ['REQUESTED_BY_CUSTOMER', 'DUPLICATE', 'FRAUDULENT'] as const
export type RefundReason = (typeof REFUND_REASONS)[number]
