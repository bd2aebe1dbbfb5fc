import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { CONNECTION_WAIT_MS } from '../../domain/limits.ts'
import type { ServerSlot } from '../connection/places.ts'
import { ServerBusy, ServerSlots } from './server-slots.ts'

/** Why there is no slot; null: there was one. */
function busy(slots: ServerSlots, tx: object, schema: string): ServerBusy | null {
  try {
    slots.take(tx, schema)
    return null
  } catch (error) {
    if (error instanceof ServerBusy) return error
    throw error
  }
}

describe('slots on other servers', () => {
  it('are half of the connections on one server, and two fewer than all of them on all servers', () => {
    const slots = new ServerSlots(8)
    const taken = (schema: string, wanted: number) =>
      Array.from({ length: wanted }, () => busy(slots, {}, schema)).filter((refused) => refused === null)
    expect(taken('c1', 9)).toHaveLength(4)
    expect(taken('c2', 9)).toHaveLength(2)
    expect(taken('c3', 9)).toHaveLength(0)
  })

  it('belong to a transaction, which may be on several servers, until it ends', () => {
    const slots = new ServerSlots(2)
    const [one, other] = [{}, {}]
    expect([busy(slots, one, 'c1'), busy(slots, one, 'c1'), busy(slots, one, 'c2')]).toEqual([
      null,
      null,
      null,
    ])
    expect(busy(slots, other, 'c3')).toBeInstanceOf(ServerBusy)
    slots.release(one)
    expect(busy(slots, other, 'c3')).toBeNull()
  })

  it('count on each server that a transaction is on', () => {
    const slots = new ServerSlots(8)
    const txs = [{}, {}, {}, {}]
    for (const schema of ['c1', 'c2']) for (const tx of txs) expect(busy(slots, tx, schema)).toBeNull()
    for (const schema of ['c1', 'c2']) expect(busy(slots, {}, schema)).toBeInstanceOf(ServerBusy)
    expect(busy(slots, {}, 'c3')).toBeNull()
  })

  it('are taken from the moment in which they are granted', async () => {
    vi.useFakeTimers()
    try {
      const slots = new ServerSlots(4)
      const holders = [{}, {}]
      for (const holder of holders) slots.take(holder, 'c1')
      const granted: ServerSlot[] = []
      for (const schema of ['c1', 'c1', 'c2'])
        void busy(slots, {}, schema)
          ?.waitForSlot()
          .then((admission) => granted.push(admission))
      slots.release(holders[0] as object)
      await vi.advanceTimersByTimeAsync(0)
      expect(granted).toHaveLength(1)
      expect(busy(slots, {}, 'c1')).toBeInstanceOf(ServerBusy)
      const tx = {}
      slots.give(granted[0] as ServerSlot, tx)
      expect(busy(slots, {}, 'c1')).toBeInstanceOf(ServerBusy)
      slots.release(tx)
      slots.release(holders[1] as object)
      await vi.advanceTimersByTimeAsync(0)
      expect(granted).toHaveLength(3)
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })

  it('need not be waited for if one has become free meanwhile', async () => {
    const slots = new ServerSlots(2)
    const holder = {}
    slots.take(holder, 'c1')
    const refused = busy(slots, {}, 'c1')
    slots.release(holder)
    const place = await refused?.waitForSlot()
    expect(busy(slots, {}, 'c1')).toBeInstanceOf(ServerBusy)
    place?.release()
    expect(busy(slots, {}, 'c1')).toBeNull()
  })

  it('are given to those who wait, in their order, as they become free', async () => {
    const slots = new ServerSlots(2)
    const [first, ...others] = [{}, {}, {}]
    slots.take(first as object, 'c1')
    const order: number[] = []
    const waits = others.map(async (tx, i) => {
      const place = (await busy(slots, tx, 'c1')?.waitForSlot()) as ServerSlot
      slots.give(place, tx)
      expect(busy(slots, tx, 'c1')).toBeNull()
      order.push(i)
      slots.release(tx)
    })
    slots.release(first as object)
    await Promise.all(waits)
    expect(order).toEqual([0, 1])
  })

  it('are waited for no longer than for a connection', async () => {
    vi.useFakeTimers()
    try {
      const slots = new ServerSlots(2)
      const holder = {}
      slots.take(holder, 'c1')
      const waiting = expect(busy(slots, {}, 'c1')?.waitForSlot()).rejects.toMatchObject({
        code: 'UNAVAILABLE',
      })
      await vi.advanceTimersByTimeAsync(CONNECTION_WAIT_MS)
      await waiting
      slots.release(holder)
      expect(busy(slots, {}, 'c1')).toBeNull()
    } finally {
      vi.useRealTimers()
    }
  })

  it('are all free again once everybody is gone, whatever happened', async () => {
    const steps = fc.array(
      fc.record({ tx: fc.nat(9), schema: fc.constantFrom('c1', 'c2', 'c3'), ends: fc.boolean() }),
    )
    await fc.assert(
      fc.asyncProperty(steps, fc.integer({ min: 1, max: 10 }), async (all, connections) => {
        const slots = new ServerSlots(connections)
        const txs = Array.from({ length: 10 }, () => ({}))
        const waits: Promise<void>[] = []
        for (const { tx, schema, ends } of all) {
          if (ends) slots.release(txs[tx] as object)
          // Who is given a place gives it up, with or without a transaction.
          else
            waits.push(
              (async () => {
                const place = await busy(slots, txs[tx] as object, schema)?.waitForSlot()
                place?.release()
              })(),
            )
        }
        for (const tx of txs) slots.release(tx)
        await Promise.all(waits)
        for (const tx of txs) slots.release(tx)
        const room = (of: ServerSlots) =>
          Array.from({ length: connections + 1 }, () => busy(of, {}, 'c1')).filter((refused) => !refused)
            .length
        expect(room(slots)).toBe(room(new ServerSlots(connections)))
      }),
    )
  })
})
