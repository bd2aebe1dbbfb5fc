import { describe, expect, it } from 'vitest'
import { type Audited, type Charge, subscriptionHistory } from './subscription-history.ts'

const life = {
  id: 'sub_pro',
  packageId: 'pro',
  quantity: 1,
  isAddon: false,
  startedAt: 1_000,
  endedAt: null as number | null,
  cancelAt: null as number | null,
  trialEndsAt: null as number | null,
  next: null,
}
const state = { cancelAt: null, cancelledAt: null, trialEndsAt: null, quantity: 1 }
const entry = (at: number, change: Partial<Audited>): Audited => ({
  at,
  own: false,
  before: state,
  after: state,
  ...change,
})
const charge: Charge = {
  ref: 'in_1',
  provider: 'sandbox',
  state: 'PAID',
  amount: 4_900,
  currency: 'usd',
  at: 1_000,
  refunded: 0,
  refundedAt: null,
  dispute: null,
}
const told = (given: Partial<Parameters<typeof subscriptionHistory>[0]>) =>
  subscriptionHistory({ subscription: life, others: [], charges: [], audited: [], now: 5_000, ...given })

describe('gap: subscription history', () => {
  it('starts from nothing, from a trial and from another plan, with the actor of the audit entry', () => {
    const audited = [entry(1_001, { before: null })]
    expect(told({ audited })).toEqual([{ kind: 'STARTED', what: 'plan', at: 1_000, actor: 0 }])
    expect(told({ subscription: { ...life, trialEndsAt: 9_000 } })).toMatchObject([
      { kind: 'SCHEDULED', what: 'trial end', at: 9_000 },
      { kind: 'STARTED', what: 'trial' },
    ])
    const starter = { ...life, id: 'sub_starter', packageId: 'starter', startedAt: 10, endedAt: 1_000 }
    expect(told({ others: [starter] })).toMatchObject([
      { kind: 'STARTED', what: 'change', from: { packageId: 'starter' } },
    ])
    expect(told({ subscription: starter, others: [life] })).toMatchObject([
      { kind: 'CHANGED', to: { packageId: 'pro' }, at: 1_000 },
      { kind: 'STARTED', what: 'plan' },
    ])
  })

  it('shows a scheduled end, its reversal and the end itself, each with who did it', () => {
    const cancelAt = new Date(9_000).toISOString()
    const cancelledAt = new Date(4_000).toISOString()
    const scheduled = entry(2_000, { own: true, after: { ...state, cancelAt } })
    const reverted = entry(3_000, { own: true, before: { ...state, cancelAt } })
    const ended = entry(4_001, { own: true, after: { ...state, cancelledAt } })
    const audited = [ended, reverted, scheduled]
    expect(told({ subscription: { ...life, endedAt: 4_000 }, audited })).toEqual([
      { kind: 'CANCELLED', at: 4_000, actor: 0 },
      { kind: 'REVERTED', at: 3_000, actor: 1 },
      { kind: 'SCHEDULED', what: 'end', due: false, on: 9_000, at: 2_000, actor: 2 },
      { kind: 'STARTED', what: 'plan', at: 1_000, actor: null },
    ])
  })

  it('has payments, refunds and disputes at their times', () => {
    const refunded = {
      ...charge,
      refunded: 100,
      refundedAt: 3_000,
      dispute: { state: 'OPEN', openedAt: 4_000 },
    }
    expect(told({ charges: [refunded] }).map(({ kind, at }) => [kind, at])).toEqual([
      ['DISPUTED', 4_000],
      ['REFUNDED', 3_000],
      ['STARTED', 1_000],
      ['PAID', 1_000],
    ])
  })

  it('leaves out entries that changed nothing here, except those about this subscription alone', () => {
    const audited = [entry(3_000, {}), entry(2_000, { own: true })]
    expect(told({ audited }).map(({ kind }) => kind)).toEqual(['OTHER', 'STARTED'])
  })
})
