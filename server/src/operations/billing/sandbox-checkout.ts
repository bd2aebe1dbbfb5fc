import { findCheckout, type SandboxCheckout } from '../../billing/sandbox/books.ts'
import {
  type FieldProblems,
  leaveCheckout,
  type PayerEntry,
  type PaymentOutcome,
  payCheckout,
} from '../../billing/sandbox/payments.ts'
import type { Service } from '../call/service.ts'
import { sandboxIsOn } from './provider-of.ts'

/** A payment page of the sandbox. */
export interface CheckoutView extends Omit<SandboxCheckout, 'state'> {
  /** `off`: the sandbox currently accepts no payments */
  state: SandboxCheckout['state'] | 'off'
  entry: PayerEntry
  problems: FieldProblems
}

export const NOTHING_ENTERED: PayerEntry = { email: '', name: '', number: '', expiry: '', cvc: '' }

export async function viewCheckout({ pool, billing }: Service, id: string): Promise<CheckoutView | null> {
  const found = await findCheckout(pool, id)
  if (!found) return null
  const view = { ...found, entry: NOTHING_ENTERED, problems: {} }
  if (found.state === 'paid') return view
  if (found.expiresAt <= found.now) return { ...view, state: 'expired' }
  return (await sandboxIsOn(billing)(pool, found.appId)) ? view : { ...view, state: 'off' }
}

export function pay(
  { pool, billing }: Service,
  id: string,
  entry: PayerEntry,
): Promise<PaymentOutcome | null> {
  return payCheckout(pool, id, entry, sandboxIsOn(billing))
}

export function turnBack({ pool }: Service, id: string): Promise<PaymentOutcome | null> {
  return leaveCheckout(pool, id)
}
