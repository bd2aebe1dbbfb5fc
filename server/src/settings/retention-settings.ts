import { StartError } from '../domain/errors.ts'
import { IDEMPOTENCY_KEPT_HOURS, MAX_KEPT_DAYS } from '../domain/limits.ts'
import type { LedgerSettings } from '../operations/upkeep/keep-ledger.ts'
import type { Retention } from '../operations/upkeep/prune.ts'

const HOUR = 3600
const DAY = 24 * HOUR

/** A year and the previous one, to compare. */
const PAYMENT_DAYS = 800
/** A year's audit takes place some weeks after it. */
const AUDIT_DAYS = 400
const OTHER_DAYS = 90
const PARTITION_DAYS = 30

type Set = (name: string) => string | null

function daysOrForever(set: Set, name: string, usual: number | null): number | null {
  const text = set(name) ?? (usual === null ? 'forever' : String(usual))
  return text === 'forever' ? null : DAY * wholeNumber(name, text, 1, MAX_KEPT_DAYS, ' or "forever"')
}

export function readLedgerSettings(set: Set): LedgerSettings {
  const text = set('TOLLGATE_LEDGER_PARTITION_DAYS') ?? String(PARTITION_DAYS)
  return {
    partitionSeconds: DAY * wholeNumber('TOLLGATE_LEDGER_PARTITION_DAYS', text, 1, MAX_KEPT_DAYS, ''),
    keptSeconds: daysOrForever(set, 'TOLLGATE_KEEP_LEDGER_DAYS', null),
  }
}

export function readRetention(set: Set): Retention {
  const days = (name: string, usual: number) => daysOrForever(set, name, usual)
  const activity = days('TOLLGATE_KEEP_ACTIVITY_DAYS', OTHER_DAYS)
  const hours = set('TOLLGATE_KEEP_RECEIPTS_HOURS')
  const least = IDEMPOTENCY_KEPT_HOURS
  return {
    audit: days('TOLLGATE_KEEP_AUDIT_DAYS', AUDIT_DAYS),
    apiAudit: days('TOLLGATE_KEEP_API_AUDIT_DAYS', OTHER_DAYS),
    notices: days('TOLLGATE_KEEP_NOTICES_DAYS', OTHER_DAYS),
    checkouts: days('TOLLGATE_KEEP_CHECKOUTS_DAYS', OTHER_DAYS),
    payments: days('TOLLGATE_KEEP_PAYMENTS_DAYS', PAYMENT_DAYS),
    activity,
    featureActivity: activity,
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
