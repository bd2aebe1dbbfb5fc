import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { expireApiKey } from '../../src/store/apps/api-keys.ts'
import { findCheckoutSession, updateCheckoutState } from '../../src/store/billing/checkout-sessions.ts'
import { endLease, holdsLease, isLeased, takeLease } from '../../src/store/billing/provider-leases.ts'
import {
  findProviderSubscription,
  type ProviderSubscriptionRow,
  writeProviderSubscription,
} from '../../src/store/billing/provider-subscriptions.ts'
import type { Tx } from '../../src/store/connection/database.ts'
import { cancelLater, findSubscription } from '../../src/store/subscriptions/subscriptions.ts'
import { claimKey, storeResults } from '../../src/store/usage/idempotency.ts'
import type { CounterMove } from '../../src/store/usage/usage-moves.ts'
import { writeUsage } from '../../src/store/usage/write-usage.ts'
import { shared } from '../harness/shared.ts'
import { basisOf, counterAt, inItsPlace, openStoreInCell } from '../harness/store.ts'
import { furnishApp, UID } from '../schema/furnished-app.ts'

// What somebody writes who is late, comes twice or decided upon something that has changed since.

const store = shared(openStoreInCell)
let tx: Tx
beforeAll(async () => {
  await furnishApp(store.pool)
  tx = await store.pool.connect()
})
afterAll(async () => {
  tx.release()
})
beforeEach(async () => {
  await tx.query('begin')
  return () => tx.query('rollback')
})

describe('gap: billing, what a provider said earlier than what is written', () => {
  const row = async () => {
    const found = await findProviderSubscription(tx, 'ours', 'stripe', 'sub_1')
    if (!found) throw new Error('the subscription is not there')
    return found
  }
  const write = (said: ProviderSubscriptionRow) =>
    writeProviderSubscription(tx, 'ours', 'stripe', 'sub_1', said)

  it('is written once for the version that was read', async () => {
    const before = await row()
    expect(await write({ ...before, status: 'past_due' })).toBe(true)
    expect(await write({ ...before, status: 'active' })).toBe(false)
    expect(await row()).toMatchObject({ status: 'past_due', version: before.version + 1 })
  })

  it('is not written by one who read that there was nothing', async () => {
    const before = await row()
    expect(await write({ ...before, status: 'canceled', version: 0 })).toBe(false)
    expect(await row()).toEqual(before)
  })

  const AT = { appId: 'ours', provider: 'stripe', ref: 'sub_1' }

  it.each([
    'before it is done',
    'after it was done',
  ])('is not written once something is changed at the provider, %s', async (when) => {
    const before = await row()
    expect(await takeLease(tx, AT, 'me', 60_000)).toBe(true)
    if (when === 'after it was done') await endLease(tx, AT, 'me')
    expect(await write({ ...before, status: 'canceled' })).toBe(false)
    expect(await row()).toMatchObject({ status: 'active' })
  })

  it('one at a time changes something at the provider, unless they take too long', async () => {
    expect(await takeLease(tx, AT, 'me', 60_000)).toBe(true)
    expect([await isLeased(tx, AT), await holdsLease(tx, AT, 'me')]).toEqual([true, true])
    expect(await takeLease(tx, AT, 'you', 60_000)).toBe(false)
    expect(await takeLease(tx, { ...AT, appId: 'another' }, 'you', 60_000)).toBeNull()
    await endLease(tx, AT, 'you')
    expect(await holdsLease(tx, AT, 'me')).toBe(true)
    await endLease(tx, AT, 'me')
    expect([await isLeased(tx, AT), await holdsLease(tx, AT, 'me')]).toEqual([false, false])

    expect(await takeLease(tx, AT, 'you', 0)).toBe(true)
    expect([await isLeased(tx, AT), await holdsLease(tx, AT, 'you')]).toEqual([false, false])
    expect(await takeLease(tx, AT, 'me', 60_000)).toBe(true)
    await endLease(tx, AT, 'you')
    expect(await holdsLease(tx, AT, 'me')).toBe(true)
  })
})

describe('gap: billing, the state of a payment link', () => {
  const tell = async (state: 'OPEN' | 'AWAITING' | 'PAID' | 'FAILED' | 'EXPIRED', paidAt: number | null) =>
    (await updateCheckoutState(tx, 'ours', 'stripe', 'session', 'cs_1', state, paidAt))?.state

  it.each([
    [['OPEN', 'AWAITING', 'FAILED'], 'FAILED'],
    [['AWAITING', 'OPEN'], 'AWAITING'],
    [['EXPIRED', 'OPEN', 'AWAITING'], 'EXPIRED'],
    [['FAILED', 'EXPIRED', 'AWAITING'], 'FAILED'],
    [['AWAITING', 'FAILED', 'PAID'], 'PAID'],
    [['PAID', 'OPEN', 'AWAITING', 'EXPIRED', 'FAILED'], 'PAID'],
  ] as const)('told of as %j it is %s', async (told, comesTo) => {
    let state: string | undefined
    for (const next of told) state = await tell(next, null)
    expect(state).toBe(comesTo)
  })

  it('keeps when it was first paid', async () => {
    await tell('PAID', 1_000)
    await tell('PAID', 2_000)
    await tell('PAID', null)
    expect(await findCheckoutSession(tx, 'ours', 'session')).toMatchObject({ paidAt: 1_000 })
  })

  it('has no such time before', async () => {
    await tell('AWAITING', 1_000)
    expect(await findCheckoutSession(tx, 'ours', 'session')).toMatchObject({ paidAt: null })
  })
})

describe('an end that is set already', () => {
  it('gap: subscriptions: is made earlier by a cancellation, never later', async () => {
    const ends = async (at: number) => {
      await cancelLater(inItsPlace(tx), 'ours', ['subscription'], at)
      return (await findSubscription(tx, 'ours', 'subscription', 0))?.cancelAt
    }
    expect(await ends(5_000)).toBe(5_000)
    expect(await ends(9_000)).toBe(5_000)
    expect(await ends(4_000)).toBe(4_000)
  })

  it('gap: API keys: is made earlier by a rotation, never later', async () => {
    const first = await expireApiKey(tx, 'ours', 'key', 2)
    expect(await expireApiKey(tx, 'ours', 'key', 3)).toBe(first)
    expect(await expireApiKey(tx, 'ours', 'key', 1)).toBe((first ?? 0) - 3_600_000)
  })
})

describe('gap: idempotency', () => {
  it('the key of a request and the same key of a usage event have an answer each', async () => {
    const request = Buffer.from('asked')
    const [asRequest, asUsage] = (['request', 'usage'] as const).map((scope) => ({
      appId: 'theirs',
      scope,
      key: 'same',
    })) as [Parameters<typeof claimKey>[1], Parameters<typeof claimKey>[1]]
    await claimKey(tx, asRequest, request)
    await claimKey(tx, asUsage, request)
    await storeResults(tx, asRequest, { field: 'of the request' })
    expect((await claimKey(tx, asUsage, request))?.results).toEqual({})
    await storeResults(tx, asUsage, { field: 'of the event' })
    expect((await claimKey(tx, asRequest, request))?.results).toEqual({ field: 'of the request' })
  })
})

describe('gap: races, a move of a counter that was lost', () => {
  const rowsOf = async (table: string) =>
    (await tx.query<{ count: number }>(`select count(*) from ${table} where app_id = 'ours'`)).rows[0]?.count

  it('leaves neither ledger rows nor receipts, of however many calls it was made', async () => {
    const { rows } = await tx.query<{ place: string }>(
      `select ctid as place from usage_counter where app_id = 'ours'`,
    )
    const place = rows[0]?.place ?? ''
    const lost: CounterMove = {
      key: {
        appId: 'ours',
        userUid: UID,
        featureId: 'calls',
        resetPeriod: 'MONTH',
        periodStart: 0,
      },
      // The counter stands at 5.
      ref: counterAt(place),
      basis: await basisOf(tx, 'ours', UID),
      recalled: false,
      from: 4,
      to: 7,
      entries: [5, 6, 7].map((used) => ({ action: 'ADD', delta: 1, used, recordedAt: 0 })),
      events: [],
      receipts: ['a', 'b'].map((key) => ({
        appId: 'ours',
        scope: 'usage',
        key,
        request: Buffer.alloc(32),
        results: '{}',
        userUid: UID,
      })),
    }
    const before = [await rowsOf('usage_ledger'), await rowsOf('idempotency')]
    expect((await writeUsage(tx, [lost], [])).size).toBe(0)
    expect([await rowsOf('usage_ledger'), await rowsOf('idempotency')]).toEqual(before)

    const won = { ...lost, from: 5 }
    expect([...(await writeUsage(tx, [won], [])).keys()]).toEqual([won])
    expect([await rowsOf('usage_ledger'), await rowsOf('idempotency')]).toEqual(
      before.map((rows = 0, i) => rows + (i === 0 ? 3 : 2)),
    )
  })
})
