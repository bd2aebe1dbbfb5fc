import { describe, expect, it } from 'vitest'
import { type BulkAction, type BulkReason, type BulkSubject, bulkRefusal } from './bulk-change.ts'

const PLAN: BulkSubject = {
  packageId: 'free',
  isAddon: false,
  provider: null,
  cancelAt: null,
  ended: false,
  isFollowed: false,
}
const PAID = { ...PLAN, provider: 'stripe' }
const TO_PRO: BulkAction = { kind: 'CHANGE_PLAN', packageId: 'pro', when: 'BEST' }
const TRIAL: BulkAction = { kind: 'START_TRIAL', packageId: 'pro', days: 14 }
const LATER: BulkAction = { kind: 'CANCEL', atPeriodEnd: true }
const NOW: BulkAction = { kind: 'CANCEL', atPeriodEnd: false }
const OVERRIDE: BulkAction = {
  kind: 'SET_OVERRIDE',
  override: {
    featureId: 'calls',
    mode: 'UNLIMITED',
    limit: null,
    overageEnabled: null,
    resetPeriod: null,
    expiresAt: null,
    reason: null,
  },
}

const RULES: [string, BulkAction, BulkSubject | null, boolean, BulkReason | null][] = [
  ['a plan changes', TO_PRO, PLAN, false, null],
  ['without a plan there is none to change', TO_PRO, null, false, 'NO_PLAN'],
  ['an add-on is no plan', TO_PRO, { ...PLAN, isAddon: true }, false, 'ADD_ON'],
  ['a plan that has ended stays ended', TO_PRO, { ...PLAN, ended: true }, false, 'ENDED'],
  ['the plan itself is no change', TO_PRO, { ...PLAN, packageId: 'pro' }, false, 'SAME_PLAN'],
  ['a scheduled change stays', TO_PRO, { ...PLAN, isFollowed: true }, false, 'CHANGE_SCHEDULED'],
  ['money needs a quote', TO_PRO, PAID, false, 'CHARGED'],
  ['a trial starts for those without a plan', TRIAL, null, false, null],
  ['but not twice', TRIAL, null, true, 'HAD_TRIAL'],
  ['nor in place of a plan', TRIAL, PLAN, false, 'HAS_PLAN'],
  ['a paid subscription can be cancelled', LATER, PAID, false, null],
  ['one that ends already cannot end later', LATER, { ...PLAN, cancelAt: 1 }, false, 'ENDING'],
  ['but now', NOW, { ...PLAN, cancelAt: 1 }, false, null],
  ['one that has ended cannot', NOW, { ...PLAN, ended: true }, false, 'ENDED'],
  ['without a plan there is none to cancel', LATER, null, false, 'NO_PLAN'],
  ['an override needs no plan', OVERRIDE, null, false, null],
  ['and never replaces one', OVERRIDE, PLAN, true, 'HAS_OVERRIDE'],
]

describe('gap: bulk changes: who is skipped', () => {
  it.each(RULES)('%s', (_, action, subject, had, reason) => {
    expect(bulkRefusal(action, subject, had)).toBe(reason)
  })
})
