import { StartError } from './domain/errors.ts'
import { IDEMPOTENCY_KEPT_HOURS, MAX_KEPT_DAYS } from './domain/limits.ts'
import type { Retention } from './operations/upkeep/prune.ts'

const HOUR = 3600
const DAY = 24 * HOUR

/** A year and the one before it, to compare. */
const PAYMENT_DAYS = 800
/** The audit of a year happens some weeks after it. */
const AUDIT_DAYS = 400
const OTHER_DAYS = 90

/** The retention settings. */
export function readRetention(set: (name: string) => string | null): Retention {
  const days = (name: string, usual: number): number | null => {
    const text = set(name)
    if (text === 'forever') return null
    return DAY * (text === null ? usual : wholeNumber(name, text, 1, MAX_KEPT_DAYS, ' or "forever"'))
  }
  const hours = set('TOLLGATE_KEEP_RECEIPTS_HOURS')
  const least = IDEMPOTENCY_KEPT_HOURS
  return {
    audit: days('TOLLGATE_KEEP_AUDIT_DAYS', AUDIT_DAYS),
    apiAudit: days('TOLLGATE_KEEP_API_AUDIT_DAYS', OTHER_DAYS),
    notices: days('TOLLGATE_KEEP_NOTICES_DAYS', OTHER_DAYS),
    checkouts: days('TOLLGATE_KEEP_CHECKOUTS_DAYS', OTHER_DAYS),
    payments: days('TOLLGATE_KEEP_PAYMENTS_DAYS', PAYMENT_DAYS),
    activity: days('TOLLGATE_KEEP_ACTIVITY_DAYS', OTHER_DAYS),
    receipts:
      HOUR *
      (hours === null
        ? least
        : wholeNumber('TOLLGATE_KEEP_RECEIPTS_HOURS', hours, least, 24 * MAX_KEPT_DAYS, '')),
  }
}

function wholeNumber(name: string, text: string, least: number, most: number, or: string): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < least || value > most) {
    throw new StartError(
      `${name} must be a number from ${least} to ${most}${or}; it is ${JSON.stringify(text)}.`,
    )
  }
  return value
}
