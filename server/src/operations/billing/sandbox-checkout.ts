import {
  type FieldProblems,
  leaveCheckout,
  type PayerEntry,
  type PaymentOutcome,
  payCheckout,
} from '../../billing/sandbox-payments.ts'
import { findCheckout, type SandboxCheckout } from '../../store/sandbox.ts'
import type { Service } from '../call.ts'

/** A payment page of the sandbox, as its payer sees it. */
export interface CheckoutView extends SandboxCheckout {
  entry: PayerEntry
  problems: FieldProblems
}

export const NOTHING_ENTERED: PayerEntry = { email: '', name: '', number: '', expiry: '', cvc: '' }

export async function viewCheckout({ pool }: Service, id: string): Promise<CheckoutView | null> {
  const found = await findCheckout(pool, id)
  if (!found) return null
  const late = found.state !== 'paid' && found.expiresAt <= found.now
  return { ...found, state: late ? 'expired' : found.state, entry: NOTHING_ENTERED, problems: {} }
}

export function pay({ pool }: Service, id: string, entry: PayerEntry): Promise<PaymentOutcome | null> {
  return payCheckout(pool, id, entry)
}

export function turnBack({ pool }: Service, id: string): Promise<PaymentOutcome | null> {
  return leaveCheckout(pool, id)
}
