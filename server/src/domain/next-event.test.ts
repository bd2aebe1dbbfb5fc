import { expect, it } from 'vitest'
import { nextEvent } from './next-event.ts'

const NOW = 1_000
const LIVE = { status: 'ACTIVE', cancelAt: null, trialEndsAt: null, scheduled: null } as const
const PRO = { packageName: 'Pro', at: 2_000 }

it.each([
  ['nothing is planned', LIVE, null, null],
  ['it is over', { ...LIVE, status: 'CANCELLED' as const, cancelAt: 2_000 }, 3_000, null],
  ['it is paid', LIVE, 3_000, { kind: 'RENEWAL', at: 3_000, packageName: null }],
  ['it was paid until now', LIVE, NOW, null],
  ['it ends', { ...LIVE, cancelAt: 2_000 }, 3_000, { kind: 'END', at: 2_000, packageName: null }],
  [
    'it changes, which ends it',
    { ...LIVE, cancelAt: 2_000, scheduled: PRO },
    3_000,
    { kind: 'CHANGE', at: 2_000, packageName: 'Pro' },
  ],
  [
    'its trial ends, and another follows',
    { ...LIVE, cancelAt: 2_000, trialEndsAt: 2_000, scheduled: PRO },
    null,
    { kind: 'TRIAL_END', at: 2_000, packageName: 'Pro' },
  ],
  [
    'its trial ends, and nothing follows',
    { ...LIVE, cancelAt: 2_000, trialEndsAt: 2_000 },
    null,
    { kind: 'TRIAL_END', at: 2_000, packageName: null },
  ],
  [
    'its trial is over',
    { ...LIVE, trialEndsAt: NOW },
    3_000,
    { kind: 'RENEWAL', at: 3_000, packageName: null },
  ],
])('where %s', (_, planned, paidUntil, event) => {
  expect(nextEvent(planned, paidUntil, NOW)).toEqual(event)
})
