import { badUserInput } from './errors.ts'
import { checkIdentifier, checkText } from './identifier.ts'
import { LATEST_TEST_CLOCK, MAX_COUNT, MAX_CREDIT_PRIORITY } from './limits.ts'

export const CREDIT_KINDS = ['PROMOTIONAL', 'PAID'] as const
export type CreditKind = (typeof CREDIT_KINDS)[number]

export const CREDIT_STATES = ['SCHEDULED', 'LIVE', 'SPENT', 'EXPIRED', 'VOIDED'] as const
export type CreditState = (typeof CREDIT_STATES)[number]

/** Units of a feature that a user may use beyond the plan. */
export interface Credit {
  id: string
  featureId: string
  amount: number
  used: number
  kind: CreditKind
  /** lower is burnt first */
  priority: number
  effectiveAt: number
  expiresAt: number | null
  voidedAt: number | null
  reason: string | null
}

/** A credit as requested. */
export interface NewCredit extends Pick<Credit, 'featureId' | 'amount' | 'kind' | 'priority' | 'reason'> {
  /** null: generated */
  id: string | null
  /** null: now */
  effectiveAt: number | null
  expiresAt: number | null
}

/** Also that of the plan. */
export const DEFAULT_PRIORITY = 50

export function checkNewCredit(credit: NewCredit, now: number): void {
  const { id, amount, priority, effectiveAt, expiresAt, reason } = credit
  if (id !== null) checkIdentifier('id', id)
  checkAmount('amount', amount)
  if (!Number.isInteger(priority) || priority < 0 || priority > MAX_CREDIT_PRIORITY) {
    throw badUserInput(`priority must be an integer from 0 to ${MAX_CREDIT_PRIORITY}`, 'priority')
  }
  checkTime('effectiveAt', effectiveAt)
  checkTime('expiresAt', expiresAt)
  if (expiresAt !== null && expiresAt <= now) {
    throw badUserInput('expiresAt must be in the future', 'expiresAt')
  }
  if (expiresAt !== null && expiresAt <= (effectiveAt ?? now)) {
    throw badUserInput('expiresAt must be after effectiveAt', 'expiresAt')
  }
  checkText('reason', reason)
}

export function checkAmount(field: string, amount: number): void {
  if (!Number.isInteger(amount) || amount < 1 || amount > MAX_COUNT) {
    throw badUserInput(`${field} must be an integer from 1 to ${MAX_COUNT}`, field)
  }
}

function checkTime(field: string, time: number | null): void {
  if (time !== null && (time < 0 || time > LATEST_TEST_CLOCK)) {
    throw badUserInput(`${field} must be between 1970 and the year 9000`, field)
  }
}

export function creditState(
  {
    amount,
    used,
    effectiveAt,
    expiresAt,
    voidedAt,
  }: Omit<Credit, 'id' | 'featureId' | 'kind' | 'priority' | 'reason'>,
  now: number,
): CreditState {
  // Everything was refunded before any of it was used.
  if (voidedAt !== null || amount === 0) return 'VOIDED'
  if (used >= amount) return 'SPENT'
  if (expiresAt !== null && expiresAt <= now) return 'EXPIRED'
  return effectiveAt > now ? 'SCHEDULED' : 'LIVE'
}
