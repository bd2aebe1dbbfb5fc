import { describe, expect, it } from 'vitest'
import type { Change } from './row-change.ts'
import { changesEntitlements, eventsOfRows } from './row-events.ts'

const AT = Date.UTC(2026, 0, 10)
const day = (n: number) => new Date(Date.UTC(2026, 0, n)).toISOString()

const change = (more: Partial<Change> & Pick<Change, 'kind' | 'operation'>): Change => ({
  appId: 'app',
  at: AT,
  userUid: 1,
  userId: 'ann',
  before: null,
  after: null,
  ...more,
})

const row = (more: object = {}) => ({
  id: 's1',
  user_uid: 1,
  package_id: 'plan',
  is_addon: false,
  started_at: day(1),
  anchor: day(1),
  trial_ends_at: null,
  cancel_at: null,
  cancelled_at: null,
  quantity: 1,
  follows: null,
  metadata: {},
  ...more,
})
const subscription = (operation: Change['operation'], before: object | null, after: object | null) =>
  change({ kind: 'SUBSCRIPTION', operation, before: before && row(before), after: after && row(after) })

const types = (...changes: Change[]) => eventsOfRows(changes).map(({ type }) => type)

describe('eventsOfRows', () => {
  it.each<[string, Change[], string[]]>([
    ['a subscription', [subscription('INSERT', null, {})], ['subscription.created']],
    [
      'a trial',
      [subscription('INSERT', null, { trial_ends_at: day(20), cancel_at: day(20) })],
      ['subscription.created', 'trial.started'],
    ],
    [
      'a cancellation at a later time',
      [subscription('UPDATE', {}, { cancel_at: day(20) })],
      ['subscription.cancelled'],
    ],
    [
      'a later end',
      [subscription('UPDATE', { cancel_at: day(20) }, { cancel_at: day(25) })],
      ['subscription.changed'],
    ],
    [
      'a withdrawn cancellation',
      [subscription('UPDATE', { cancel_at: day(20) }, {})],
      ['subscription.changed'],
    ],
    [
      'an immediate cancellation',
      [subscription('UPDATE', {}, { cancelled_at: day(10) })],
      ['subscription.cancelled', 'subscription.ended'],
    ],
    [
      'an immediate end of one that was cancelled before',
      [subscription('UPDATE', { cancel_at: day(20) }, { cancel_at: day(20), cancelled_at: day(10) })],
      ['subscription.ended'],
    ],
    [
      'an immediate cancellation of a trial',
      [subscription('UPDATE', { trial_ends_at: day(20) }, { trial_ends_at: day(20), cancelled_at: day(10) })],
      ['subscription.cancelled', 'subscription.ended', 'trial.ended'],
    ],
    [
      'what happened by the clock, written down',
      [
        subscription('UPDATE', { cancel_at: day(9) }, { cancel_at: day(9), cancelled_at: day(9) }),
        subscription(
          'UPDATE',
          { id: 's2', follows: 's1', started_at: day(9) },
          { id: 's2', started_at: day(9) },
        ),
      ],
      [],
    ],
    [
      'another plan',
      [
        subscription('UPDATE', {}, { cancelled_at: day(10) }),
        subscription('INSERT', null, { id: 's2', package_id: 'large' }),
      ],
      ['subscription.ended', 'subscription.created', 'subscription.changed'],
    ],
    [
      'another plan later',
      [
        subscription('UPDATE', {}, { cancel_at: day(20) }),
        subscription('INSERT', null, { id: 's2', follows: 's1', started_at: day(20) }),
      ],
      ['subscription.change_scheduled'],
    ],
    [
      'a planned subscription that is dropped',
      [subscription('DELETE', { follows: 's0', started_at: day(20) }, null)],
      ['subscription.cancelled'],
    ],
    ['only another anchor', [subscription('UPDATE', {}, { anchor: day(5) })], []],
    [
      'a deleted user',
      [subscription('DELETE', {}, null), change({ kind: 'USER', operation: 'DELETE' })],
      ['user.deleted'],
    ],
  ])('%s', (_, changes, expected) => {
    expect(types(...changes)).toEqual(expected)
  })

  it('names what a plan was before', () => {
    const [, , changed] = eventsOfRows([
      subscription('UPDATE', {}, { cancelled_at: day(10) }),
      subscription('INSERT', null, { id: 's2', package_id: 'large', quantity: 3 }),
    ])
    expect(changed?.data).toMatchObject({
      object: { id: 's2', packageId: 'large', quantity: 3 },
      previous: { id: 's1', packageId: 'plan', quantity: 1 },
    })
  })

  it('reports a package once, though its name and its version are written separately', () => {
    const state = (more: object) => ({
      id: 'plan',
      name: 'Plan',
      status: 'PUBLISHED',
      version: 1,
      archivedAt: null,
      ...more,
    })
    const of = (before: object, after: object) =>
      change({
        kind: 'PACKAGE',
        operation: 'UPDATE',
        userUid: null,
        before: state(before),
        after: state(after),
      })
    expect(types(of({}, { name: 'Other' }), of({ name: 'Other' }, { name: 'Other', version: 2 }))).toEqual([
      'package.published',
    ])
    expect(types(of({ status: 'DRAFT' }, { status: 'DRAFT', name: 'Other' }))).toEqual([])
    expect(types(of({}, { archivedAt: day(1) }))).toEqual(['package.archived'])
    expect(types(of({ archivedAt: day(1) }, {}))).toEqual([])
  })

  it.each<[string, object | null, object, string[]]>([
    ['a new one', null, {}, ['credit.added']],
    ['a refund of a part', { used: 2 }, { used: 2, amount: 5 }, ['credit.changed']],
    ['a refund of all that was left', { used: 2 }, { used: 2, amount: 2 }, ['credit.changed']],
    ['a refund before it was used', {}, { amount: 0 }, ['credit.voided']],
    ['the end of a dispute', { amount: 0 }, { amount: 10 }, ['credit.changed']],
    ['one that is voided', {}, { voided_at: day(10) }, ['credit.voided']],
    ['one that nobody can use any more', { used: 3 }, { used: 3, ended: true }, []],
  ])('reports of a credit: %s', (_, before, after, expected) => {
    const credit = (more: object) => ({
      id: 'c1',
      feature_id: 'call',
      amount: 10,
      used: 0,
      kind: 'PAID',
      priority: 50,
      effective_at: day(1),
      expires_at: null,
      voided_at: null,
      reason: null,
      ...more,
    })
    const operation = before ? 'UPDATE' : 'INSERT'
    const changed = change({
      kind: 'CREDIT',
      operation,
      before: before && credit(before),
      after: credit(after),
    })
    expect(types(changed)).toEqual(expected)
  })

  it('reports refunds and disputes by what is new', () => {
    const payment = (more: object) => ({
      ref: 'in_1',
      amount: 900,
      currency: 'usd',
      paidAt: AT,
      period: null,
      refunded: 0,
      refundedAt: null,
      dispute: null,
      ...more,
    })
    const of = (before: object[], after: object[]) =>
      change({
        kind: 'REVERSALS',
        operation: 'UPDATE',
        before: before as never,
        after: { provider: 'stripe', ref: 'sub_1', payments: after } as never,
      })
    expect(types(of([], [payment({ refunded: 400 })]))).toEqual(['payment.refunded'])
    expect(types(of([payment({ refunded: 400 })], [payment({ refunded: 400 })]))).toEqual([])
    const [refunded] = eventsOfRows([of([payment({ refunded: 400 })], [payment({ refunded: 900 })])])
    expect(refunded?.data).toMatchObject({
      object: { id: 'in_1', refunded: 900 },
      previous: { refunded: 400 },
    })
    const dispute = (state: string) => ({ dispute: { state, reason: null, openedAt: AT } })
    expect(types(of([], [payment(dispute('OPEN'))]))).toEqual(['payment.disputed'])
    expect(types(of([payment(dispute('OPEN'))], [payment(dispute('WON'))]))).toEqual(['payment.disputed'])
  })

  it('reports a payment when it succeeds and when it fails', () => {
    const of = (before: string | null, after: string) =>
      change({
        kind: 'PAYMENT',
        operation: before ? 'UPDATE' : 'INSERT',
        before: before ? { ref: 'in_1', state: before } : null,
        after: { ref: 'in_1', state: after, at: day(3) },
      })
    expect(types(of(null, 'PAID'))).toEqual(['payment.succeeded'])
    expect(types(of(null, 'FAILED'), of('FAILED', 'PAID'))).toEqual(['payment.failed', 'payment.succeeded'])
  })
})

describe('changesEntitlements', () => {
  it('is true of subscriptions and overrides, and of nothing else about a user', () => {
    const user = (before: object, after: object) =>
      change({ kind: 'USER', operation: 'UPDATE', before: before as never, after: after as never })
    expect(changesEntitlements(subscription('INSERT', null, {}))).toBe(true)
    expect(changesEntitlements(user({ overrides: null }, { overrides: [{ featureId: 'a' }] }))).toBe(true)
    expect(changesEntitlements(user({ name: 'a', overrides: null }, { name: 'b', overrides: null }))).toBe(
      false,
    )
  })
})
