import { describe, expect, it } from 'vitest'
import type { Credit } from './credit.ts'
import { creditUsedEvent } from './credit-events.ts'

const NOW = Date.UTC(2026, 0, 10)

const credit = (more: Partial<Credit>): Credit => ({
  id: 'c1',
  featureId: 'call',
  amount: 10,
  used: 0,
  kind: 'PAID',
  priority: 50,
  effectiveAt: NOW,
  expiresAt: null,
  voidedAt: null,
  reason: 'Welcome',
  ...more,
})

describe('creditUsedEvent', () => {
  it('contains the credit and its previous values', () => {
    expect(creditUsedEvent(credit({ used: 10 }), 9, 'ada', NOW)).toEqual({
      type: 'credit.spent',
      data: {
        version: 1,
        object: {
          id: 'c1',
          userId: 'ada',
          featureId: 'call',
          amount: 10,
          used: 10,
          kind: 'PAID',
          priority: 50,
          effectiveAt: '2026-01-10T00:00:00.000Z',
          expiresAt: null,
          state: 'SPENT',
          reason: 'Welcome',
        },
        previous: { used: 9, state: 'LIVE' },
      },
    })
  })

  it.each<[string, Partial<Credit>, number, object | null]>([
    ['a unit of a fresh one', { used: 1 }, 0, null],
    ['one of the last units', { used: 9 }, 8, null],
    ['all units at once', { used: 10 }, 0, { type: 'credit.spent', previous: { used: 0, state: 'LIVE' } }],
    [
      'a unit of a spent one that is given back',
      { used: 9 },
      10,
      { type: 'credit.changed', previous: { used: 10, state: 'SPENT' } },
    ],
    [
      'a unit of a voided one that is given back',
      { used: 9, voidedAt: NOW },
      10,
      { type: 'credit.changed', previous: { used: 10 } },
    ],
  ])('%s', (_, more, before, expected) => {
    const event = creditUsedEvent(credit(more), before, 'ada', NOW)
    expect(event && { type: event.type, previous: event.data.previous }).toEqual(expected)
  })
})
