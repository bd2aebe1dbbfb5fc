import { describe, expect, it } from 'vitest'
import { addedPlans, changedOverrides, changedUsage, changedValues } from './audit-values.ts'

describe('gap: values in the audit log', () => {
  it('are those of the fields that changed', () => {
    const before = { id: 'ada', name: 'Ada', email: null, billingId: 'cus_1', metadata: {} }
    const after = { ...before, name: 'Ada L.', email: 'ada@example.com', metadata: { a: 1 } }
    expect(changedValues('user', { before, after })).toEqual([
      { label: 'name', from: 'Ada', to: 'Ada L.', isTime: false },
      { label: 'email', from: null, to: 'ada@example.com', isTime: false },
    ])
    expect(changedValues('user', { before: null, after })).toEqual([])
    expect(changedValues('price', { before, after })).toEqual([])
  })

  it('are times in milliseconds', () => {
    const before = { trialEndsAt: '2027-01-01T00:00:00+00:00' }
    const after = { trialEndsAt: '2027-01-02T00:00:00.000Z' }
    expect(changedValues('subscription', { before, after })).toEqual([
      { label: null, from: Date.UTC(2027, 0, 1), to: Date.UTC(2027, 0, 2), isTime: true },
    ])
  })

  const subscription = (id: string, packageId: string, more: object = {}) => ({
    id,
    packageId,
    startedAt: '2027-01-01T00:00:00Z',
    cancelledAt: null,
    quantity: 1,
    follows: null,
    ...more,
  })

  it('are the plan before and after a change at once', () => {
    const starter = subscription('s1', 'starter')
    const addon = subscription('s2', 'extra')
    expect(
      addedPlans({
        before: { subscriptions: [starter, addon] },
        after: {
          subscriptions: [
            { ...starter, cancelledAt: '2027-02-01T00:00:00Z' },
            addon,
            subscription('s3', 'pro', { quantity: 3 }),
          ],
        },
      }),
    ).toEqual({
      from: { packageId: 'starter', quantity: 1 },
      added: [{ packageId: 'pro', quantity: 3 }],
      at: null,
    })
  })

  it('are the plan that follows later, and when', () => {
    const pro = subscription('s1', 'pro')
    const next = subscription('s2', 'starter', { follows: 's1', startedAt: '2027-03-01T00:00:00Z' })
    expect(addedPlans({ before: { subscriptions: [pro] }, after: { subscriptions: [pro, next] } })).toEqual({
      from: { packageId: 'pro', quantity: 1 },
      added: [{ packageId: 'starter', quantity: 1 }],
      at: Date.UTC(2027, 2, 1),
    })
  })

  it('are nothing where an entry shows nothing', () => {
    expect(addedPlans({ before: null, after: null })).toEqual({ from: null, added: [], at: null })
    expect(changedOverrides({ before: null, after: null })).toEqual([])
    expect(changedUsage({ before: null, after: null })).toEqual([])
  })

  it('are the override that was set, or removed', () => {
    const calls = { featureId: 'calls', mode: 'ADD', limit: 5 }
    const seats = { featureId: 'seats', mode: 'DENY', limit: null }
    const more = { ...calls, limit: 6 }
    expect(
      changedOverrides({ before: { overrides: [calls, seats] }, after: { overrides: [more, seats] } }),
    ).toEqual([more])
    expect(
      changedOverrides({ before: { overrides: [calls, seats] }, after: { overrides: [seats] } }),
    ).toEqual([calls])
  })

  it('are the usage that moved', () => {
    const calls = { featureId: 'calls', resetPeriod: 'MONTH', periodStart: 'a', used: 5 }
    const seats = { featureId: 'seats', resetPeriod: 'NEVER', periodStart: 'a', used: 1 }
    expect(
      changedUsage({ before: { usage: [calls] }, after: { usage: [{ ...calls, used: 8 }, seats] } }),
    ).toEqual([
      { featureId: 'calls', from: 5, to: 8 },
      { featureId: 'seats', from: 0, to: 1 },
    ])
    expect(changedUsage({ before: { usage: [calls] }, after: { usage: [calls] } })).toEqual([])
  })
})
